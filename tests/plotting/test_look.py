"""Colors, ink, highlights, and numbers as they are written."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import same_color, to_hex

from rankeval_pd.plotting import caption
from rankeval_pd.plotting.look import (
    HUES,
    Ink,
    contrast,
    escaped,
    in_tex,
    interval_text,
    luminance,
    mixed_color,
    number,
    percent,
)
from tests.plotting.seen import color, line
from tests.questions import NAMES, candidates

# ----------------------------------------------------------------------------------------- colors


@pytest.mark.parametrize(
    ("one", "other", "published"),
    [  # WebAIM's contrast checker and WCAG's techniques G17, G18
        ("black", "white", 21.0), ("#777777", "white", 4.48), ("#767676", "white", 4.54),
        ("#949494", "white", 3.03), ("red", "white", 4.0), ("blue", "white", 8.59),
        ("white", "white", 1.0), ("#595959", "white", 7.0),
    ],
)  # fmt: skip
def test_contrast_is_that_of_wcag(one, other, published):
    assert contrast(one, other) == contrast(other, one) == pytest.approx(published, abs=0.005)
    assert luminance("white") == pytest.approx(1.0)
    assert luminance("black") == 0.0


@pytest.mark.parametrize(("fg", "bg"), [("#000000", "#ffffff"), ("#ffffff", "#000000")])
def test_ink_is_legible_on_white_and_black(fg, bg):
    ink = Ink(fg, bg)
    assert ink.dark == (bg == "#000000")
    for hue in (*HUES, "yellow", "#eeeeee", "#111111"):
        assert contrast(ink.line(hue), bg) >= 3.0
        assert contrast(ink.text(hue), bg) >= 4.5
    for hue in HUES:
        assert ink.line(hue) == hue.lower()  # as they are
    assert contrast(ink.note, bg) >= 4.5
    assert contrast(ink.reference, bg) >= 3.0
    assert contrast(ink.muted, bg) < contrast(ink.reference, bg)
    assert mixed_color("white", "black", 0.2) == "#333333"


def test_ink_is_that_of_the_axes_and_of_the_figure_around():
    _, ax = plt.subplots(facecolor="black")
    assert Ink.of(ax) == Ink("#000000", "#ffffff")
    assert Ink.of(ax, outside=True) == Ink("#ffffff", "#000000")  # black on black is none
    ax.patch.set_visible(False)
    assert Ink.of(ax) == Ink.of(ax, outside=True)


def test_colors_that_are_asked_for():
    ask = candidates(names=2).rankeval.plot.gain
    for colors, wanted in (
        ({"G2": "red"}, "red"), (["C3", "C4"], "C3"), ("tab10", mpl.color_sequences["tab10"][0]),
        ("viridis", mpl.colormaps["viridis"](0.05)),
    ):  # fmt: skip
        assert same_color(line(ask(colors=colors), "G2").get_color(), wanted)
    with plt.rc_context({"axes.prop_cycle": plt.cycler(color=["navy", "lime"])}):
        ax = ask()
    assert same_color(color(ax, "G2"), "navy")
    assert color(ax, "_z") == Ink.of(ax).line("lime") != to_hex("lime")  # 3:1 on white
    with pytest.raises(ValueError, match="colors='no such' is neither a color nor a palette of"):
        ask(colors="no such")


def test_highlighted_names_are_drawn_over_gray_ones():
    ask = candidates().rankeval.plot.precision
    ax = ask(highlight=["G2"], simultaneous=False, target="nbest")
    others = [line(ax, name.replace("$", r"\$")) for name in NAMES[1:5]]
    assert {x.get_color() for x in others} == {Ink.of(ax).muted}
    assert max(x.get_zorder() for x in others) < line(ax, "G2").get_zorder()
    assert len(ax.collections) == 1  # one band
    assert "In gray:  _z, " in caption(ax)
    assert len(ax.get_lines()) == 5 + 2 + 1  # the edges of the band, and a random order
    with pytest.raises(ValueError, match="highlight='X2' is not one of the names in the plot"):
        ask([5], highlight="X2")


# ---------------------------------------------------------------------------------------- numbers


def test_numbers_are_written_as_in_print():
    assert [number(x, 2) for x in (0.256, -0.05, -0.001, 1234.5, np.nan, -np.inf)] == [
        "0.26", "−0.05", "0.00", "1,234.50", "–", "−∞",
    ]  # fmt: skip
    assert [number(x, 0) for x in (10.2, -3.0, 0.2)] == ["10", "−3", "0"]
    assert interval_text(0.26, 0.32, 2) == "0.26–0.32"
    assert interval_text(-0.05, 0.05, 2) == "−0.05 to 0.05"
    assert [percent(x) for x in (0.11, 0.0995, 0.098, 0.0095, 0.0043, 1.0)] == [
        "11%", "10%", "9.8%", "0.9%", "0.43%", "100%",
    ]  # fmt: skip


def test_texts_for_tex_are_escaped():
    with plt.rc_context({"text.usetex": True}):
        assert escaped("90 %_x") == r"90 \%\_x"
        assert in_tex("95% band, p ≤ 0.05") == r"95\% band, p $\leq$ 0.05"
