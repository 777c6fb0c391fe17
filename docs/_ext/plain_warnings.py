"""Show warnings from code cells without file names and line numbers."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

#: ``/tmp/ipykernel_1/2.py:3: RankevalWarning: words`` and the line of code below
_PLACED = re.compile(r"^\S+:\d+: (\w*Warning: .*)(?:\n  .*)?$", re.M)


class PlainWarnings(SphinxPostTransform):
    """Remove file names and line numbers from the stderr output of code cells."""

    default_priority = 900

    def run(self, **_: Any) -> None:
        for block in list(self.document.findall(nodes.literal_block)):
            if "stderr" in block["classes"]:
                words = _PLACED.sub(r"\1", block.astext())
                plain = nodes.literal_block(words, words, **block.attributes)
                block.replace_self(plain)


def setup(app: Any) -> dict[str, bool]:
    app.add_post_transform(PlainWarnings)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
