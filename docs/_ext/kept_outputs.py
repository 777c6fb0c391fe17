"""Leave the outputs that pages keep for the repository out of the site, which computes them."""

from __future__ import annotations

import re
from typing import Any

#: printed text and pictures, as ``docs/outputs.py`` writes them below a cell
KEPT = re.compile(
    r"\n```text output\n.*?^```\n|\n!\[[^\]]*\]\(\.\./_static/outputs/\w+\.png\)\n", re.S | re.M
)


def without(_: Any, docname: str, source: list[str]) -> None:
    source[0] = KEPT.sub("", source[0])


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", without)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
