"""A plugin of pytest: what the tests of SciPy and scikit-learn call, we are asked too.

Their tests run as they are. Each call of a function that has a counterpart here is noted: whether
it can be expressed, and whether both numbers agree.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rankeval_pd

Ours = Callable[[dict[str, Any]], Any]
try:
    from scipy._lib._array_api import xp_capabilities_table as SCIPY_TABLE
except ImportError:
    SCIPY_TABLE = {}
COUNTS: Counter[tuple[str, str, str]] = Counter()


class NotOurs(Exception):
    """A call that has no counterpart here."""


def ask(peer: str, name: str, ours: Ours, given: dict[str, Any], theirs: Any) -> None:
    """Ask us too, and note the outcome."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = ours({**given, "result": theirs})
    except NotOurs:
        return
    except Exception as error:  # what is refused differs, and is looked at
        COUNTS[peer, name, f"refused: {type(error).__name__}: {str(error)[:90]}"] += 1
        return
    reason = "differs"
    if isinstance(found, tuple) and len(found) == 3:
        *found, reason = found
    wanted, found = (np.asarray(x, dtype=float) for x in (found[0], found[1]))
    same = wanted.shape == found.shape
    same = same and np.allclose(found, wanted, rtol=1e-9, atol=1e-12, equal_nan=True)
    COUNTS[peer, name, "agree" if same else reason] += 1


def spy(owner: Any, name: str, peer: str, ours: Ours) -> None:
    """Put a spy in the place of a function, or of a method of a distribution."""
    shown, (*inside, name) = name, name.split(".")
    for part in inside:
        owner = getattr(owner, part)
    original = getattr(owner, name)
    signature = inspect.signature(original)

    @functools.wraps(original)
    def spied(*args: Any, **keywords: Any) -> Any:
        result = original(*args, **keywords)
        try:
            bound = signature.bind(*args, **keywords)
        except TypeError:  # old names of arguments, which a decorator takes
            return result
        bound.apply_defaults()
        ask(peer, shown, ours, dict(bound.arguments), result)
        return result

    setattr(owner, name, spied)
    if original in SCIPY_TABLE:  # SciPy's tests look functions up there
        SCIPY_TABLE[spied] = SCIPY_TABLE[original]


# ------------------------------------------------------------------------------------ scikit-learn


def ranking(given: dict[str, Any], score: str = "y_score") -> pd.DataFrame:
    """Return candidates of two classes."""
    y, s = (np.asarray(given[name]) for name in ("y_true", score))
    if given.get("sample_weight") is not None or y.ndim != 1 or s.ndim != 1 or s.dtype.kind == "O":
        raise NotOurs
    positive = given.get("pos_label")
    values = np.unique(y)
    positive = values[-1] if positive is None else positive
    if len(values) != 2 or positive not in values:
        raise NotOurs
    return pd.DataFrame({"s": s.astype(float), "gold": y == positive})


def of_roc_auc(given: dict[str, Any]) -> Any:
    data = ranking(given)
    most = given["max_fpr"]
    if most is None or most == 1:
        return given["result"], data.rankeval.area()["area"][0]
    return given["result"], data.rankeval.partial_area(fpr=float(most))["area"][0]


def of_average_precision(given: dict[str, Any]) -> Any:
    data = ranking(given)
    return given["result"], data.rankeval.area("ap")["area"][0]


def of_curve(method: str, columns: tuple[str, str]) -> Ours:
    """Return the points of a curve, at the thresholds that the peer has."""

    def ours(given: dict[str, Any]) -> Any:
        data = ranking(given, "probas_pred" if "probas_pred" in given else "y_score")
        *points, thresholds = given["result"]
        found = getattr(data.rankeval, method)(ties="expected")
        found = found.drop_duplicates("threshold", keep="last").set_index("threshold")
        at = thresholds
        wanted = np.stack([x[: len(at)] for x in points])
        lacking = ~pd.Index(at).isin(found.index)  # DET ends beyond the largest score
        known = found.reindex(at)[list(columns)].to_numpy(dtype=float).T
        return wanted[:, ~lacking], known[:, ~lacking]

    return ours


