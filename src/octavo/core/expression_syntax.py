"""Parse expressions into functions that evaluate them."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from .expression_methods import ARROW_METHODS, UNARY, ArrowFunction, binary, call, member
from .expression_values import (
    BLANKS,
    UNDEFINED,
    Code,
    Evaluation,
    ExpressionError,
    RegularExpression,
    Scope,
    inward,
    truthy,
)

MAX_LENGTH = 1024
MAX_DEPTH = 64


class Expression:
    """Parsed expression. ``roots``: the names that it reads from its context."""

    def __init__(self, source: str, roots: frozenset[str], code: Code) -> None:
        self.source = source
        self.roots = roots
        self.code = code


@lru_cache(maxsize=4096)
def parse(expression: str) -> Expression:
    """Parse an expression. Results are cached. Raises ``ExpressionError`` if the expression is invalid."""
    if len(expression) > MAX_LENGTH:
        raise ExpressionError(f"the expression must be at most {MAX_LENGTH:,} characters long", MAX_LENGTH)
    parser = _Parser(expression)
    node = parser.expression()
    if parser.kind != "end":
        parser.fail(f"unexpected {parser.text!r}")
    return Expression(expression, frozenset(parser.roots), node.code)


_POWER = {
    "?": 1,
    "??": 2,
    "||": 3,
    "&&": 4,
    **dict.fromkeys(("==", "!=", "===", "!=="), 5),
    **dict.fromkeys(("<", "<=", ">", ">=", "in"), 6),
    **dict.fromkeys("+-", 7),
    **dict.fromkeys("*/%", 8),
}
_UNARY_POWER = 9
_CONSTANTS: dict[str, Any] = {
    "true": True,
    "false": False,
    "null": None,
    "undefined": UNDEFINED,
    "NaN": math.nan,
    "Infinity": math.inf,
}
_RESERVED = re.compile(
    r"(?:await|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|export|extends|finally|for"
    r"|function|if|import|in|instanceof|let|new|return|static|super|switch|this|throw|try|typeof|var|void|while|with"
    r"|yield)\Z"
)
_TOKEN = re.compile(
    r"(?P<number>0[xX][0-9a-fA-F]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d][\w$]*|\$[\w$]*)"
    r"|(?P<string>\"(?:\\.|[^\"\\\n\r])*\"|'(?:\\.|[^'\\\n\r])*')"
    r"|(?P<operator>=>|===|!==|==|!=|<=|>=|&&|\|\||\?\?|\?\.(?![0-9])|[-+*/%!<>?:.,()\[\]`}])",
    re.DOTALL,
)
_ARROW = re.compile(r"(?:\(\s*([A-Za-z_$][\w$]*\s*(?:,\s*[A-Za-z_$][\w$]*\s*)*)\)|([A-Za-z_$][\w$]*))\s*=>")
_PATTERN = re.compile(
    r"/((?:[^/\\\[\n\r*]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*\])(?:[^/\\\[\n\r]|\\[^\n\r]|"
    r"\[(?:[^\]\\\n\r]|\\[^\n\r])*\])*)"
    r"/([A-Za-z]*)"
)
_TEMPLATE_TEXT = re.compile(r"(?:\\.|\$(?!\{)|[^\\`$])*", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_ESCAPED = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)


class _Node(NamedTuple):
    code: Code
    height: int


def _constant(value: object) -> Code:
    return lambda run, scope: value


def _name(name: str, position: int) -> Code:
    def code(run: Evaluation, scope: Scope) -> object:
        run.step(1, position)
        if name not in scope:
            raise ExpressionError(f"{name!r} isn't defined", position)
        return inward(scope[name])

    return code


def _read(target: Code, key: Code) -> Code:
    def code(run: Evaluation, scope: Scope) -> object:
        run.step()
        value = target(run, scope)
        if value is None or value is UNDEFINED:
            return UNDEFINED
        return member(run, value, key(run, scope))

    return code


def _infix(operator: str, left: Code, right: Code, position: int) -> Code:
    def code(run: Evaluation, scope: Scope) -> object:
        run.step(1, position)
        return binary(run, operator, left(run, scope), right(run, scope), position)

    return code


def _logic(continues: Callable[[object], bool], parts: list[Code]) -> Code:
    """Return the function for a chain of one logical operator. It returns the first value that decides the result, or
    the last value."""

    def code(run: Evaluation, scope: Scope) -> object:
        value: Any = UNDEFINED
        for part in parts:
            run.step()
            value = part(run, scope)
            if not continues(value):
                break
        return value

    return code


_LOGIC: dict[str, Callable[[Any], bool]] = {
    "&&": truthy,
    "||": lambda value: not truthy(value),
    "??": lambda value: value is None or value is UNDEFINED,
}


class _Parser:
    """Compiler that converts tokens to closures according to the binding power of operators. ``kind``, ``text``, and
    ``start``: properties of the current token."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.end = 0
        self.depth = 0
        self.roots: set[str] = set()
        self.parameters: list[str] = []
        self.advance()

    def fail(self, message: str, position: int | None = None) -> object:
        raise ExpressionError(message, self.start if position is None else position)

    def advance(self) -> None:
        source, at = self.source, self.end
        while at < len(source) and source[at] in BLANKS:
            at += 1
        self.start = at
        match = _TOKEN.match(source, at)
        if match:
            self.kind, self.text, self.end = str(match.lastgroup), match[0], match.end()
            follows = source[self.end : self.end + 1]
            if self.kind == "number" and (follows.isalnum() or follows in ("_", "$")) and follows:
                self.fail("not a valid number")
        elif at == len(source):
            self.kind, self.text, self.end = "end", "end of the expression", at
        else:
            self.fail(f"unexpected {source[at]!r}")

    def take(self, text: str) -> bool:
        if self.kind == "operator" and self.text == text:
            self.advance()
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.take(text):
            self.fail(f"expected {text!r}, found {self.text!r}")

    def node(self, code: Code, *parts: _Node) -> _Node:
        height = 1 + max((part.height for part in parts), default=0)
        if height > MAX_DEPTH:
            self.fail(f"the expression is nested more than {MAX_DEPTH} levels deep")
        return _Node(code, height)

    def expression(self, power: int = 0) -> _Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"the expression is nested more than {MAX_DEPTH} levels deep")
        left = self.unary()
        logic = ""
        while self.kind in ("operator", "name"):
            operator, position = self.text, self.start
            binds = _POWER.get(operator, 0)
            if binds <= power:
                break
            if operator == "?":
                left = self.ternary(left)
            elif operator in _LOGIC:
                if logic and "??" in (logic, operator) and logic != operator:
                    self.fail("mixing `??` with `||` or `&&` requires parentheses")
                logic = operator
                parts = [left]
                while self.take(operator):
                    parts.append(self.expression(4 if operator == "??" else binds))
                left = self.node(_logic(_LOGIC[operator], [part.code for part in parts]), *parts)
            else:
                self.advance()
                right = self.expression(binds)
                left = self.node(_infix(operator, left.code, right.code, position), left, right)
        self.depth -= 1
        return left

    def ternary(self, test: _Node) -> _Node:
        self.expect("?")
        yes = self.expression()
        self.expect(":")
        no = self.expression()
        test_code, yes_code, no_code = test.code, yes.code, no.code

        def code(run: Evaluation, scope: Scope) -> object:
            run.step()
            return yes_code(run, scope) if truthy(test_code(run, scope)) else no_code(run, scope)

        return self.node(code, test, yes, no)

    def unary(self) -> _Node:
        if self.text not in UNARY or self.kind not in ("operator", "name"):
            return self.postfix(self.primary())
        operate = UNARY[self.text]
        self.advance()
        operand = self.expression(_UNARY_POWER)
        inner = operand.code

        def code(run: Evaluation, scope: Scope) -> object:
            run.step()
            return operate(run, inner(run, scope))

        return self.node(code, operand)

    def postfix(self, left: _Node) -> _Node:
        while True:
            position = self.start
            if self.take("["):
                left = self.index(left)
            elif self.take("?."):
                left = self.index(left) if self.take("[") else self.name_or_call(left, position)
            elif self.take("."):
                left = self.name_or_call(left, position)
            else:
                return left

    def index(self, left: _Node) -> _Node:
        key = self.expression()
        self.expect("]")
        return self.node(_read(left.code, key.code), left, key)

    def name_or_call(self, left: _Node, position: int) -> _Node:
        if self.kind != "name":
            self.fail(f"expected a name, found {self.text!r}")
        name = self.text
        self.advance()
        if not (self.kind == "operator" and self.text == "("):
            return self.node(_read(left.code, _constant(name)), left)
        self.advance()
        values: list[_Node] = []
        arrow: ArrowFunction | None = None
        while not self.take(")"):
            if values or arrow:
                self.expect(",")
                if self.take(")"):
                    break
            start = self.start
            if parameters := self.arrow_parameters():
                if values or arrow or name not in ARROW_METHODS:
                    self.fail(f"{name!r} doesn't accept a function", start)
                self.parameters += parameters
                body = self.expression()
                del self.parameters[-len(parameters) :]
                arrow = ArrowFunction(parameters, body.code)
                # Count the height of the body; the value is that of the arrow function.
                left = self.node(left.code, left, body)
            else:
                values.append(self.expression())
        if arrow and values:
            self.fail(f"{name!r} requires exactly one function", position)
        code = call(name, left.code, [value.code for value in values], arrow, position)
        return self.node(code, left, *values)

    def arrow_parameters(self) -> list[str]:
        """Consume and return the names before ``=>``. If no arrow follows, consume nothing and return an
        empty list."""
        match = _ARROW.match(self.source, self.start)
        if not match:
            return []
        names = [name.strip() for name in (match[1] or match[2]).split(",")]
        for name in names:
            if _RESERVED.match(name) or name in _CONSTANTS or names.count(name) > 1:
                self.fail(f"{name!r} can't be used as a parameter name")
        self.end = match.end()
        self.advance()
        return names

    def primary(self) -> _Node:
        kind, text, position = self.kind, self.text, self.start
        if kind == "operator":
            if self.take("("):
                inner = self.expression()
                self.expect(")")
                return inner
            if self.take("["):
                return self.list_literal()
            if text == "`":
                return self.template()
            if text == "/":
                return self.pattern()
        if kind in ("operator", "end"):
            self.fail(f"unexpected {text!r}" if kind == "operator" else "the expression is incomplete")
        self.advance()
        if kind == "number":
            return self.node(_constant(float(int(text, 16)) if text[:2] in ("0x", "0X") else float(text)))
        if kind == "string":
            return self.node(_constant(inward(self.unescape(text[1:-1], position))))
        if text in _CONSTANTS:
            return self.node(_constant(_CONSTANTS[text]))
        if _RESERVED.match(text):
            self.fail(f"unexpected {text!r}", position)
        if text not in self.parameters:
            self.roots.add(text)
        return self.node(_name(text, position))

    def list_literal(self) -> _Node:
        items: list[_Node] = []
        while not self.take("]"):
            if items:
                self.expect(",")
                if self.take("]"):
                    break
            items.append(self.expression())
        codes = [item.code for item in items]

        def code(run: Evaluation, scope: Scope) -> object:
            run.step()
            return [item(run, scope) for item in codes]

        return self.node(code, *items)

    def pattern(self) -> _Node:
        """Parse a regular expression. The current token is its first slash."""
        match = _PATTERN.match(self.source, self.start)
        if not match:
            raise ExpressionError("unterminated regular expression", self.start)
        if set(match[2]) - set("gimsu") or len(set(match[2])) < len(match[2]):
            self.fail("regular expressions support only the flags g, i, m, s, and u")
        try:
            found = RegularExpression(match[1], match[2])
        except ValueError as error:
            self.fail(f"not a valid RE2 regular expression: {error}")
        self.end = match.end()
        self.advance()
        return self.node(_constant(found))

    def template(self) -> _Node:
        """Parse a template literal. The current token is its first backtick. ``end``: the position just after that
        backtick."""
        parts: list[_Node] = []
        opening = self.start
        while True:
            match = _TEMPLATE_TEXT.match(self.source, self.end)
            text = match[0] if match else ""
            raw = re.sub(r"\r\n?", "\n", text)
            parts.append(self.node(_constant(inward(self.unescape(raw, self.end)))))
            self.end += len(text)
            if self.source.startswith("`", self.end):
                self.end += 1
                self.advance()
                break
            if not self.source.startswith("${", self.end):
                self.fail("unterminated template literal", opening)
            self.end += 2
            self.advance()
            parts.append(self.expression())
            if not (self.kind == "operator" and self.text == "}"):
                self.fail(f"expected '}}', found {self.text!r}")
        codes = [part.code for part in parts]

        def code(run: Evaluation, scope: Scope) -> object:
            found = ""
            for part in codes:
                run.step()
                found = run.bounded(found + run.text(part(run, scope)), opening)
            return found

        return self.node(code, *parts)

    def unescape(self, text: str, position: int) -> str:
        def plain(match: re.Match[str]) -> str:
            digits = match[1] or match[2] or match[3]
            if digits is None:
                if match[4] in ("u", "x") or match[4] in "123456789":
                    self.fail("unknown escape sequence", position)
                return _ESCAPES.get(match[4], match[4])
            if int(digits, 16) > sys.maxunicode:
                self.fail("no character has this code", position)
            return chr(int(digits, 16))

        return _ESCAPED.sub(plain, text)
