"""What all pages of the proof share: their places, how they were made, tables."""

import platform
import tomllib
from importlib import metadata
from pathlib import Path

import pandas as pd

NAMES = ("accuracy", "coverage", "elsewhere", "performance", "papers")
ROOT = Path(__file__).parents[3]
REFERENCE = ROOT / "tests" / "simulations"
TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
# the tables are wide: no list of headings beside them
WIDE = "---\nhtml_theme.sidebar_secondary.remove: true\n---\n\n"
# docs/_static/filter.js puts a field here, which hides rows of the page's tables
FILTER = '<div class="filter"></div>'


def place(name):
    return ROOT / "docs" / "validation" / f"{name}.md"


def command(name):
    return f"python -m tests.simulations.proof {name}"


def written(name, links=None, **computed):
    """Return a page: its text with what is computed, how it was made, and links to others."""
    text = TEXTS[name]
    made = f"`{command(name)}` generates this page and computes every number."
    links = led_to(name, links or text.get("beside", {}))
    said = versions(*text.get("packages", ()))
    page = text["page"].format(made=made, links=links, versions=said, filter=FILTER, **computed)
    return f"{WIDE}# {text['title']}\n\n{page}"


def beside(name, topic, title=None, **computed):
    """Return a page beside the page of this name, which explains it."""
    text = TEXTS[name].get(topic, "{sections}\n").format(**computed)
    return (
        f"{WIDE}# {title or TEXTS[name]['beside'][topic]}\n\nSee the [overview](../{name}.md) for"
        f" explanations. `{command(name)}` generates this page.\n\n{text}"
    )


def led_to(name, pages):
    """Return the links from a page to those beside it, by their titles."""
    links = "\n".join(f"* [{title}]({name}/{page}.md)" for page, title in pages.items())
    hidden = "\n".join(f"{name}/{page}" for page in pages)
    return f"{links}\n\n```{{toctree}}\n:hidden:\n\n{hidden}\n```"


def versions(*packages):
    named = ", ".join(f"{name} {metadata.version(name)}" for name in packages)
    return f"Python {platform.python_version()}, {named}."


def cell(value):
    """Return what stands in a cell: no stroke that would end it, NaN as a dash."""
    return "–" if pd.isna(value) else str(value).replace("|", "\\|")


def as_table(frame, right=()):
    """Return a Markdown table, numbers to the right."""
    head = [str(name) for name in frame.columns]
    numeric = {name for name in frame if pd.api.types.is_numeric_dtype(frame[name])} | set(right)
    edges = ["---:" if name in numeric else "---" for name in frame.columns]
    rows = [[cell(value) for value in row] for row in frame.itertuples(index=False)]
    table = "\n".join("| " + " | ".join(row) + " |" for row in [head, edges, *rows])
    return f":::{{container}} wide\n\n{table}\n\n:::"