def of_ndcg(given: dict[str, Any]) -> Any:
    grades, scores = (np.asarray(given[name]) for name in ("y_true", "y_score"))
    if grades.ndim != 2 or given["sample_weight"] is not None or (grades < 0).any():
        raise NotOurs
    rows, docs = grades.shape
    data = pd.DataFrame({
        "query": np.repeat(np.arange(rows), docs), "document": np.tile(np.arange(docs), rows),
        "s": scores.ravel().astype(float), "gold": grades.ravel().astype(float),
    })  # fmt: skip
    tied = any(len(np.unique(row)) < docs for row in scores)
    if tied and given["ignore_ties"]:
        raise NotOurs
    name = "nDCG" if given["k"] is None else f"nDCG@{given['k']}"
    roles = {"by": "query", "measures": "s"}
    found = data.rankeval.per_query(
        [name], ties="expected" if tied else "trec", min_grade=1e-300, **roles
    )
    return given["result"], found["value"].mean()


def of_predictions(metric: str) -> Ours:
    def ours(given: dict[str, Any]) -> Any:
        y, guess = (np.asarray(given[name]) for name in ("y_true", "y_pred"))
        plain = given["sample_weight"] is None and given.get("average", "binary") == "binary"
        if y.ndim != 1 or guess.ndim != 1 or not plain or not given.get("normalize", True):
            raise NotOurs
        if len(y) < 2 or y.dtype.kind not in "biu" or guess.dtype.kind not in "biu":
            raise NotOurs
        if metric != "accuracy" and given["pos_label"] not in {*y.tolist(), *guess.tolist()}:
            return given["result"], np.inf, "an unknown positive label raises an error here"
        options = {} if metric == "accuracy" else {"positive": given["pos_label"]}
        items = rankeval_pd.from_predictions(y, {"peer": guess, "other": y}, metric, **options)
        found = items.rankeval(metric=metric).system_ranks(n_resamples=50).set_index("system")
        value = found["value"]["peer"]
        if np.isnan(value):
            return given["result"], value, "NaN without guesses, 0 there"
        return given["result"], value

    return ours


# ------------------------------------------------------------------------------------------- SciPy


def table_of(given: dict[str, Any], name: str) -> list[float]:
    cells = np.asarray(given[name])
    if cells.shape != (2, 2) or cells.dtype.kind not in "iuf" or cells.sum() == 0:
        raise NotOurs
    if not np.isfinite(cells).all() or (cells < 0).any() or (cells != np.floor(cells)).any():
        raise NotOurs
    return [float(x) for x in cells.ravel()]


def measured(cells: list[float], name: str) -> float:
    data = pd.DataFrame([cells], columns=["O11", "O12", "O21", "O22"])
    return float(data.rankeval.with_association_measures(name)[name].iloc[0])


def of_fisher(given: dict[str, Any]) -> Any:
    a, b, c, d = table_of(given, "table")
    p, side = given["result"][1], given["alternative"]
    if side == "greater":
        return p, 10.0 ** -measured([a, b, c, d], "neglog10_fisher")
    if side == "less":
        return p, 10.0 ** -measured([b, a, d, c], "neglog10_fisher")
    if a + b != c + d or a + b == 0:
        raise NotOurs
    found = rankeval_pd.compare_for(int(a), int(a + b), int(c), int(c + d), overlap=0)
    return p, found["p_high"][0]


def of_chi2(given: dict[str, Any]) -> Any:
    cells = table_of(given, "observed")
    kind, corrected = given["lambda_"], given["correction"]
    if kind is None or kind == "pearson":
        return given["result"][0], abs(measured(cells, "X2_yates" if corrected else "X2"))
    if kind == "log-likelihood" and not corrected:
        return given["result"][0], abs(measured(cells, "G2"))
    raise NotOurs


def of_odds_ratio(given: dict[str, Any]) -> Any:
    if given["kind"] != "sample":
        raise NotOurs
    cells = table_of(given, "table")
    return given["result"].statistic, np.exp(measured(cells, "log_odds_ratio"))


def of_relative_risk(given: dict[str, Any]) -> Any:
    a, n, c, m = (given[f"{x}_{y}"] for x in ("exposed", "control") for y in ("cases", "total"))
    cells = [float(a), float(c), float(n - a), float(m - c)]  # exposure is the second word
    return given["result"].relative_risk, np.exp(measured(cells, "log_relative_risk"))


def of_proportion(given: dict[str, Any]) -> Any:
    here, kinds = given["self"], {"exact": "clopper-pearson", "wilson": "wilson"}
    if here.alternative != "two-sided" or given["method"] not in kinds:
        raise NotOurs
    level = given["confidence_level"]
    if not 0 < level < 1:
        raise NotOurs
    low, high = rankeval_pd.precision_interval(
        here.k, here.n, ci=kinds[given["method"]], level=level
    )
    return [given["result"].low, given["result"].high], [low, high]


