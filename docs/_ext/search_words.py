"""List the best page first when the site is searched for a common word.

Each row of ``search_words.csv`` adds a hidden index entry to a page.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from sphinx import addnodes
from sphinx.transforms import SphinxTransform

TABLE = Path(__file__).with_name("search_words.csv")


def table() -> dict[str, str]:
    """Return the page for each search word."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {row["word"]: row["page"] for row in csv.DictReader(file)}


class SearchWords(SphinxTransform):
    """Add each page's search words to its index entries before the index is built."""

    default_priority = 800

    def apply(self, **_: Any) -> None:
        words = [word for word, page in table().items() if page == self.env.docname]
        if words:
            entries = [("single", word, "", "main", None) for word in words]
            self.document.insert(0, addnodes.index(entries=entries))


def setup(app: Any) -> dict[str, bool]:
    app.add_transform(SearchWords)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
