"""Render formulas as MathML, which requires no scripts, fonts or network access."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


def mathml(node: Any, *, inline: bool) -> str:
    """Return the formula as MathML, or warn and return the source if parsing fails."""
    # the browser sets the sizes of brackets
    source = node.astext()
    for sized in ("\\bigl", "\\bigr", "\\Bigl", "\\Bigr", "\\big", "\\Big"):
        source = source.replace(sized, "")
    same = {"\\tfrac": "\\frac", "\\dfrac": "\\frac", "\\dots": "\\ldots", "½": "\\frac{1}{2}"}
    for command, known in same.items():
        source = source.replace(command, known)
    # \frac12 means one half, not 12 over the next token
    source = re.sub(r"\\frac\s*(\d)\s*(\d)", r"\\frac{\1}{\2}", source)
    source = re.sub(r"(\\text\{[^{}]*\})", lambda found: found[1].replace("\\_", "_"), source)
    # add a space between a function name and a letter that follows
    source = re.sub(r"(\\operatorname\{\w+\}|\\ln)\s*(?=[A-Za-z])", r"\1\\,", source)
    try:
        return str(tex2mathml(source, as_block=not inline))
    except (MathError, SyntaxError, KeyError, IndexError) as error:
        logger.warning("formula not understood: %s (%s)", node.astext(), error, location=node)
        return f"<code>{nodes.unescape(node.astext())}</code>"


def inline_formula(writer: Any, node: Any) -> None:
    writer.body.append(mathml(node, inline=True))
    raise nodes.SkipNode


def block_formula(writer: Any, node: Any) -> None:
    writer.body.append(f'<div class="math">{mathml(node, inline=False)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline_formula, None), (block_formula, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
