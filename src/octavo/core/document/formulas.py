"""Convert TeX formulas to MathML, restricted by an allow-list."""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

FORMULA_MAX = 4000
_DEPTH_MAX = 100
_ELEMENTS = frozenset(
    "math mrow mi mn mo ms mspace mtext mfrac msqrt mroot mstyle merror mpadded mphantom msub msup msubsup "
    "munder mover munderover mmultiscripts mprescripts none mtable mtr mtd mlabeledtr menclose".split()
)
_ATTRIBUTES = frozenset(
    "accent accentunder columnalign columnlines columnspacing depth display displaystyle fence form frame height "
    "linebreak linethickness lspace mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits "
    "notation rowalign rowlines rowspacing rspace scriptlevel separator stretchy symmetric voffset width".split()
)
# Operators with limits above and below them in display formulas, and next to them within a line.
_WITH_LIMITS = frozenset(
    "lim limsup liminf max min sup inf det gcd Pr argmax argmin ∑ ∏ ∐ ⋃ ⋂ ⋁ ⋀ ⨁ ⨂ ⨀ ⨄ ⨆".split()
)
_LIMITS = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}
_VALUE = re.compile(r"[\w#.,+% -]{0,64}", re.ASCII)
# Environments unknown to the converter, mapped to known ones that look the same.
_SAME = {
    "aligned": "align*",
    "alignedat": "align*",
    "gathered": "matrix",
    "gather": "matrix",
    "gather*": "matrix",
    "equation": "",
    "equation*": "",
    "dcases": "cases",
}
_ENVIRONMENT = re.compile(r"\\(begin|end)\{([a-z]+\*?)\}")


def _known(match: re.Match[str]) -> str:
    name = _SAME.get(match[2])
    if name is None:
        return match[0]
    return f"\\{match[1]}{{{name}}}" if name else ""


def _write(root: Element) -> Markup:
    out: list[str] = []
    stack: list[Element | str] = [root]
    while stack:
        here = stack.pop()
        if isinstance(here, str):
            out.append(here)
            continue
        attributes = "".join(f' {name}="{escape(value)}"' for name, value in here.items())
        out.append(f"<{here.tag}{attributes}>{escape(here.text or '')}")
        stack.append(f"</{here.tag}>")
        stack.extend(reversed(here))
    return Markup("".join(out))  # noqa: S704


def _depth(formula: str) -> int:
    depth = deepest = 0
    for char in formula:
        depth += (char == "{") - (char == "}")
        deepest = max(deepest, depth)
    return deepest + formula.count("\\left") + formula.count("\\begin")


def _move_limits(root: Element) -> None:
    """Move limits above and below all operators. The converter does this only for sums and products."""
    for here in root.iter():
        base = here[0] if here.tag in _LIMITS and len(here) else None
        if base is not None and base.tag == "mo" and "".join((base.text or "").split()) in _WITH_LIMITS:
            here.tag = _LIMITS[here.tag]
            # Within a fraction, for example, they move back next to the operator.
            base.set("movablelimits", "true")


def formula(written: str, block: bool = False) -> Element | None:
    """Return the MathML tree of a TeX formula, with known elements and attributes only, or ``None`` if it can't
    be converted."""
    if len(written) > FORMULA_MAX or _depth(written) > _DEPTH_MAX:
        return None
    from latex2mathml.converter import convert_to_element

    try:
        root = convert_to_element(_ENVIRONMENT.sub(_known, written), display="block" if block else "inline")
    except Exception:  # noqa: BLE001 - the converter raises all kinds of errors for bad input
        return None
    root.attrib.pop("xmlns", None)
    for here in root.iter():
        if here.tag not in _ELEMENTS:
            return None
        # The converter leaves entities in its texts and escapes nothing, so decode them here.
        here.text = unescape(here.text or "")
        # The converter outputs an unknown command as its own name; showing the source is better.
        if re.match(r"\\[A-Za-z]", here.text):
            return None
        for name, value in list(here.items()):
            if name not in _ATTRIBUTES or not _VALUE.fullmatch(value):
                del here.attrib[name]
    if block and "\\nolimits" not in written:
        _move_limits(root)
    return root


@lru_cache(maxsize=2048)
def mathml(written: str, block: bool = False) -> Markup | None:
    """Return the MathML of a TeX formula, or ``None`` if it can't be converted (the formula is then shown as
    written).

    >>> str(mathml("a<b"))
    '<math display="inline"><mrow><mi>a</mi><mo>&lt;</mo><mi>b</mi></mrow></math>'
    """
    root = formula(written, block)
    return None if root is None else _write(root)
