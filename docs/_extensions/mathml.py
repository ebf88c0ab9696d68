"""Mathematics as MathML, made by docutils itself: the pages need no script, no font and no network to show it."""

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx


def _visit(self: nodes.NodeVisitor, node: nodes.math | nodes.math_block) -> None:
    """Write the formula in place of its source."""
    is_block = isinstance(node, nodes.math_block)
    formula = latex2mathml.tex2mathml(node.astext(), as_block=is_block)
    self.body.append(f'<div class="math">{formula}</div>' if is_block else formula)
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the renderer to ``html_math_renderer``."""
    app.add_html_math_renderer("mathml", (_visit, None), (_visit, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
