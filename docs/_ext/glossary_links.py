"""Link the first use of each glossary term on a page to its definition."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes

WHERE = "start/glossary"
#: nodes whose text is not changed
LEFT = (nodes.title, nodes.literal, nodes.literal_block, nodes.reference, nodes.math, nodes.term)
#: terms with a single meaning on all pages; other terms are linked by hand
UNMISTAKABLE = (
    "acceptance set", "acceptance region", "difference region", "n-best list", "pointwise",
    "simultaneous", "sup-t", "max-t", "wild bootstrap", "Monte Carlo error", "baseline precision",
    "lift", "overdispersion", "tied block", "mid-p", "acceptance threshold", "hypergeometric",
    "sufficient statistics", "coverage", "macro average", "micro average", "random model",
)  # fmt: skip


def link_first_uses(app: Any, doctree: nodes.document, docname: str) -> None:
    if docname == WHERE or docname.startswith(("api/", "gallery/", "changelog")):
        return
    known = app.env.get_domain("std").objects
    for term in UNMISTAKABLE:
        found = known.get(("term", term))
        if found is not None:
            _link(app, doctree, docname, term, found[1])


def _link(app: Any, doctree: nodes.document, docname: str, term: str, anchor: str) -> None:
    # "pointwise" of an interval is in the glossary, pointwise mutual information is not
    pattern = re.compile(rf"\b{re.escape(term)}s?\b(?! mutual)", re.IGNORECASE)
    for text in list(doctree.findall(nodes.Text)):
        match = pattern.search(text)
        if match is None or not _is_prose(text):
            continue
        target = app.builder.get_relative_uri(docname, WHERE) + f"#{anchor}"
        link = nodes.reference("", match.group(), refuri=target, internal=True, classes=["term"])
        before, after = text[: match.start()], text[match.end() :]
        text.parent.replace(text, [nodes.Text(before), link, nodes.Text(after)])
        return


def _is_prose(text: nodes.Text) -> bool:
    node, in_paragraph = text.parent, False
    while node is not None:
        if isinstance(node, (*LEFT, addnodes.desc, addnodes.toctree)):
            return False
        if "cell" in getattr(node, "attributes", {}).get("classes", []):
            return False
        in_paragraph = in_paragraph or isinstance(node, nodes.paragraph)
        node = node.parent
    return in_paragraph


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-resolved", link_first_uses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
