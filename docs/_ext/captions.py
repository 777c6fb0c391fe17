"""Images of the gallery, with the caption of each picture as its alternative text."""

from __future__ import annotations

import re
from typing import Any

import matplotlib.pyplot as plt
from sphinx_gallery.scrapers import matplotlib_scraper

import rankeval_pd


def scraper(block: Any, block_vars: dict[str, Any], gallery_conf: Any, **more: Any) -> str:
    """Save the figures, and say in the alternative text of each what it shows."""
    texts = [described(plt.figure(number)) for number in plt.get_fignums()]
    written = matplotlib_scraper(block, block_vars, gallery_conf, **more)
    left = iter(texts)
    return re.sub(r"(?m)^( *:alt:).*$", lambda line: f"{line[1]} {next(left)}", written)


def described(figure: Any) -> str:
    """Return the axes' names and the caption of a figure."""
    drawn = [ax for ax in figure.axes if ax.has_data()]
    axes = dict.fromkeys(" over ".join(filter(None, labels_of(ax))) for ax in drawn)
    named = "; ".join(filter(None, axes))
    text = rankeval_pd.plotting.caption(drawn)
    return " ".join(f"{named}. {text}".removeprefix(". ").split())


def labels_of(ax: Any) -> tuple[str, str]:
    """Return what the two axes show."""
    return ax.get_ylabel(), ax.get_xlabel()


def _get_sg_image_scraper() -> Any:
    return scraper