def of_binomtest(given: dict[str, Any]) -> Any:
    if given["alternative"] != "greater" or given["n"] == 0:
        raise NotOurs
    found = rankeval_pd.random_pvalue(
        given["k"], given["n"], population="infinite", prior=given["p"]
    )
    return given["result"].pvalue, found


def of_hypergeom(given: dict[str, Any]) -> Any:
    k, rest = given["k"], given["args"]
    if given["kwds"] or len(rest) != 3 or any(np.ndim(x) or x != int(x) for x in (k, *rest)):
        raise NotOurs
    total, positive, n = (int(x) for x in rest)
    if not 0 <= k + 1 <= min(n, positive) or n > total or positive > total or n < 1:
        raise NotOurs
    found = rankeval_pd.random_pvalue(int(k) + 1, n, n_candidates=total, n_positive=positive)
    return given["result"], found


def paired(given: dict[str, Any], first: str, second: str) -> pd.DataFrame:
    a, b = given[first], given[second]
    if not isinstance(a, np.ndarray | list | tuple) or a is None:
        raise NotOurs
    a = np.asarray(a, dtype=float)
    b = np.zeros_like(a) if b is None else np.asarray(b, dtype=float)
    axis = given.get("axis", 0)
    if a.ndim != 1 or a.shape != b.shape or axis not in (0, None) or len(a) < 3:
        raise NotOurs
    if not np.isfinite(a).all() or not np.isfinite(b).all():
        raise NotOurs
    return pd.DataFrame({"a": a, "b": b})


def of_wilcoxon(given: dict[str, Any]) -> Any:
    data = paired(given, "x", "y")
    if given["zero_method"] != "wilcox" or given["method"] not in ("exact", "auto"):
        raise NotOurs
    gap = (data["a"] - data["b"]).round(14)
    gap = gap[gap != 0]
    if not len(gap) or given["correction"]:
        raise NotOurs
    found = data.rankeval.paired_permutation(
        "a", "b", test="wilcoxon", alternative=given["alternative"]
    )
    tied = gap.abs().nunique() < len(gap)
    reason = (
        "exact with ties and zeros, where SciPy uses a normal approximation or ignores ties"
        if tied or len(gap) < len(data) or len(gap) > 50
        else "differs"
    )
    return given["result"].pvalue, found["p_value"][0], reason


def of_ttest(given: dict[str, Any]) -> Any:
    data = paired(given, "a", "b")
    if (data["a"] - data["b"]).nunique() < 2:
        raise NotOurs
    found = data.rankeval.paired_permutation("a", "b", test="t", alternative=given["alternative"])
    return given["result"].pvalue, found["p_value"][0]


def of_discoveries(given: dict[str, Any]) -> Any:
    from rankeval_pd.stats.families import adjust

    p = given["ps"]
    if not isinstance(p, np.ndarray | list) or np.ndim(p) != 1 or not np.size(p):
        raise NotOurs
    return given["result"], adjust(np.asarray(p, dtype=float), given["method"])


def pytest_configure() -> None:
    """Put the spies in place before the tests are imported."""
    from scipy import stats

    for name, ours in {
        "fisher_exact": of_fisher, "binomtest": of_binomtest, "hypergeom.sf": of_hypergeom,
        "wilcoxon": of_wilcoxon, "ttest_rel": of_ttest, "false_discovery_control": of_discoveries,
    }.items():  # fmt: skip
        spy(stats, name, "SciPy", ours)
    spy(type(stats.binomtest(1, 2)), "proportion_ci", "SciPy", of_proportion)
    spy(stats.contingency, "chi2_contingency", "SciPy", of_chi2)
    spy(stats.contingency, "odds_ratio", "SciPy", of_odds_ratio)
    spy(stats.contingency, "relative_risk", "SciPy", of_relative_risk)
    try:
        import sklearn.metrics as metrics
    except ImportError:
        return
    for name, ours in {
        "roc_auc_score": of_roc_auc, "average_precision_score": of_average_precision,
        "roc_curve": of_curve("roc", ("fpr", "tpr")),
        "precision_recall_curve": of_curve("precision_recall", ("precision", "recall")),
        "det_curve": of_curve("det", ("fpr", "fnr")), "ndcg_score": of_ndcg,
        "accuracy_score": of_predictions("accuracy"), "f1_score": of_predictions("f1"),
    }.items():  # fmt: skip
        spy(metrics, name, "scikit-learn", ours)


def pytest_sessionfinish() -> None:
    """Write what was counted."""
    rows = [[*key, count] for key, count in sorted(COUNTS.items())]
    Path(os.environ["RANKEVAL_PD_PEERS"]).write_text(json.dumps(rows), "utf-8")
