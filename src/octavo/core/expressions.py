"""Conditions, inline expressions, and custom merge rules: a small, closed part of JavaScript.

Values are JSON values plus ``undefined``; they behave as in JavaScript (truthiness, ``==``, ``+``, comparisons, UTF-16
lengths) with one difference: a member or method of ``undefined`` or ``null`` is ``undefined`` instead of an error, so a
claim that a visitor doesn't have counts as false. Expressions can access only the keys of the given data and the
methods in this package. There is no assignment, and the number of steps is limited. RE2 runs regular expressions in
time linear in the length of the text, so they have no lookahead, lookbehind, or backreferences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .expression_syntax import Expression, parse
from .expression_values import UNDEFINED, Evaluation, ExpressionError, truthy

# All roots except ``visitor``: the same for every reader of a revision.
DETERMINISTIC_ROOTS = frozenset({"space", "page"})


def evaluate(expression: str | Expression, context: Mapping[str, object]) -> object:
    """Return the value as plain data (``undefined`` becomes ``None``, whole numbers ``int``). Raises
    ``ExpressionError`` for invalid syntax, a name that isn't in ``context``, or an exceeded limit."""
    run, value = _run(expression, context)
    return run.outward(value)


def is_true(expression: str | Expression, context: Mapping[str, object]) -> bool:
    """Return whether the value is truthy. Raises the same errors as ``evaluate``."""
    return truthy(_run(expression, context)[1])


def text_of(expression: str | Expression, context: Mapping[str, object]) -> str:
    """Return the value as inline text; ``undefined`` and ``null`` are empty. Raises the same errors as ``evaluate``."""
    run, value = _run(expression, context)
    return "" if value is None or value is UNDEFINED else str(run.outward(run.text(value)))


NOBODY: dict[str, Any] = {"claims": {"unsigned": {}}}
"""Visitor without any claims."""


class Shown:
    """Evaluation of the expressions in documents for one visitor. An expression that fails produces no text and counts
    as false. ``space`` and ``page``: the variables of the space and the page."""

    def __init__(
        self, space: Mapping[str, object], page: Mapping[str, object], visitor: Mapping[str, object] = NOBODY
    ) -> None:
        self._context = {"visitor": visitor, "space": {"vars": space}, "page": {"vars": page}}

    def text(self, expression: str) -> str:
        try:
            return text_of(expression, self._context)
        except ExpressionError:
            return ""

    def holds(self, expression: str) -> bool:
        try:
            return is_true(expression, self._context)
        except ExpressionError:
            return False

    def problem(self, expression: str) -> str | None:
        """Return the reason an expression can't be evaluated; None if it can."""
        try:
            is_true(expression, self._context)
        except ExpressionError as error:
            return str(error)
        return None


def is_deterministic(expression: str | Expression, roots: Iterable[str] = DETERMINISTIC_ROOTS) -> bool:
    """Return whether the expression reads only ``roots`` and therefore has the same value for every
    visitor."""
    parsed = parse(expression) if isinstance(expression, str) else expression
    return parsed.roots <= frozenset(roots)


def _run(expression: str | Expression, context: Mapping[str, object]) -> tuple[Evaluation, object]:
    parsed = parse(expression) if isinstance(expression, str) else expression
    run = Evaluation()
    return run, parsed.code(run, context)
