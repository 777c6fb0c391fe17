"""The pictures: what is drawn, what the legend says, and that it all lies inside the canvas."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
from rankeval_pd import plotting

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """600 candidates, one good measure and one that is hardly better than chance."""
    rng = np.random.default_rng(7)
    gold = rng.random(600) < 0.2
    return pd.DataFrame(
        {"good": rng.normal(size=600) + 1.5 * gold, "poor": rng.normal(size=600), "gold": gold}
    )


DRAWN = {
    "precision": lambda df, ax: df.rankeval.plot.precision(range(20, 500), ax=ax),
    "comparison": lambda df, ax: df.rankeval.plot.comparison("good", "poor", ax=ax),
    "random_bound": lambda df, ax: df.rankeval.plot.random_bound([0.05, 1e-6], ax=ax),
    "random_cdf": lambda df, ax: df.rankeval.plot.random_cdf(20, 0.05, ax=ax),
    "roc": lambda df, ax: df.rankeval.plot.roc(
        bands=[0.05, 1e-6], isolines=[10, 50], crossovers=True, ax=ax
    ),
    "precision_recall": lambda df, ax: df.rankeval.plot.precision_recall(bands=0.05, ax=ax),
    "det": lambda df, ax: df.rankeval.plot.det(isolines=[10, 50], ax=ax),
    "lift": lambda df, ax: df.rankeval.plot.lift(bands=0.05, simultaneous=False, ax=ax),
    "gain": lambda df, ax: df.rankeval.plot.gain(bands=0.05, log=True, ax=ax),
}


def legend(ax) -> str:
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    return "\n".join(names).replace("\n", " ").replace("\u00a0", " ")


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("width", [3.15, 6.4])
def test_everything_lies_inside_and_legend_is_off_the_data(frame, name, width):
    figure, ax = plt.subplots(figsize=(width, 3.8), layout="constrained")
    assert DRAWN[name](frame, ax) is ax
    figure.draw_without_rendering()
    canvas = figure.bbox
    for artist in (ax.get_legend(), ax.xaxis.label, ax.yaxis.label, ax.title):
        box = artist.get_window_extent()
        assert box.width == 0 or canvas.x0 <= box.x0 <= box.x1 <= canvas.x1
        assert box.height == 0 or canvas.y0 <= box.y0 <= box.y1 <= canvas.y1
    assert not ax.get_legend().get_window_extent().overlaps(ax.get_window_extent())
    assert not ax.get_legend().get_window_extent().overlaps(ax.xaxis.label.get_window_extent())


def test_precision_draws_the_table(frame):
    table = frame.rankeval.nbest_precision([50, 100, 200], ci="wilson", level=0.9)
    ax = plotting.precision(table)
    curve = next(line for line in ax.get_lines() if line.get_label() == "good")
    drawn = table[table["measure"] == "good"]
    np.testing.assert_array_equal(curve.get_ydata(), drawn["precision"])
    assert (np.abs(curve.get_xdata() - drawn["n"]) < 10).all()  # a little aside of the other
    other = next(line for line in ax.get_lines() if line.get_label() == "poor")
    assert (curve.get_xdata() < other.get_xdata()).all()
    assert curve.get_marker() == "o"  # few n: points are marked
    bars = np.array(ax.collections[0].get_segments())  # few n: bars in place of a band
    np.testing.assert_array_equal(bars[:, :, 1], drawn[["ci_low", "ci_high"]])
    assert "90 % Wilson interval, pointwise" in legend(ax)
    assert f"baseline, {100 * frame['gold'].mean():.2f} %" in legend(ax)


def test_precision_draws_a_band_for_many_n(frame):
    table = frame.rankeval.nbest_precision(measures="good")
    band = plotting.precision(table).collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == table["ci_low"].min()
    assert band[:, 1].max() == table["ci_high"].max()


def test_n_with_gaps_are_marked_one_by_one(frame):
    table = frame.rankeval.compare("good", "poor", [50, 100, 300])
    (squares,) = plotting.comparison(table).collections
    hits = table.loc[table["significant"], "n"]
    assert len(hits)
    np.testing.assert_array_equal(squares.get_offsets()[:, 0], hits)


def test_many_measures_have_different_lines():
    df = pd.DataFrame(
        {f"m{i}": np.linspace(0, 1, 9) for i in range(20)} | {"gold": [True] + [False] * 8}
    )
    lines = df.rankeval.plot.precision([3, 5]).get_lines()[:20]
    assert len({(x.get_color(), str(x._dash_pattern)) for x in lines}) == 20


def test_axes_of_a_figure_without_layout(frame):
    figure, ax = plt.subplots()
    frame.rankeval.plot.precision(range(10, 90), ax=ax)
    figure.draw_without_rendering()
    box = ax.get_legend().get_window_extent()
    assert figure.bbox.y0 <= box.y0
    assert box.x1 <= figure.bbox.x1


def test_comparison_marks_the_significant_n(frame):
    table = frame.rankeval.compare("good", "poor", alpha=0.01, adjust="holm")
    ax = plotting.comparison(table)
    alone, together = (_covered(bars, table["n"]) for bars in ax.collections)
    np.testing.assert_array_equal(alone, table["p_value"] <= 0.01)
    np.testing.assert_array_equal(together, table["significant"])
    assert "good better, Fisher's test, p ≤ 0.01, each n alone" in legend(ax)
    assert "p ≤ 0.01, adjusted (holm), all n together" in legend(ax)


def _covered(bars, n):
    """Return which n the bars cover."""
    found = np.zeros(len(n), dtype=bool)
    for path in bars.get_paths():
        x = path.vertices[:, 0]
        found |= ((n > x.min()) & (n < x.max())).to_numpy()
    return found


def test_comparison_marks_what_holds_for_all_n_together(frame):
    n = range(5, 400)
    ax = frame.rankeval.plot.comparison("good", "poor", n, relevant=0.05)
    table = frame.rankeval.compare("good", "poor", n)
    adjusted = frame.rankeval.compare("good", "poor", n, adjust="max-t")
    large = (table["difference"] >= 0.05).to_numpy()
    alone, together = (_covered(bars, table["n"]) for bars in ax.collections)
    np.testing.assert_array_equal(alone, table["significant"].to_numpy() & large)
    np.testing.assert_array_equal(together, adjusted["significant"].to_numpy() & large)
    assert 0 < together.sum() < alone.sum()
    assert "max-t, p ≤ 0.05, all n together, 5 points or more" in legend(ax)
    n = range(100, 400)
    table = frame.rankeval.compare("good", "poor", n)
    band = frame.rankeval.difference_band("good", "poor", n)
    ax = plotting.comparison(table, band)
    np.testing.assert_array_equal(
        _covered(ax.collections[1], table["n"]), (band["band_low"] > 0).to_numpy()
    )
    assert "95 % sup-t band without 0, all n together" in legend(ax)


def test_precision_draws_both_kinds_of_bands(frame):
    n = range(50, 300)
    ax = frame.rankeval.plot.precision(n, measures="good")
    pointwise, together = ax.collections[:2]
    table = frame.rankeval.nbest_precision(n, measures="good")
    band = frame.rankeval.precision_band(n, measures="good")
    for drawn, limits in ((pointwise, table["ci_high"]), (together, band["band_high"])):
        assert drawn.get_paths()[0].vertices[:, 1].max() == pytest.approx(limits.max())
    text = legend(ax)
    assert "95 % Clopper-Pearson interval, pointwise" in text
    assert "95 % sup-t band, all n together" in text
    alone = frame.rankeval.plot.precision(n, measures="good", simultaneous=False)
    assert "sup-t" not in legend(alone)


@pytest.mark.parametrize("x", ["n", "share", "recall"])
def test_positions_to_the_right(frame, x):
    ax = frame.rankeval.plot.precision(
        [20, 50, 200], measures="good", x=x, mark=[50], reference=("random", "ideal"), relevant=0.1
    )
    table = frame.rankeval.nbest_precision([20, 50, 200], measures="good")
    wanted = {"n": table["n"], "share": table["n"] / len(frame), "recall": table["recall"]}[x]
    lines = {str(line.get_label()): line for line in ax.get_lines()}
    assert lines["good"].get_xdata() == pytest.approx(wanted.to_numpy())
    positive = frame["gold"].sum()
    best = np.minimum(table["n"], positive)
    ideal = {"n": table["n"], "share": table["n"] / len(frame), "recall": best / positive}[x]
    assert lines["ideal order"].get_xdata() == pytest.approx(ideal.to_numpy())
    assert lines["ideal order"].get_ydata() == pytest.approx((best / table["n"]).to_numpy())
    texts = [*ax.texts, *(label for top in ax.child_axes for label in top.get_xticklabels())]
    assert "50" in [text.get_text() for text in texts]
    gain = lines["relevant: baseline + 10 points"].get_ydata()[0]
    assert gain == pytest.approx(frame["gold"].mean() + 0.1)


def test_comparison_over_recall_and_with_overlap(frame):
    ax = frame.rankeval.plot.comparison(
        "good", "poor", [20, 50, 200], x="recall", reference="ideal", overlap=True, mark=[50]
    )
    table = frame.rankeval.nbest_precision([20, 50, 200]).set_index("measure")
    lines = {str(line.get_label()): line for line in ax.get_lines()}
    for name in ("good", "poor"):
        assert lines[name].get_xdata() == pytest.approx(table.loc[name, "recall"].to_numpy())
    right = next(other for other in ax.figure.axes if other is not ax)
    compared = frame.rankeval.compare("good", "poor", [20, 50, 200])
    assert right.get_lines()[0].get_ydata() == pytest.approx(
        (compared["overlap"] / compared["n"]).to_numpy()
    )
    with pytest.raises(ValueError, match=r"x='recall'.*Give curves=data.rankeval.nbest_precision"):
        plotting.comparison(compared, x="recall")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"x": "log"}, r"x='log' is not one of 'n', 'share', 'recall'"),
        ({"reference": "perfect"}, r"reference='perfect' is not one of 'random', 'ideal'"),
        ({"mark": [51]}, r"mark=51 is not one of the n of the table"),
        ({"relevant": 5}, r"relevant=5: give a difference of precision from 0 to 1; 5 points are"),
        ({"relevant": "a"}, r"relevant='a': give a difference"),
    ],
)
def test_wrong_options_of_pictures(frame, options, message):
    with pytest.raises(ValueError, match=message):
        frame.rankeval.plot.precision([20, 50], **options)
    assert not plt.get_fignums()  # no torso in the notebook


def test_tables_that_do_not_belong_together(frame):
    lists = frame.rankeval.nbest_precision(range(50, 100))
    for band in (
        frame.rankeval.precision_band(range(200, 300), n_resamples=19),
        frame.rankeval.precision_band(range(60, 70), measures="good", n_resamples=19),
    ):
        with pytest.raises(ValueError, match="band has other measures or other n than table"):
            plotting.precision(lists, band)
    parts = pd.concat([frame.assign(part=s) for s in range(3)]).reset_index(drop=True)
    call = parts.rankeval(by="part")
    with pytest.raises(ValueError, match="samples are not those of table"):
        plotting.repetition(call.repetition(n=20), call.repetition_samples(n=40))


def test_bars_over_recall_stand_at_the_better_measures_recall(frame):
    table = frame.rankeval.nbest_precision([20, 50, 200]).set_index(["measure", "n"])["recall"]
    for pair in (("good", "poor"), ("poor", "good")):
        ax = frame.rankeval.plot.comparison(*pair, [20, 50, 200], x="recall", simultaneous=False)
        (marks,) = ax.collections
        found = marks.get_offsets()[:, 0]
        assert set(np.round(found, 12)) <= set(np.round(table["good"], 12))
        assert "good better" in legend(ax)
        assert "(at its recall)" in legend(ax)


def test_repetition_draws_a_panel_a_measure(frame):
    samples = pd.concat([frame.sample(frac=0.5, random_state=s).assign(part=s) for s in range(12)])
    call = samples.reset_index(drop=True).rankeval(by="part")
    panels = call.plot.repetition(n=40)
    table, rows = call.repetition(n=40), call.repetition_samples(n=40)
    assert [panel.get_title() for panel in panels] == table["measure"].tolist()
    for panel, (_, row) in zip(panels, table.iterrows(), strict=True):
        heights = [bar.get_height() for bar in panel.patches]
        assert sum(heights) == 12
        curve = panel.get_lines()[0]
        peak = curve.get_xdata()[np.argmax(curve.get_ydata())]
        assert peak == pytest.approx(row["precision"], abs=0.01)
        width = panel.patches[0].get_width()
        height = 12 * width / (row["sd_expected"] * np.sqrt(2 * np.pi))
        assert curve.get_ydata().max() == pytest.approx(height, rel=0.01)
    assert len(rows) == 24
    _, axes = plt.subplots(1, 2)
    assert list(call.plot.repetition(n=40, ax=axes)) == list(axes)
    with pytest.raises(ValueError, match="ax has 1 Axes, and there are 2 measures"):
        call.plot.repetition(n=40, ax=axes[0])


def test_comparison_without_any_significant_n(frame):
    ax = frame.rankeval.plot.comparison("good", "poor", range(1, 4))
    assert not ax.collections
    assert "no n: Fisher's test, p ≤ 0.05, each n alone" in legend(ax)
    assert "no n: max-t, p ≤ 0.05, all n together" in legend(ax)
    assert not any("the same lists" in text for text in legend(ax))


def test_summaries_and_averages_of_queries_say_what_they_are():
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
    assert table.attrs["ci"] == "student"
    ax = plotting.precision(table)
    assert "95 % Student's interval, over queries, pointwise" in legend(ax)
    assert not any("baseline" in text for text in legend(ax))


def test_comparison_of_two_measures_that_rank_alike_says_so(frame):
    twins = frame.assign(twin=2 * frame["good"])
    ax = twins.rankeval.plot.comparison("good", "twin", range(1, 4))
    assert "good, twin: the same lists at each n drawn" in legend(ax)


def test_random_bound_draws_critical_over_n(frame):
    bound = frame.rankeval.random_bound([0.05, 0.001], [100, 200])
    ax = plotting.random_bound(bound)
    line = next(x for x in ax.get_lines() if "0.001" in str(x.get_label()))
    rows = bound[bound["p"] == 0.001]
    np.testing.assert_array_equal(line.get_ydata(), rows["critical"] / rows["n"])


def test_bounds_that_no_list_can_reach_are_not_drawn():
    """Without curves the table alone says that there are three true positives."""
    df = pd.DataFrame({"a": np.arange(60.0), "gold": np.arange(60) < 3})
    bound = df.rankeval.random_bound(1e-3, range(1, 40))
    drawn = line(plotting.random_bound(bound), "each n alone").get_ydata()
    assert 0 < bound["attainable"].sum() < len(bound)
    np.testing.assert_array_equal(np.isfinite(drawn), bound["attainable"])


@pytest.mark.slow
def test_dataset_and_frame_give_the_same_lines(frame):
    data = xr.Dataset({c: ("candidate", frame[c].to_numpy()) for c in frame})
    for name, draw in DRAWN.items():
        lines = [
            [line.get_xydata() for line in draw(x, plt.figure().gca()).get_lines()]
            for x in (frame, data)
        ]
        for a, b in zip(*lines, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=name)


def test_keywords_reach_the_artists(frame):
    ax = frame.rankeval.plot.precision(
        [10, 20], measures="good", line_kw={"linewidth": 7}, band_kw={"alpha": 0.9},
        marker_kw={"marker": "x"},
    )  # fmt: skip
    line = ax.get_lines()[0]
    assert (line.get_linewidth(), line.get_marker()) == (7, "x")
    assert ax.collections[0].get_alpha() == 0.9


@pytest.mark.slow
def test_long_curves_are_thinned_but_keep_their_ends():
    n = 200_000
    df = pd.DataFrame({"m": np.linspace(0, 1, n), "gold": np.arange(n) % 3 == 0})
    line = df.rankeval.plot.precision().get_lines()[0]
    assert len(line.get_xdata()) < 5000
    assert (line.get_xdata()[0], line.get_xdata()[-1]) == (1, n)


@pytest.mark.parametrize(
    ("name", "some"),
    [
        ("precision", ["n", "precision"]),
        ("comparison", ["measure_a", "n", "precision_a"]),
        ("random_bound", ["p", "n", "expected"]),
        ("random_cdf", ["n", "tp", "discrete"]),
        ("roc", ["measure", "n", "fpr"]),
    ],
)
def test_wrong_tables_are_refused(name, some):
    draw = getattr(plotting, name)
    with pytest.raises(ValueError, match=r"table has no columns .*give the result of"):
        draw(pd.DataFrame(columns=some))
    with pytest.raises(TypeError, match=r"data is of type list: .*the result of"):
        draw([1, 2])


@pytest.mark.parametrize("name", ["precision", "roc"])
def test_of_a_table_no_role_is_asked(frame, name):
    method = {"precision": "nbest_precision"}.get(name, name)
    table = getattr(frame.rankeval, method)()
    with pytest.raises(TypeError, match=rf"gold='gold' is a role .*the result of {method}"):
        getattr(plotting, name)(table, gold="gold")
    assert getattr(table.rankeval.plot, name)().get_lines()


def test_every_pair_has_a_strip(frame):
    three = frame.assign(third=np.linspace(1.0, 0.0, 600) ** 2)
    table = three.rankeval.compare(n=range(20, 300))
    ax = plotting.comparison(table)
    lines = [str(line.get_label()) for line in ax.get_lines()]
    assert lines[:3] == ["good", "poor", "third"]
    middles = [bars.get_paths()[0].vertices[:, 1].mean() for bars in ax.collections]
    told = table.loc[table["significant"], ["measure_a", "measure_b"]].drop_duplicates()
    assert len(set(np.round(middles, 3))) == len(told) > 1
    assert {text.get_text() for text in ax.texts} == {"good:poor", "good:third", "poor:third"}


def test_groups_get_panels(frame):
    grouped = frame.assign(group=np.arange(600) % 3).rankeval(by="group")
    panels = grouped.plot.precision([10, 20], col_wrap=2, title="all")
    assert len(panels) == 3
    assert [ax.get_title() for ax in panels] == ["group = 0", "group = 1", "group = 2"]
    assert all(ax.get_legend() is None for ax in panels)
    (shared,) = panels[0].figure.legends
    assert [text.get_text() for text in shared.get_texts()][:2] == ["good", "poor"]
    table = grouped.nbest_precision([10, 20])
    for number, ax in enumerate(panels):
        line = next(x for x in ax.get_lines() if x.get_label() == "good")
        rows = table[(table["group"] == number) & (table["measure"] == "good")]
        np.testing.assert_array_equal(line.get_ydata(), rows["precision"])
    sets = [
        xr.Dataset({c: ("candidate", frame[c].to_numpy()[k::3]) for c in frame}) for k in (0, 1)
    ]
    stacked = xr.concat(sets, "part")
    batch = stacked.rankeval.plot.roc()
    assert [ax.get_title() for ax in batch] == ["part = 0", "part = 1"]
    _, given = plt.subplots(1, 3)
    assert list(grouped.plot.roc(ax=given)) == list(given)
    with pytest.raises(ValueError, match="ax has 2 Axes, and there are 3 groups"):
        grouped.plot.roc(ax=given[:2])
    many = frame.assign(group=np.arange(600) // 20).rankeval(by="group")
    with pytest.raises(ValueError, match=r"there are 30 groups of group.*24 panels"):
        many.plot.precision([5])


def test_table_without_its_notes_is_drawn_still(frame):
    table = frame.rankeval.nbest_precision([10, 20])
    table.attrs.clear()
    assert "interval, pointwise" in legend(plotting.precision(table))


def test_empty_table_gives_empty_axes(frame):
    empty = frame.iloc[:0].rankeval.nbest_precision()
    assert rankeval_pd.plotting.precision(empty).get_ylabel() == "precision"


# --------------------------------------------------------------------- curves, chance beside them


def line(ax, name):
    return next(x for x in ax.get_lines() if name in str(x.get_label()).replace("\u00a0", " "))


@pytest.mark.parametrize(
    ("space", "x", "y"),
    [
        ("roc", "fpr", "tpr"),
        ("precision_recall", "recall", "precision"),
        ("det", "fpr", "fnr"),
        ("lift", "share", "lift"),
        ("gain", "share", "tpr"),
    ],
)
def test_curves_bands_and_isolines_are_the_tables(frame, space, x, y):
    curve = getattr(frame.rankeval, space)()
    band = frame.rankeval.random_band(space, [0.05, 0.001])
    together = frame.rankeval.random_band(space, 0.05, simultaneous=True)
    lines = frame.rankeval.isolines([30, 200], space)
    ax = getattr(plotting, space)(curve, bands=[band, together], isolines=lines)
    good = curve[curve["measure"] == "good"]
    np.testing.assert_array_equal(line(ax, "good").get_xydata(), good[[x, y]])
    rows = band[band["p"] == 0.001]
    drawn = line(ax, "p ≤ 0.001, each n alone").get_xydata()
    np.testing.assert_array_equal(drawn, rows[[x, y]])
    drawn = line(ax, "p ≤ 0.05, all n together").get_xydata()
    np.testing.assert_array_equal(drawn, together[[x, y]])
    drawn = line(ax, "all lists of one n").get_xydata()
    np.testing.assert_array_equal(drawn, lines.loc[lines["n"] == 30, [x, y]])
    assert {"30", "200"} <= {text.get_text() for text in ax.texts}
    assert ax.get_xscale() == ("function" if space == "det" else "linear")


def test_crossovers_are_marked_on_the_curve(frame):
    runs = frame.rankeval.crossovers([0.05, 1e-6])
    curve = frame.rankeval.roc()
    ax = plotting.roc(curve, crossovers=runs)
    first = runs.drop_duplicates(["measure", "p"])
    marks = [x.get_xydata()[0] for x in ax.get_lines() if x.get_marker() in "os"]
    wanted = [
        curve.loc[(curve["measure"] == m) & (curve["n"] == n), ["fpr", "tpr"]].to_numpy()[0]
        for m, n in zip(first["measure"], first["n_first"], strict=True)
    ]
    np.testing.assert_array_equal(marks, wanted)
    assert "first of ≥ 2 n above chance" in legend(ax)
    texts = [text.get_text().replace("\u00a0", " ") for text in ax.texts]
    assert f"n = {first['n_first'].iloc[0]}" in texts


def test_crossovers_need_levels(frame):
    with pytest.raises(ValueError, match=r"crossovers=True without bands: name the levels"):
        frame.rankeval.plot.gain(crossovers=True)


def test_bands_of_another_space_are_refused(frame):
    with pytest.raises(ValueError, match=r"no columns share, lift.*random_band in space='lift'"):
        plotting.lift(frame.rankeval.lift(), bands=frame.rankeval.random_band())


def test_chance_is_drawn(frame):
    ax = plotting.precision_recall(frame.rankeval.precision_recall())
    heights = line(ax, "random, on average").get_ydata()
    assert heights == pytest.approx(frame["gold"].mean(), rel=1e-14)
    x, y = line(plotting.det(frame.rankeval.det()), "random, on average").get_data()
    np.testing.assert_array_equal(y, 1 - x)


def test_shares_on_a_logarithmic_axis_are_not_all_zero(frame):
    ax = plotting.gain(frame.rankeval.gain(), log=True)
    assert ax.xaxis.get_major_formatter()(0.001, 0) == "0.1%"


def test_distribution_functions_are_the_table(frame):
    table = frame.rankeval.random_cdf(20)
    bound = frame.rankeval.random_bound([0.5, 0.1], 20)
    ax = plotting.random_cdf(table, bound)
    for kind in ("discrete", "interpolated", "parametric"):
        np.testing.assert_array_equal(line(ax, kind).get_xydata(), table[["tp", kind]])
    for row in bound.itertuples():
        places = [x.get_xydata()[0] for x in ax.get_lines() if x.get_label() == "_interpolated"]
        assert any(np.allclose(at, [row.interpolated, 1 - row.p]) for at in places)
        assert f"bounds at p = {row.p:g}: {row.discrete:.4g}, {row.interpolated:.4g}" in legend(ax)
    with pytest.raises(ValueError, match=r"table has 2 list sizes, and a picture shows one"):
        plotting.random_cdf(frame.rankeval.random_cdf([5, 6]))


def test_envelope_beside_the_bound(frame):
    ax = frame.rankeval.plot.random_bound([0.05, 0.001], range(20, 100), log=True)
    counts = frame.rankeval.random_envelope(0.001, range(20, 100))
    drawn = line(ax, "p ≤ 0.001, all n together").get_ydata()
    np.testing.assert_array_equal(drawn, counts["envelope"] / counts["n"])
    assert ax.get_xscale() == "log"
    alone = frame.rankeval.plot.random_bound(0.05, simultaneous=False)
    assert "all n together" not in legend(alone)
    endless = frame.rankeval.plot.random_bound(0.05, range(1, 700), population="infinite")
    assert "all n together" not in legend(endless)


def test_precision_of_blocks():
    """Each measure has its own blocks of equal scores, and a point at the end of each."""
    df = rankeval_pd.datasets.simulate_candidates(
        300, quality={"good": 1.5, "fair": 1.0}, decimals=1
    )
    drawn = df.rankeval(ties="blocks").plot.precision(reference=False)
    ends = {
        name: len(rows)
        for name, rows in df.rankeval(ties="blocks").nbest_precision().groupby("measure")
    }
    lines = {line.get_label(): len(line.get_xdata()) for line in drawn.get_lines()}
    assert {name: lines[name] for name in ends} == ends
