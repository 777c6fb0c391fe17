"""The pictures of rankings: what is drawn equals the columns of the tables, and is said."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.colors import to_hex
from matplotlib.text import Text
from numpy.testing import assert_array_equal as equal
from numpy.testing import assert_equal

import rankeval_pd
from rankeval_pd import plotting
from rankeval_pd.plotting import caption
from rankeval_pd.plotting.look import mixed_color
from rankeval_pd.plotting.names import EndLabels, Key
from tests.test_pictures import _close_figures  # noqa: F401


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """600 candidates, one good measure and one that is hardly better than chance."""
    rng = np.random.default_rng(7)
    gold = rng.random(600) < 0.2
    return pd.DataFrame(
        {"good": rng.normal(size=600) + 1.5 * gold, "poor": rng.normal(size=600), "gold": gold}
    )


def line(ax, name):
    """Return the first line whose label has this text."""
    return next(x for x in ax.get_lines() if name in str(x.get_label()))


def xy(ax, name) -> np.ndarray:
    return line(ax, name).get_xydata()


def written(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def named(ax) -> list[str]:
    """Return the names and values at the ends of lines, in a key, or above the panel."""
    own = [x for x in ax.get_children() if isinstance(x, EndLabels | Key)]
    every = [text.get_text() for x in own for text in x.findobj(Text)]
    return [text for text in every if text.strip()]


def segments(bars) -> np.ndarray:
    """Return place, low and high of each bar upwards."""
    ends = np.array(bars.get_segments())
    equal(ends[:, 0, 0], ends[:, 1, 0])
    return np.column_stack([ends[:, 0, 0], ends[:, :, 1]])


def limits(ax, label="_limit") -> np.ndarray:
    """Return the heights of the two edges of a band."""
    return np.transpose([x.get_ydata() for x in ax.get_lines() if x.get_label() == label])


# ------------------------------------------------------------------------------ precision over n


def test_precision_draws_the_table(frame):
    table = frame.rankeval.nbest_precision([50, 100, 200], ci="wilson", level=0.9)
    ax = plotting.precision(table)
    for name, bars in zip(["good", "poor"], ax.collections, strict=True):
        rows = table[table["measure"] == name]
        equal(xy(ax, name), rows[["n", "precision"]])
        equal(segments(bars), rows[["n", "ci_low", "ci_high"]])
        assert line(ax, name).get_marker() == "o"  # few n: points are marked
        assert to_hex(bars.get_color()) == to_hex(line(ax, name).get_color())
    places = [bars.get_transform().transform((50, 0.5))[0] for bars in ax.collections]
    assert np.diff(places) == pytest.approx(3.4 * ax.figure.dpi / 72)  # bars stand side by side
    assert named(ax) == ["good", "poor", f"random {100 * frame['gold'].mean():.0f}%"]
    bars = "Bars: 90% Wilson confidence intervals, separately at each n."
    assert caption(ax) == f"{bars} Gray line: random order."
    table.attrs.clear()
    assert "Bars: confidence intervals, separately at each n." in caption(plotting.precision(table))
    assert plotting.precision(table.iloc[:0]).get_ylabel() == "precision"


@pytest.mark.parametrize(
    ("options", "together"),
    [({}, True), ({"bands": True}, True), ({"simultaneous": False}, False),
     ({"intervals": True}, False)],
)  # fmt: skip
def test_one_name_has_one_band(frame, options, together):
    n = range(50, 300)
    ax = frame.rankeval.plot.precision(n, measures="good", **options)
    method, ends, words = {
        True: ("precision_band", "band", "simultaneous confidence band, valid jointly at all n"),
        False: (
            "nbest_precision",
            "ci",
            "Clopper–Pearson confidence intervals, separately at each n",
        ),
    }[together]
    table = getattr(frame.rankeval, method)(n, measures="good")[[f"{ends}_low", f"{ends}_high"]]
    (band,) = ax.collections
    drawn = band.get_paths()[0].vertices[:, 1]
    assert (drawn.min(), drawn.max()) == (table.min().iloc[0], table.max().iloc[1])
    edges = [x.get_ydata() for x in ax.get_lines() if x.get_zorder() == 1.5]
    equal(np.transpose(edges), table)
    assert f"Band: 95% {words}." in caption(ax)
    assert caption(ax).count("Band") == 1


def test_several_names_have_bars_at_a_few_n(frame):
    table = frame.rankeval.nbest_precision(range(20, 601))
    band = frame.rankeval.precision_band(range(20, 601), n_resamples=50)
    for ends, source, options in (("ci", table, {}), ("band", band, {"bands": True})):
        ax = plotting.precision(table, band if options else None, **options)
        for name, bars in zip(["good", "poor"], ax.collections, strict=True):
            rows = source[source["measure"] == name].set_index("n")
            drawn = segments(bars)
            equal(drawn[:, 1:], rows.loc[drawn[:, 0], [f"{ends}_low", f"{ends}_high"]])
            assert 3 <= len(drawn) <= 12
        assert f"at n = {', '.join(f'{n:,.0f}' for n in drawn[:, 0])}, " in caption(ax)


@pytest.mark.parametrize("x", ["n", "share", "recall"])
def test_positions_to_the_right(frame, x):
    ax = frame.rankeval.plot.precision(
        [20, 50, 200], measures="good", x=x, mark=[50], reference=("random", "ideal"), relevant=0.1
    )
    table = frame.rankeval.nbest_precision([20, 50, 200], measures="good")
    places = {"n": table["n"], "share": table["n"] / len(frame), "recall": table["recall"]}[x]
    assert xy(ax, "good")[:, 0] == pytest.approx(places.to_numpy())
    assert segments(ax.collections[0])[:, 0] == pytest.approx(places.to_numpy())
    best = np.minimum(table["n"], frame["gold"].sum())
    ideal = best / frame["gold"].sum() if x == "recall" else places
    assert xy(ax, "ideal order") == pytest.approx(np.column_stack([ideal, best / table["n"]]))
    assert "50" in written(ax)
    assert xy(ax, "+10 points")[0, 1] == pytest.approx(frame["gold"].mean() + 0.1)
    assert {"good", "random 20%", "+10 points", "ideal order"} <= set(named(ax))
    assert "10 points above a random order" in caption(ax)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"x": "log"}, r"x='log' is not one of 'n', 'share', 'recall'"),
        ({"reference": "perfect"}, r"reference='perfect' is not one of 'random', 'ideal'"),
        ({"mark": [51]}, r"mark=51 is not a value of n in the table"),
        (
            {"relevant": 5},
            r"relevant=5: pass a difference in precision from 0 to 1; 5 perc",
        ),
        ({"relevant": "a"}, r"relevant='a': pass a difference"),
    ],
)
def test_wrong_options_of_pictures(frame, options, message):
    with pytest.raises(ValueError, match=message):
        frame.rankeval.plot.precision([20, 50], **options)
    assert not plt.get_fignums()  # no torso in the notebook


@pytest.mark.filterwarnings("ignore:by=.part.*in another group:rankeval_pd.RankevalWarning")
def test_tables_that_do_not_belong_together(frame):
    lists = frame.rankeval.nbest_precision(range(50, 100))
    for n, measures in ((range(200, 300), None), (range(60, 70), "good")):
        band = frame.rankeval.precision_band(n, measures=measures, n_resamples=19)
        with pytest.raises(ValueError, match="band and table differ in their measures"):
            plotting.precision(lists, band)
    parts = pd.concat([frame.assign(part=s) for s in range(3)]).reset_index(drop=True)
    call = parts.rankeval(by="part")
    with pytest.raises(ValueError, match="samples and table differ in their measures"):
        plotting.repetition(call.repetition(n=20), call.repetition_samples(n=40))


def test_averages_of_queries_say_what_they_are():
    rng = np.random.default_rng(1)
    gold = rng.random(300) < 0.3
    scores = {name: gold + rng.normal(size=300) for name in ("a", "b")}
    data = pd.DataFrame({**scores, "gold": gold, "query": np.arange(300) % 10})
    call = data.rankeval(by="query", gold="gold", measures=["a", "b"])
    one = plotting.measure_ranks(call.summary(["nDCG@10"]))
    assert one.get_xlabel() == "mean nDCG@10 over queries"
    panels = np.ravel(plotting.measure_ranks(call.summary(["nDCG@10", "AP"])))
    assert [ax.get_title() for ax in panels] == ["metric = nDCG@10", "metric = AP"]
    assert {ax.get_xlabel() for ax in panels} == {"mean over queries"}
    assert all(len(ax.get_yticks()) == 2 for ax in panels)
    table = call.nbest_precision([5, 10], average="macro")
    assert table.attrs["interval"] == "korn-graubard"
    ax = plotting.precision(table)
    assert "95% Korn-Graubard confidence intervals over queries, separately at each n" in caption(
        ax
    )
    assert not any("random" in text for text in named(ax))


@pytest.mark.full
def test_long_curves_are_thinned_but_keep_their_ends():
    n = 200_000
    df = pd.DataFrame({"m": np.linspace(0, 1, n), "gold": np.arange(n) % 3 == 0})
    ax = df.rankeval.plot.precision()
    x, y = ax.get_lines()[0].get_data()
    assert len(x) <= 6000
    assert (x[0], x[-1]) == (10, n)
    assert "Lists shorter than 10 are omitted." in caption(ax)
    equal(y, df.rankeval.nbest_precision([int(k) for k in x])["precision"])


def test_precision_of_blocks():
    """Each measure has its own blocks of equal scores, and a point at the end of each."""
    df = rankeval_pd.datasets.simulate_candidates(
        300, quality={"good": 1.5, "fair": 1.0}, decimals=1
    )
    ax = df.rankeval(ties="blocks").plot.precision(reference=False)
    for name, rows in df.rankeval(ties="blocks").nbest_precision().groupby("measure"):
        equal(xy(ax, name), rows[["n", "precision"]])


# ------------------------------------------------------------------------------------ comparison


def marked(ax, n) -> dict:
    """Return which n the bars of the strip cover, by row, height and color."""
    found: dict = {}
    for bars in ax.figure.axes[1].collections:
        for path in bars.get_paths():
            (left, low), (right, high) = path.get_extents().get_points()
            key = int((low + high) / 2), round(high - low, 2), to_hex(bars.get_facecolor()[0])
            hits = found.setdefault(key, np.zeros(len(n), dtype=bool))
            hits |= ((n > left) & (n < right)).to_numpy()
    return found


def to_mark(ax, table, *findings, row=None) -> dict:
    """Return what is to be marked: pale bars for each n alone, full ones for all n together."""
    rows: dict = {}
    for kind, hits in enumerate(findings):
        for side, ahead in (("a", table["difference"] > 0), ("b", table["difference"] < 0)):
            color = line(ax, table[f"measure_{side}"].iloc[0]).get_color()
            place = (1 - kind, 0.6) if row is None else (row, (0.6, 0.36)[kind])
            covered = np.asarray(hits) & ahead.to_numpy()
            if covered.any():
                rows[(*place, mixed_color(color, "white", (0.45, 1.0)[kind]))] = covered
    return rows


def test_comparison_draws_the_table(frame):
    table = frame.rankeval.compare("good", "poor", alpha=0.01, adjust="holm")
    ax = plotting.comparison(table)
    curves, strip, below = ax.figure.axes
    assert curves is ax
    equal(xy(ax, "good"), table[["n", "precision_a"]])
    equal(xy(ax, "poor"), table[["n", "precision_b"]])
    bars = to_mark(ax, table, table["p_value"] <= 0.01, table["significant"])
    assert len(bars) == 2
    assert_equal(marked(ax, table["n"]), bars)
    equal(xy(below, "_difference"), table[["n", "difference"]])
    equal(limits(below), table[["ci_low", "ci_high"]])
    assert written(strip) == ["each n separately", "all n jointly", "good\nbetter"]
    assert "(Fisher's exact test at 1%, separately at each n)" in caption(ax)
    assert "(Holm's method at 1%, simultaneously for all n)" in caption(ax)
    assert "good − poor in percentage points, with the 95% interval, adjusted like" in caption(ax)


def test_comparison_marks_what_holds_for_all_n_together(frame):
    n = range(5, 400)
    ax = frame.rankeval.plot.comparison("good", "poor", n, relevant=0.05)
    table = frame.rankeval.compare("good", "poor", n)
    adjusted = frame.rankeval.compare("good", "poor", n, adjust="max-t")
    large = table["difference"].abs() >= 0.05
    both = table["significant"] & large, adjusted["significant"] & large
    assert 0 < both[1].sum() < both[0].sum()
    assert_equal(marked(ax, table["n"]), to_mark(ax, table, *both))
    words = "max-t method at 5%, simultaneously for all n, and the difference is 5 points or more"
    assert words in caption(ax)
    n = range(100, 400)
    table = frame.rankeval.compare("good", "poor", n)
    band = frame.rankeval.difference_band("good", "poor", n)
    ax = plotting.comparison(table, band)
    bars = to_mark(ax, table, table["significant"], band["band_low"] > 0)
    assert_equal(marked(ax, table["n"]), bars)
    equal(limits(ax.figure.axes[2]), band[["band_low", "band_high"]])
    assert "the 95% simultaneous band excludes 0, simultaneously for all n" in caption(ax)
    assert "with the 95% simultaneous band for all n" in caption(ax)


def test_n_with_gaps_are_marked_one_by_one(frame):
    table = frame.rankeval.compare("good", "poor", [50, 100, 300])
    _, strip, below = plotting.comparison(table).figure.axes
    (squares,) = strip.collections
    assert table["significant"].any()
    equal(squares.get_offsets()[:, 0], table.loc[table["significant"], "n"])
    equal(segments(below.collections[0]), table[["n", "ci_low", "ci_high"]])


def test_every_pair_has_a_row(frame):
    three = frame.assign(third=np.linspace(1.0, 0.0, 600) ** 2)
    table = three.rankeval.compare(n=range(20, 300))
    together = three.rankeval.compare(n=range(20, 300), adjust="max-t", n_resamples=199)
    ax = plotting.comparison(table, together)
    assert [x.get_label() for x in ax.get_lines()] == ["good", "poor", "third"]
    assert written(ax.figure.axes[1]) == ["good : poor", "good : third", "poor : third"]
    bars: dict = {}
    for row, (pair, rows) in enumerate(table.groupby(["measure_a", "measure_b"], sort=False)):
        mine = together.set_index(["measure_a", "measure_b"]).loc[[pair]]
        bars |= to_mark(ax, rows, rows["significant"], mine["significant"], row=2 - row)
    assert len({row for row, *_ in bars}) > 1
    assert_equal(marked(ax, table["n"].iloc[:280]), bars)


def test_comparison_without_any_significant_n(frame):
    ax = frame.rankeval.plot.comparison("good", "poor", range(1, 4))
    assert not ax.figure.axes[1].collections
    for words in (
        "Fisher's exact test at 5%, separately at each n",
        "method at 5%, simultaneously for all n",
    ):
        assert f"{words}). No list in this plot meets the condition." in caption(ax)
    assert "the same list" not in caption(ax)
    twins = frame.assign(twin=2 * frame["good"])
    ax = twins.rankeval.plot.comparison("good", "twin", range(1, 4))
    assert "good and twin have identical lists at each n shown." in caption(ax)


def test_comparison_over_recall_and_with_overlap(frame):
    ax = frame.rankeval.plot.comparison(
        "good", "poor", [20, 50, 200], x="recall", reference="ideal", overlap=True, mark=[50]
    )
    recall = frame.rankeval.nbest_precision([20, 50, 200]).set_index("measure")["recall"]
    for name in ("good", "poor"):
        equal(xy(ax, name)[:, 0], recall[name])
    assert xy(ax, "ideal order")[0, 1] == 1.0
    compared = frame.rankeval.compare("good", "poor", [20, 50, 200])
    below, right = ax.figure.axes[2:]
    for drawn, values in (
        (xy(right, "_overlap"), compared["overlap"] / compared["n"]),
        (xy(below, "_difference"), compared["difference"]),
    ):
        equal(drawn, np.column_stack([recall["good"], values]))
    assert "(scale on the right): share of candidates in both lists" in caption(ax)
    with pytest.raises(ValueError, match=r"x='recall'.*Pass curves=data.rankeval.nbest_precision"):
        plotting.comparison(compared, x="recall")
    for pair in (("good", "poor"), ("poor", "good")):  # the bars stand at the better one's recall
        ax = frame.rankeval.plot.comparison(*pair, [20, 50, 200], x="recall", simultaneous=False)
        (marks,) = ax.figure.axes[1].collections
        assert set(marks.get_offsets()[:, 0].round(12)) <= set(recall["good"].round(12))
        assert to_hex(marks.get_facecolor()[0]) == mixed_color(
            line(ax, "good").get_color(), "white", 0.45
        )
        assert "the measure in this color (at its recall) is significantly better" in caption(ax)


# ------------------------------------------------------------------------------ repeated samples


@pytest.mark.filterwarnings("ignore:by=.part.*in another group:rankeval_pd.RankevalWarning")
def test_repetition_draws_a_panel_a_measure(frame):
    samples = pd.concat([frame.sample(frac=0.5, random_state=s).assign(part=s) for s in range(12)])
    call = samples.reset_index(drop=True).rankeval(by="part")
    panels = call.plot.repetition(n=40)
    table, rows = call.repetition(n=40), call.repetition_samples(n=40)
    assert [panel.get_title(loc="left") for panel in panels] == table["measure"].tolist()
    for panel, (_, row) in zip(panels, table.iterrows(), strict=True):
        found = rows.loc[rows["measure"] == row["measure"], "precision"]
        bins = [panel.patches[0].get_x(), *(x.get_x() + x.get_width() for x in panel.patches)]
        equal([bar.get_height() for bar in panel.patches], np.histogram(found, bins)[0])
        for name, sd in (("expected by the model", "sd_expected"), ("observed", "sd_observed")):
            x, y = line(panel, name).get_data()
            assert x[np.argmax(y)] == pytest.approx(row["precision"], abs=0.01)
            height = 12 * panel.patches[0].get_width() / (row[sd] * np.sqrt(2 * np.pi))
            assert y.max() == pytest.approx(height, rel=0.01)
        ends = f"{row['phi_low']:.1f}–{row['phi_high']:.1f}"
        assert written(panel) == [
            f"12 samples vary by {100 * row['sd_observed']:.1f} points (sd)",
            f"the model expects {100 * row['sd_expected']:.1f} points",
            f"variance {row['phi']:.1f} times the model's ({ends})",
        ]
    _, axes = plt.subplots(1, 2)
    assert list(call.plot.repetition(n=40, ax=axes)) == list(axes)
    with pytest.raises(ValueError, match=r"ax has 1 Axes for 2 measures. Pass one"):
        call.plot.repetition(n=40, ax=axes[0])


# ---------------------------------------------------------------------------------------- chance


def test_random_bound_draws_critical_over_n(frame):
    bound = frame.rankeval.random_bound([0.05, 0.001], [100, 200])
    ax = plotting.random_bound(bound)
    for p, name in ((0.05, "chance 5%"), (0.001, "chance 0.1%")):
        rows = bound[bound["p"] == p]
        equal(xy(ax, name)[:, 1], rows["critical"] / rows["n"])
    assert named(ax) == ["chance 5%", "chance 0.1%", "random 20%"]
    below = "of random orders stay below"
    assert f"Gray area: 95% {below} the edge at any single n." in caption(ax)
    assert f"Line “chance 0.1%”: 99.9% {below} the line at any single n." in caption(ax)


def test_bounds_that_no_list_can_reach_are_not_drawn():
    """Without curves the table alone says that there are three true positives."""
    df = pd.DataFrame({"a": np.arange(60.0), "gold": np.arange(60) < 3})
    bound = df.rankeval.random_bound(1e-3, range(1, 40))
    assert 0 < bound["attainable"].sum() < len(bound)
    drawn = xy(plotting.random_bound(bound), "chance 0.1%")[:, 1]
    equal(np.isfinite(drawn), bound["attainable"])


def test_envelope_beside_the_bound(frame):
    n = range(20, 100)
    ax = frame.rankeval.plot.random_bound([0.05, 0.001], n, log=True)
    counts = frame.rankeval.random_envelope([0.05, 0.001], n)
    for p, name in ((0.05, "chance 5%"), (0.001, "chance 0.1%")):
        rows = counts[counts["alpha"] == p]
        equal(xy(ax, name)[:, 1], rows["envelope"] / rows["n"])
    field = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert field.max() == xy(ax, "chance 5%")[:, 1].max()
    bound = frame.rankeval.random_bound(0.05, n)
    equal(xy(ax, "_each n separately")[:, 1], bound["critical"] / bound["n"])
    assert ax.get_xscale() == "log"
    words = "below the edge at every n; the hairline is the bound for a single n"
    assert words in caption(ax)
    alone = frame.rankeval.plot.random_bound(0.05, simultaneous=False)
    endless = frame.rankeval.plot.random_bound(0.05, range(1, 700), population="infinite")
    assert not any("all n together" in caption(ax) for ax in (alone, endless))


def test_distribution_functions_are_the_table(frame):
    table = frame.rankeval.random_cdf(20)
    bound = frame.rankeval.random_bound([0.5, 0.1], 20)
    ax = plotting.random_cdf(table, bound)
    for kind in ("discrete", "interpolated", "parametric"):
        equal(xy(ax, kind), table[["tp", kind]])
        places = [x.get_xydata()[0] for x in ax.get_lines() if x.get_label() == f"_{kind}"]
        equal(places, np.column_stack([bound[kind], 1 - bound["p"]]))
        assert {f"{value:.4g}" for value in bound[kind]} <= set(named(ax))
    assert {"bound, 50%", "bound, 10%"} <= set(named(ax))
    with pytest.raises(ValueError, match=r"table has 2 list sizes, but a plot shows only one"):
        plotting.random_cdf(frame.rankeval.random_cdf([5, 6]))


# ------------------------------------------------------------ curves over all cut-offs, and chance


@pytest.mark.parametrize(
    ("space", "x", "y"),
    [("roc", "fpr", "tpr"), ("precision_recall", "recall", "precision"), ("det", "fpr", "fnr"),
     ("lift", "share", "lift"), ("gain", "share", "tpr")],
)  # fmt: skip
def test_curves_bands_and_isolines_are_the_tables(frame, space, x, y):
    curve = getattr(frame.rankeval, space)()
    band = frame.rankeval.random_band(space, [0.05, 0.001])
    together = frame.rankeval.random_band(space, 0.05, simultaneous=True)
    lines = frame.rankeval.isolines([30, 200], space)
    ax = getattr(plotting, space)(curve, bands=[band, together], isolines=lines)
    for label, table in (
        ("good", curve[curve["measure"] == "good"]),
        ("chance 5% at every n", together),
        ("chance 5% at any single n", band[band["p"] == 0.05]),
        ("chance 0.1% at any single n", band[band["p"] == 0.001]),
        ("_n = 30", lines[lines["n"] == 30]),
        ("_n = 200", lines[lines["n"] == 200]),
    ):
        equal(xy(ax, label), table[[x, y]])
    (field,) = ax.collections  # one field, up to the bound that holds for all n together
    equal(np.isin(together[y], field.get_paths()[0].vertices[:, 1]), together[y].notna())
    assert {"30", "200"} <= set(written(ax))
    assert "95% of random orders stay within the area at every n" in caption(ax)
    assert "99.9% of random orders stay below the line at any single n" in caption(ax)
    assert ax.get_xscale() == ("function" if space == "det" else "linear")


def test_keys_have_areas_and_enrichment(frame):
    for space, kind in (("roc", "roc"), ("precision_recall", "ap")):
        ax = getattr(frame.rankeval.plot, space)()
        table = frame.rankeval.area(kind)
        areas = {f"{x:.2f}" for x in table["area"]}
        ends = {f"{a:.2f}–{b:.2f}" for a, b in table[["ci_low", "ci_high"]].to_numpy()}
        assert {"good", "poor", "95% interval"} | areas | ends <= set(named(ax))
        assert "confidence intervals, separately for each measure" in caption(ax)
        assert not areas & set(named(getattr(frame.rankeval.plot, space)(area=False)))
    lift = frame.rankeval.plot.lift(enrichment=[0.05, 0.1])
    factors = {f"{x:.3g}" for x in frame.rankeval.enrichment([0.05, 0.1])["lift"]}
    assert {"at 5%", "at 10%"} | factors <= set(named(lift))


def test_crossovers_are_marked_on_the_curve(frame):
    runs = frame.rankeval.crossovers([0.05, 1e-6])
    curve = frame.rankeval.roc()
    ax = plotting.roc(curve, crossovers=runs)
    first = runs.drop_duplicates(["measure", "p"])
    marks = [x.get_xydata()[0] for x in ax.get_lines() if "crossover" in str(x.get_label())]
    places = first.merge(curve, left_on=["measure", "n_first"], right_on=["measure", "n"])
    equal(marks, places[["fpr", "tpr"]])
    assert "Open marks: the first of 2 successive lists above chance" in caption(ax)
    assert f"n = {first['n_first'].iloc[0]}" in written(ax)


def test_what_is_asked_beside_curves_is_checked(frame):
    with pytest.raises(ValueError, match=r"crossovers=True needs .* such as bands=0.05"):
        frame.rankeval.plot.gain(crossovers=True)
    with pytest.raises(ValueError, match=r"no columns share, lift.*random_band for lift"):
        plotting.lift(frame.rankeval.lift(), bands=frame.rankeval.random_band())


def test_random_and_ideal_orders_are_drawn(frame):
    share = frame["gold"].mean()
    heights = xy(frame.rankeval.plot.precision_recall(), "random order")[:, 1]
    assert heights == pytest.approx(share, rel=1e-14)
    x, y = xy(plotting.det(frame.rankeval.det()), "random order").T
    equal(y, 1 - x)
    x, y = xy(frame.rankeval.plot.gain(), "ideal order").T
    assert y == pytest.approx(np.minimum(x / share, 1.0))
    ax = plotting.gain(frame.rankeval.gain(), log=True)
    assert ax.xaxis.get_major_formatter()(0.001, 0) == "0.1%"


# ---------------------------------------------------------------------------------------- groups


def test_groups_get_panels(frame):
    grouped = frame.assign(group=np.arange(600) % 3).rankeval(by="group")
    panels = grouped.plot.precision([10, 20], col_wrap=2, title="all")
    assert [ax.get_title() for ax in panels] == ["group = 0", "group = 1", "group = 2"]
    figure = panels[0].figure
    assert figure.get_suptitle() == "all"
    assert not any(named(ax) or ax.get_legend() for ax in panels)
    (shared,) = figure.legends
    assert [text.get_text() for text in shared.get_texts()][:2] == ["good", "poor"]
    assert caption(panels).count("Bars: 95% Clopper–Pearson") == 1
    table = grouped.nbest_precision([10, 20])
    for number, ax in enumerate(panels):
        rows = table[(table["group"] == number) & (table["measure"] == "good")]
        equal(xy(ax, "good")[:, 1], rows["precision"])
    sets = [
        xr.Dataset({c: ("candidate", frame[c].to_numpy()[k::3]) for c in frame}) for k in (0, 1)
    ]
    batch = xr.concat(sets, "part").rankeval.plot.roc()
    assert [ax.get_title() for ax in batch] == ["part = 0", "part = 1"]
    _, given = plt.subplots(1, 3)
    assert list(grouped.plot.roc(ax=given)) == list(given)
    with pytest.raises(ValueError, match=r"ax has 2 Axes for 3 groups. Pass one"):
        grouped.plot.roc(ax=given[:2])
    many = frame.assign(group=np.arange(600) // 20).rankeval(by="group")
    with pytest.raises(ValueError, match=r"there are 30 groups of group.*24 panels"):
        many.plot.precision([5])
