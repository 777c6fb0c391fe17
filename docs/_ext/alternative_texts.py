"""Alternative text for plots in code cells: the section and what each plot shows."""

from __future__ import annotations

import inspect
import re
from typing import Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

import rankeval_pd


def what_is_drawn(code: str) -> str:
    """Return the first docstring line of each plot function that this code calls."""
    names = re.findall(r"\bplot(?:ting)?\.(\w+)\(", code)
    plots = [getattr(rankeval_pd.plotting, name, None) for name in dict.fromkeys(names)]
    lines = [
        str(inspect.getdoc(plot)).splitlines()[0] for plot in plots if inspect.isfunction(plot)
    ]
    return " ".join(re.sub(r":\w+:`(\w+)`", r"\1", line) for line in lines)


class AlternativeTexts(SphinxPostTransform):
    """Add ``alt`` text to each image that lacks it."""

    default_priority = 900

    def run(self, **_: Any) -> None:
        for image in self.document.findall(nodes.image):
            if image.get("alt") and "/" not in image["alt"]:
                continue
            if "_thumb." in image["uri"]:  # the title stands below it
                image["alt"] = ""
                continue
            section, code = self._around(image)
            drawn = what_is_drawn(code)
            stop = "" if section.endswith(("?", ".", "!")) else "."
            image["alt"] = f"{section}{stop} {drawn}" if drawn else f"Picture: {section}"

    def _around(self, image: nodes.Element) -> tuple[str, str]:
        section, code, node = "", "", image.parent
        while node is not None:
            if "cell" in node.get("classes", []):
                code = "\n".join(x.astext() for x in node.findall(nodes.literal_block))
            if isinstance(node, nodes.section) and not section:
                section = node.next_node(nodes.title).astext()
            node = node.parent
        return section, code


def setup(app: Any) -> dict[str, bool]:
    app.add_post_transform(AlternativeTexts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
