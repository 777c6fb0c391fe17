"""Short lists of many candidates: a partition finds what a sort would, to the last bit."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from rankeval_pd.dask import HEAD_METHODS
from rankeval_pd.doors import candidates

N = 4_000
SIZES = [1, 7, 20]
ASKED = {
    "nbest_precision": lambda r: r.nbest_precision(SIZES),
    "of a threshold": lambda r: r.nbest_precision(SIZES, target="nbest", adjust="max-t"),
    "nbest_recall": lambda r: r.nbest_recall(SIZES),
    "compare": lambda r: r.compare(n=SIZES),
    "compare by swaps": lambda r: r.compare("a", "b", SIZES, adjust="max-t", n_resamples=500),
    "compare the n-best": lambda r: r.compare("a", n=SIZES, target="nbest", adjust="holm"),
    "summary": lambda r: r.summary(20),
    "measure_ranks": lambda r: r.measure_ranks(20),
    "random_test": lambda r: r.random_test(SIZES),
    "random_test of ties": lambda r: r.random_test(SIZES, ties="expected"),
    "tie_sensitivity": lambda r: r.tie_sensitivity("a", "b", SIZES, n_keys=3),
    "precision_band": lambda r: r.precision_band(SIZES),
    "difference_band": lambda r: r.difference_band("a", "b", SIZES),
    "band of the recall": lambda r: r.precision_band(SIZES, of="recall"),
    "significant_ranges": lambda r: r.significant_ranges("a", "b", range(1, 21)),
    "crossovers": lambda r: r.crossovers(0.05, range(1, 21)),
    "expected ties": lambda r: r.compare("a", "b", SIZES, ties="expected"),
    "one": lambda r: r.nbest_precision([1], details=True),
}


def frame(kind: str) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    gold = rng.random(N) < 0.2
    score = gold[:, np.newaxis] * [1.0, 0.8, 0.3] + rng.normal(size=(N, 3))
    df = pd.DataFrame(score, columns=list("abc"), index=[f"w{k}" for k in rng.permutation(N)])
    if kind == "ties":
        df = df.round(0).assign(a=(df.a > 0).astype(float))
    if kind == "blocks":
        df = df.round(1)
    if kind == "missing":
        df["b"] = df["b"].where(rng.random(N) < 0.9)
    return df.assign(gold=gold, key=rng.permutation(N), part=rng.integers(0, 40, N))


def told(ask, df, roles):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            found = ask(df.rankeval(gold="gold", measures=["a", "b", "c"], **roles))
        except Exception as error:
            return type(error), str(error)
    return found, sorted(str(x.message) for x in seen)


@pytest.mark.parametrize("kind", ["missing", "ties", "blocks", "scores"])
@pytest.mark.parametrize(
    "roles",
    [{"groups": "part"}, {}, {"lower_is_better": "c"}, {"missing": "last"}, {"key": "key"}],
    ids=lambda x: next(iter(x), "plain"),
)
def test_the_best_alone_answer_as_all_do(kind, roles, monkeypatch):
    df, heads = frame(kind), []
    if kind == "missing" and "missing" not in roles:
        roles = {**roles, "missing": "last"}
    head = candidates.Groups.head
    monkeypatch.setattr(candidates, "_LARGE", 100)
    monkeypatch.setattr(candidates.Groups, "head", lambda x, n: heads.append(y := head(x, n)) or y)
    short = {name: told(ask, df.copy(), roles) for name, ask in ASKED.items()}
    monkeypatch.setattr(candidates, "_LARGE", np.inf)
    for name, ask in ASKED.items():
        found, said = told(ask, df.copy(), roles)
        if isinstance(found, pd.DataFrame):
            pd.testing.assert_frame_equal(short[name][0], found, check_exact=True)
            assert short[name][0].attrs == found.attrs, name
        else:
            assert short[name][0] == found, name
        assert short[name][1] == said, name
    few = [x for x in heads if x.whole is not None]
    assert bool(few) == (kind in ("scores", "blocks") and "groups" not in roles)


def test_every_method_of_lists_that_takes_a_head_is_asked():
    counted = {"acceptance_precision"}  # and of these no score is looked at:
    counted |= {"random_bound", "random_band", "random_cdf", "isolines"}
    assert {*HEAD_METHODS} - counted <= {*ASKED}
