"""What cannot be answered is refused with a text that helps; what is merely extreme is answered."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd

UNSCORED = ["random_bound", "random_envelope", "random_cdf", "random_band", "isolines"]
N_METHODS = ["nbest_precision", "compare", "significant_ranges", "random_test", *UNSCORED]
CURVES = ["roc", "lift", "area", "compare_area", "crossovers"]
ANY_TIES = ["nbest_precision", "random_test", *UNSCORED, *CURVES[:4]]
RANKING = [*N_METHODS, *CURVES, "acceptance_precision", "difference_region"]


@pytest.fixture
def df() -> pd.DataFrame:
    """Six candidates, two measures."""
    return pd.DataFrame(
        {
            "G2": [6.0, 5, 4, 3, 2, 1],
            "t.score": [1.0, 2, 3, 4, 5, 6],
            "gold": [True, True, False, True, False, False],
        }
    )


def ask(data, method, **keywords):
    if method == "acceptance_precision":
        keywords = {"threshold": {"G2": 2}, **keywords}
    if method == "difference_region":
        keywords = {"a": "G2", "b": "t.score", "n": 2, **keywords}
    if method in ("random_cdf", "isolines"):
        keywords = {"n": 2, **keywords}
    return getattr(rankeval_pd, method)(data, **keywords)


# -------------------------------------------------------------------------------------------- gold


@pytest.mark.parametrize("method", RANKING)
def test_a_frame_without_gold(df, method):
    with pytest.raises(ValueError, match=r"gold is not given.*'G2', 't.score'.*paired_bootstrap"):
        ask(df.drop(columns="gold"), method)


@pytest.mark.parametrize(
    "name", ["is_term", "y_true", "label", "relevant", "is_relevant", "correct"]
)
def test_a_column_that_looks_like_the_gold_label_is_named(df, name):
    number = df.rename(columns={"gold": name}).assign(seen=[0, 1, 1, 1, 0, 0])
    number[name] = number[name].astype(int)
    for method in ("nbest_precision", "compare", "area", "summary"):
        with pytest.raises(ValueError, match=rf"gold label: pass gold='{name}'\.|: gold='{name}'"):
            ask(number, method, n=2) if method == "summary" else ask(number, method)
    word = number.assign(**{name: number[name].map({1: "yes", 0: "no"})}).drop(columns="seen")
    with pytest.raises(ValueError, match=rf"pass gold='{name}', positive='yes'"):
        word.rankeval.nbest_precision(2)


def test_an_unknown_column_of_many_is_answered_by_the_nearest_name_alone(df):
    many = df.assign(**{f"x{k}": 1.0 for k in range(20)})
    with pytest.raises(KeyError) as error:
        many.rankeval.nbest_precision(2, measures="g2")
    assert str(error.value) == "measures: no column 'g2'. Did you mean 'G2'?"
    with pytest.raises(KeyError, match=r"'zzz'\. The known names are 'G2', .*\(23 in all\)\.$"):
        many.rankeval.nbest_precision(2, measures="zzz")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda df: df.rankeval("gold"), "'gold' must be passed by keyword"),
        (lambda df: df.rankeval.plot(), r"plot cannot be called. .*\.plot\.\w+\(\)"),
        (
            lambda df: rankeval_pd.compare_area(df["gold"].to_numpy(), df["G2"], df["t.score"]),
            r"type ndarray.*from_scores\(y_true, scores\)",
        ),
        (
            lambda df: rankeval_pd.from_scores(np.linspace(0.1, 0.9, 20), [0, 1] * 10),
            "look like scores: pass y_true first",
        ),
        (
            lambda df: df.rename(columns={"G2": "f"}).rankeval.with_association_measures("MI"),
            r"cells: no column 'O11'.*pass margins=\('f', 'f1', 'f2', 'N'\)",
        ),
    ],
)
def test_first_calls_lead_to_the_right_one(df, call, message):
    with pytest.raises((TypeError, ValueError, KeyError), match=message) as error:
        call(df)
    assert len(str(error.value)) <= 250


@pytest.mark.parametrize("form", ["frame", "dataset"])
def test_several_possible_gold_columns(df, form):
    data = df.rename(columns={"gold": "x"}).assign(y=True)
    data = data if form == "frame" else xr.Dataset.from_dataframe(data.rename_axis("candidate"))
    with pytest.raises(
        ValueError, match=r"gold is missing and could be any of 'x', 'y'.*gold=\.\.\."
    ):
        data.rankeval.nbest_precision()


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        (
            [0, 1, 2, 0, 1, 2],
            r"gold='gold' contains 0 \(2\), 1 \(2\), 2 \(2\), but a gold label",
        ),
        ([0.5, 0, 1, 0, 0, 0], r"contains 0.0 \(4\), 0.5 \(1\), 1.0 \(1\)"),
        ([-1, 1, -1, 1, 1, 1], r"contains -1 \(2\), 1 \(4\)"),
        (list("ynynyn"), r"contains 'n' \(3\), 'y' \(3\).*positive=\.\.\."),
        (pd.Categorical(list("ynynyn")), r"contains 'n' \(3\), 'y' \(3\)"),
        ([True, False, "yes", True, True, True], r"contains True \(4\), False \(1\), 'yes' \(1\)"),
        (pd.date_range("2020", periods=6), r"gold='gold' contains Timestamp"),
        ([1j] * 6, r"contains (1j|complex numbers)"),
        ([True, None, True, True, np.nan, True], r"is missing for 2 of 6.*unjudged='negative'"),
        ([1, 0, np.nan, 0, 1, 1], r"is missing for 1 of 6"),
        (pd.array([True, pd.NA] * 3, dtype="boolean"), r"is missing for 3 of 6"),
        (pd.array([True, pd.NA] * 3, dtype="bool[pyarrow]"), r"is missing for 3 of 6"),
    ],
)
@pytest.mark.parametrize("form", ["frame", "dataset"])
def test_gold_that_is_no_gold(df, gold, message, form):
    data = df.assign(gold=gold)
    data = data if form == "frame" else xr.Dataset.from_dataframe(data.rename_axis("candidate"))
    with pytest.raises(ValueError, match=message):
        data.rankeval.nbest_precision(gold="gold", measures="G2")


# ---------------------------------------------------------------------------------------- measures


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"measures": "t.scor"}, "measures: no column 't.scor'. Did you mean 't.score'?"),
        ({"gold": "golds"}, "gold: no column 'golds'. Did you mean 'gold'?"),
        ({"by": "query"}, "by: no column 'query'. The known names are 'G2', 't.score', 'gold'."),
        ({"key": "id"}, "key: no column 'id'. The known names are"),
        ({"lower_is_better": ["G3"]}, "lower_is_better: no column 'G3'. Did you mean 'G2'?"),
    ],
)
def test_unknown_names(df, keywords, message):
    with pytest.raises(KeyError, match=message) as caught:
        df.rankeval.nbest_precision(**keywords)
    assert str(caught.value).startswith(message.split(";")[0])  # plain text, no quotes around it


@pytest.mark.parametrize("names", [("G", "t.score"), ("G2", "t"), ("X2",)])
def test_unknown_measures_of_a_comparison(df, names):
    with pytest.raises(KeyError, match="no column '"):
        df.rankeval.compare(*names)


def test_a_comparison_needs_two(df):
    with pytest.raises(ValueError, match=r"there is only one measure, 'G2', but a comparison"):
        df.rankeval(measures="G2").compare()
    with pytest.raises(ValueError, match=r"b='G2' without a"):
        df.rankeval.compare(b="G2")


def test_no_measure(df):
    with pytest.raises(ValueError, match=r"measures: every numeric column has another role"):
        df[["gold"]].rankeval.nbest_precision()
    with pytest.raises(ValueError, match=r"Call \.rankeval\.with_association_measures\(\)"):
        rankeval_pd.datasets.load_terms().rankeval.nbest_precision()
    assert len(df[["gold"]].rankeval.random_bound()) == 6


def test_scores_of_the_wrong_type(df):
    for values in (list("abcdef"), pd.Categorical([1, 2, 3, 1, 2, 3]), [1j] * 6):
        with pytest.raises(TypeError, match=r"measures: 'x' has dtype .*scores must be numbers"):
            df.assign(x=values).rankeval.nbest_precision(measures="x")


@pytest.mark.parametrize("method", [m for m in RANKING if m not in UNSCORED])
def test_missing_scores(df, method):
    holed = df.assign(**{"t.score": [1.0, np.nan, 3, np.nan, 5, 6]})
    with pytest.raises(
        ValueError,
        match=r"6 candidates have no score in 't.score' \(2\).*missing='absent'.*'last'.*'drop'",
    ):
        ask(holed, method)
    with pytest.raises(ValueError, match=r"no score in 'G2' \(all\), 't.score' \(2\)"):
        ask(holed.assign(G2=np.nan), method)
    assert len(ask(holed, "nbest_precision", measures="G2")) == 6


@pytest.mark.filterwarnings("ignore:missing=.drop. evaluates:rankeval_pd.RankevalWarning")
def test_a_measure_without_any_score(df):
    holed = df.assign(G2=np.nan)
    found = holed.rankeval.nbest_precision(missing="drop")
    assert set(found["measure"]) == {"t.score"}
    with pytest.raises(ValueError, match=r"n=1 exceeds the number of candidates, 0"):
        holed.rankeval.nbest_precision(1, missing="drop", measures="G2")
    last = holed.rankeval.nbest_precision(2, missing="last", measures="G2").loc[0]
    assert (np.isnan(last["threshold"]), last["tied"]) == (True, 4)


# ----------------------------------------------------------------------------------------------- n


@pytest.mark.parametrize("method", N_METHODS)
@pytest.mark.parametrize(
    ("n", "error", "message"),
    [
        (0, ValueError, r"n=0: a list has at least one candidate"),
        (-3, ValueError, r"n=-3: a list has at least one"),
        ([2, -3], ValueError, r"n=-3: a list has at least one"),
        (range(0, 4), ValueError, r"n=0: a list has at least one"),
        (np.array([1, 0]), ValueError, r"n=0: a list has at least one"),
        (2.0, TypeError, r"n=2.0 is of type float: .*Write 2\."),
        (2.5, TypeError, r"n=2.5 is of type float: pass a whole number of at least 1"),
        ([1, 2.5], TypeError, r"n=2.5 is of type float"),
        (np.array([1.0]), TypeError, r"is of type float64"),
        (np.nan, TypeError, r"n=nan is of type float"),
        (True, TypeError, r"n=True is of type bool"),
        (np.array([True]), TypeError, r"is of type bool"),
        ("all", TypeError, r"n='all' is of type str"),
        ("3", TypeError, r"n='3' is of type str"),
        ([[1]], TypeError, r"n=\[1\] is of type list"),
        (7, ValueError, r"n=7 exceeds the number of candidates, 6.*from 1 to 6"),
        ([1, 7, 9], ValueError, r"n=9 exceeds the number of candidates, 6"),
    ],
)
def test_n(df, method, n, error, message):
    with pytest.raises(error, match=message):
        ask(df, method, n=n)


@pytest.mark.parametrize(
    "n", [3, np.int32(3), np.uint8(3), [3], (3,), {3}, range(3, 4), np.array([3]), pd.Series([3])]
)
def test_forms_of_n(df, n):
    pd.testing.assert_frame_equal(
        df.rankeval.nbest_precision(n),
        df.rankeval.nbest_precision().iloc[[2, 8]].reset_index(drop=True),
    )


@pytest.mark.parametrize("n", [None, [1, 2], []])
def test_a_difference_region_has_one_n(df, n):
    message = r"n=\[\] requests no list" if n == [] else r"pass the size of the lists as one whole"
    with pytest.raises(ValueError, match=message):
        df.rankeval.difference_region("G2", "t.score", n)


# ------------------------------------------------------------------------------------------ shares


SHARES = [
    ("nbest_precision", "level"),
    ("acceptance_precision", "level"),
    ("compare", "level"),
    ("compare", "alpha"),
    ("significant_ranges", "alpha"),
    ("significant_ranges", "level"),
    ("random_bound", "p"),
]


@pytest.mark.parametrize(("method", "argument"), SHARES)
def test_shares(df, method, argument):
    for value in (0, 0.0, -0.1, np.nan, np.inf):
        with pytest.raises(ValueError, match=rf"{argument}={value!r} is outside \(0, 1"):
            ask(df, method, **{argument: value})
    with pytest.raises(ValueError, match=rf"{argument}=95 is outside.* 95% is 0.95"):
        ask(df, method, **{argument: 95})
    for value in (True, "0.95", None, 1j):
        with pytest.raises(TypeError, match=rf"{argument}={value!r} is of type"):
            ask(df, method, **{argument: value})
    assert isinstance(ask(df, method, **{argument: np.float32(0.5)}), pd.DataFrame)


@pytest.mark.parametrize(("method", "argument"), SHARES)
def test_one_is_a_level_of_random_bounds_only(df, method, argument):
    if method == "random_bound":
        assert set(ask(df, method, p=1)["p"]) == {1.0}
    else:
        with pytest.raises(ValueError, match=rf"{argument}=1 is outside \(0, 1\)"):
            ask(df, method, **{argument: 1})


def test_several_p(df):
    assert list(dict.fromkeys(df.rankeval.random_bound([0.5, 0.1, 0.5])["p"])) == [0.5, 0.1]
    with pytest.raises(ValueError, match=r"p=2 is outside \(0, 1\]"):
        df.rankeval.random_bound([0.5, 2])


# ---------------------------------------------------------------------------------- option values


@pytest.mark.parametrize(
    ("method", "keywords", "message"),
    [
        ("nbest_precision", {"ci": "wald"}, r"ci='wald' is not one of 'clopper-pearson', 'wi"),
        ("acceptance_precision", {"ci": None}, r"ci=None is not one of 'clopper-pearson'"),
        ("compare", {"ci": "wald"}, r"ci='wald' is not one of 'score', 'newcombe'"),
        (
            "compare",
            {"test": "chi2"},
            r"test='chi2' is not one of None, 'fisher', 'midp', 'mcnemar'",
        ),
        (
            "compare",
            {"test": "boschloo", "n": None},
            r"test='boschloo' and n=None: .* Pass the list sizes",
        ),
        (
            "compare",
            {"test": "barnard", "n": None},
            r"test='barnard' and n=None: .* Pass the list sizes",
        ),
        ("compare", {"adjust": "max"}, r"adjust='max' is not one of None, 'holm'.*'max-t'"),
        (
            "compare",
            {"adjust_over": "pair"},
            r"adjust_over='pair' is not one of 'all', 'n', 'group'",
        ),
        ("compare", {"ci": "delta"}, r"ci='delta' is not one of 'score', 'newcombe'"),
        (
            "compare",
            {"phi": 2, "test": "fisher"},
            r"phi=2 with test='fisher': exact tests .*score",
        ),
        ("compare", {"phi": 2, "adjust": "max-t"}, r"phi=2 with adjust='max-t': label swaps"),
        ("compare", {"target": "list"}, r"target='list' is not one of 'region', 'nbest'"),
        ("nbest_precision", {"phi": 0.5}, r"phi=0.5: pass a number from 1 to"),
        ("compare", {"phi": float("nan")}, r"phi=nan: pass a number from 1 to"),
        ("compare", {"n_resamples": 0}, r"n_resamples=0: pass a whole number of at least 1"),
        ("compare", {"alternative": "more"}, r"'more' is not one of 'two-sided', 'greater', 'le"),
        ("significant_ranges", {"test": "sign"}, r"test='sign' is not one of None, 'fisher'"),
        ("random_bound", {"population": "big"}, r"population='big' is not one of 'finite', 'inf"),
        ("random_test", {"population": 3}, r"population=3 is not one of 'finite'"),
        *[(m, {"ties": "random"}, r"ties='random' is not one of 'shared', 'tr") for m in RANKING],
        *[
            (
                m,
                {"ties": "best"},
                r"ties='best' is supported only by nbest_precision, random_test and the curves",
            )
            for m in RANKING
            if m not in ANY_TIES
        ],
        *[(m, {"missing": "zero"}, r"missing='zero' is not one of 'raise', 'l") for m in RANKING],
        *[(m, {"rng": -1}, r"rng=-1: a seed must be 0 or more") for m in RANKING],
    ],
)
def test_values_of_options(df, method, keywords, message):
    with pytest.raises(ValueError, match=message):
        ask(df, method, **keywords)


@pytest.mark.parametrize("rng", [1.5, "0", True])
def test_seeds_of_the_wrong_type(df, rng):
    with pytest.raises(TypeError, match=rf"rng={rng!r} is of type .*numpy.random.Generator"):
        df.rankeval.nbest_precision(rng=rng)


@pytest.mark.parametrize("method", RANKING)
def test_unknown_keywords(df, method):
    with pytest.raises(TypeError, match=r"Unknown keyword 'golden'. Did you mean 'gold'\?"):
        ask(df, method, golden="gold")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("color", "colors"), ("k", "n"), ("confidence", "level"), ("y_true", "gold"),
     ("ascending", "lower_is_better"), ("random_state", "rng"), ("zzz", r"help\(\) on the method")],
)  # fmt: skip
def test_keywords_of_other_packages_lead_to_ours(df, name, meant):
    with pytest.raises(TypeError, match=rf"Unknown keyword '{name}'.*{meant}") as error:
        df.rankeval.nbest_precision(**{name: 1})
    assert len(str(error.value)) <= 250


# --------------------------------------------------------------------------------------- by and key


@pytest.mark.parametrize("values", [["q", None] * 3, [1, np.nan] * 3, pd.array([1, pd.NA] * 3)])
def test_missing_group(df, values):
    with pytest.raises(ValueError, match=r"by='query' has 3 missing values.*dropna"):
        df.assign(query=values).rankeval.nbest_precision(by="query", measures="G2")


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("nbest_precision", "n"),
        ("nbest_precision", "tp"),
        ("compare", "pair"),
        ("random_bound", "p"),
    ],
)
def test_batches_named_like_a_column_of_the_result(df, method, name):
    ds = xr.Dataset.from_dataframe(df.rename_axis("candidate")).expand_dims({name: ["q", "r"]})
    assert f"by_{name}" in ask(ds, method).dims


@pytest.mark.parametrize("values", [[1, 2, 2, 3, 4, 5], list("abbcde")])
def test_repeated_keys(df, values):
    with pytest.raises(ValueError, match=r"key='id' has repeated values, (2|'b'): a key must be"):
        df.assign(id=values).rankeval.nbest_precision(key="id", measures="G2")


@pytest.mark.parametrize("form", ["frame", "dataset"])
def test_missing_keys(df, form):
    data = df.assign(id=[1, 2, np.nan, 3, 4, 5]).rename_axis("candidate")
    data = data if form == "frame" else xr.Dataset.from_dataframe(data)
    with pytest.raises(ValueError, match=r"key='id' has 1 missing values"):
        data.rankeval.nbest_precision(key="id", measures="G2")


def test_keys_that_have_no_order(df):
    with pytest.raises(TypeError, match=r"key='id' mixes names of types int, str"):
        df.assign(id=[1, "a", 2, "b", 3, "c"]).rankeval.nbest_precision(key="id")


def test_by_is_not_for_datasets(df):
    ds = xr.Dataset.from_dataframe(df.rename_axis("candidate"))
    with pytest.raises(
        ValueError, match=r"by='query': a Dataset stores groups along a dimension other"
    ):
        ds.rankeval.nbest_precision(by="query")


# -------------------------------------------------------------------------------------- thresholds


@pytest.mark.parametrize(
    ("threshold", "error", "message"),
    [
        (
            3,
            ValueError,
            r"threshold=3: a single number requires a single measure.*threshold=\{'G2': ...\}",
        ),
        ([1, 2], ValueError, r"a single number requires a single measure.*mapping"),
        ({"G3": 1}, KeyError, r"threshold: no column 'G3'. Did you mean 'G2'"),
        ({"G2": "high"}, TypeError, r"'high' for 'G2' is of type str. Pass a number"),
        ({"G2": [1, None]}, TypeError, r"None for 'G2' is of type NoneType"),
        ({"G2": True}, TypeError, r"True for 'G2' is of type bool"),
        ({"G2": [1, np.nan]}, ValueError, r"NaN for 'G2' is not a threshold"),
    ],
)
@pytest.mark.parametrize("method", ["acceptance_precision", "compare"])
def test_thresholds(df, threshold, error, message, method):
    with pytest.raises(error, match=message):
        ask(df, method, threshold=threshold)


def test_thresholds_of_a_comparison(df):
    with pytest.raises(ValueError, match=r"n=3 and threshold=\{'G2': 1\}: .*not both"):
        df.rankeval.compare("G2", "t.score", 3, threshold={"G2": 1})
    with pytest.raises(ValueError, match=r"has no entry for 't.score'"):
        df.rankeval.compare("G2", "t.score", threshold={"G2": 1})


# ------------------------------------------------------------------------------------------- forms


@pytest.mark.parametrize("method", [*RANKING, "with_association_measures"])
@pytest.mark.parametrize("data", [[1, 2], {"a": [1]}, None, np.ones((2, 2)), pd.Series([1.0])])
def test_data_of_the_wrong_type(method, data):
    keywords = {"measures": "G2"} if method == "with_association_measures" else {}
    message = rf"data is of type {type(data).__name__}: pass a pandas DataFrame"
    with pytest.raises(TypeError, match=message):
        ask(data, method, **keywords)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["a", "a", "gold"], r"measures: data has 2 columns named 'a'.*duplicated"),
        (["a", "gold", "gold"], r"gold: data has 2 columns named 'gold'"),
    ],
)
def test_repeated_column_names(columns, message):
    df = pd.DataFrame([[1, 0, 1], [0, 1, 1]], columns=columns)
    with pytest.raises(ValueError, match=message):
        df.rankeval.nbest_precision()


def test_repeated_names_of_other_roles(df):
    twice = df.assign(id=range(6), other=range(6)).rename(columns={"other": "id"})
    for role in ("by", "key"):
        with pytest.raises(ValueError, match=rf"{role}: data has 2 columns named 'id'"):
            twice.rankeval.nbest_precision(measures="t.score", **{role: "id"})
    assert len(twice.rankeval.nbest_precision(measures="t.score")) == 6


# ----------------------------------------------------------------------- extreme, and yet an answer


@pytest.fixture
def significant() -> pd.DataFrame:
    """Return two measures that differ significantly, so that no table is empty."""
    gold = [True] * 12 + [False] * 28
    rising = np.arange(40) + 0.5
    return pd.DataFrame({"G2": -rising, "t.score": rising, "gold": gold})


@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("method", [m for m in N_METHODS if m not in ("random_cdf", "isolines")])
@pytest.mark.parametrize("by", [None, "query"])
def test_an_empty_frame_gives_an_empty_table(significant, method, by):
    data = significant.assign(query="q")
    full, empty = ask(data, method, by=by), ask(data.iloc[:0], method, by=by)
    assert len(full)
    assert empty.empty
    assert list(empty.columns) == list(full.columns)
    names = [c for c in full if c in {"measure", "measure_a", "measure_b", "better"}]
    assert empty.drop(columns=names).dtypes.equals(full.drop(columns=names).dtypes)


@pytest.mark.filterwarnings("ignore:target=.region:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("method", ["nbest_precision", "compare", "significant_ranges"])
def test_names_in_an_empty_table_have_their_dtype(significant, method):
    full, empty = ask(significant, method), ask(significant.iloc[:0], method)
    names = [c for c in full if c in {"measure", "measure_a", "measure_b"}]
    assert empty.dtypes[names].equals(full.dtypes[names])


def test_acceptance_sets_of_an_empty_frame(df):
    empty = df.iloc[:0].rankeval.acceptance_precision({"G2": 2}).loc[0]
    assert empty[["n_accepted", "tp"]].tolist() == [0, 0]
    assert empty[["precision", "recall", "lift"]].isna().all()
    assert empty[["ci_low", "ci_high"]].tolist() == [0.0, 1.0]
    # no groups, no rows
    grouped = df.assign(query="q").iloc[:0].rankeval(by="query")
    assert grouped.acceptance_precision({"G2": 2}).empty


@pytest.mark.parametrize("method", [*N_METHODS, "difference_region"])
def test_an_empty_frame_has_no_list_of_ten(df, method):
    with pytest.raises(ValueError, match=r"n=10 exceeds the number of candidates, 0"):
        ask(df.iloc[:0], method, n=10)


def test_a_frame_without_columns():
    with pytest.raises(ValueError, match=r"gold is not given.*\(columns: none\)"):
        pd.DataFrame().rankeval.nbest_precision()


def test_one_candidate():
    df = pd.DataFrame({"a": [1.0], "b": [2.0], "gold": [True]})
    one = df.rankeval.nbest_precision().iloc[0]
    assert one[["tp", "precision", "recall", "lift", "tied"]].tolist() == [1, 1.0, 1.0, 1.0, 0]
    compared = df.rankeval.compare().loc[0]
    names = ["overlap", "difference", "ci_low", "ci_high", "p_value", "p_mid"]
    assert compared[names].tolist() == [1, 0.0, 0.0, 0.0, 1.0, 1.0]
    assert df.rankeval.random_test()["p_value"].tolist() == [1.0, 1.0]
    assert df.rankeval.significant_ranges().empty


@pytest.mark.filterwarnings("ignore:gold=.*true positive:rankeval_pd.RankevalWarning")
@pytest.mark.parametrize("positive", [False, True])
def test_no_or_only_positives(df, positive):
    data = df.assign(gold=positive)
    found = data.rankeval.nbest_precision()
    assert found["precision"].eq(float(positive)).all()
    assert found["recall"].isna().all() != positive
    assert found["lift"].isna().all() != positive
    test = data.rankeval.random_test()
    assert test["p_value"].eq(1).all()
    assert test["p_mid"].to_numpy() == pytest.approx([0.5] * 12, rel=1e-14)
    assert test["log10_p"].eq(0).all()
    assert test["lift"].isna().all() != positive
    compared = data.rankeval.compare()
    assert compared[["p_value", "p_mid"]].eq(1).all(axis=None)
    assert compared["odds_ratio"].isna().all()
    assert compared["better"].isna().all()
    assert data.rankeval.significant_ranges().empty
    bound = data.rankeval.random_bound(0.05)
    assert bound["expected"].tolist() == [n * float(positive) for n in range(1, 7)]
    assert bound["critical"].tolist() == [n * positive + 1 for n in range(1, 7)]
    accepted = data.rankeval.acceptance_precision({"G2": 4})
    assert accepted["recall"].isna().all() != positive
