"""Read values from a JavaScript or TypeScript file without running it: literals, constants in the file or in
imported files, and the results of functions that return one of these. All other values are `UNKNOWN`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import tree_sitter_typescript
from msgspec import Struct
from tree_sitter import Language, Node, Parser, Query, QueryCursor

from octavo.core.json_types import JsonObject

MAX_CHARACTERS = 1024 * 1024
"""Maximum number of characters in a file, and maximum total number of characters in its imports."""
MAX_DEPTH = 100
MAX_VALUES = 200_000
MAX_MODULES = 100
"""Maximum number of files to request for a file and its imports."""
MAX_MODULE_DEPTH = 8

UNKNOWN: Any = type("Unknown", (), {"__repr__": lambda self: "UNKNOWN", "__bool__": lambda self: False})()
"""Placeholder for a value that could be determined only by running the file."""

_LANGUAGE = Language(tree_sitter_typescript.language_tsx())
"""Grammar of TypeScript with JSX, which includes JavaScript."""
_STATEMENTS = Query(
    _LANGUAGE,
    """
    (variable_declarator name: (identifier) @name value: (_) @value)
    (function_declaration name: (identifier) @name body: (_) @body)
    (import_statement source: (string) @path) @import
    (variable_declarator name: (object_pattern) @import value: (call_expression
      function: (identifier) @require (#eq? @require "require") arguments: (arguments . (string) @path .)))
    (export_statement source: (string) @path) @import
    (export_statement value: (_) @exported)
    (export_statement "default" declaration: (function_declaration body: (_) @exported))
    (export_statement declaration: [
      (lexical_declaration (variable_declarator name: (identifier) @public))
      (variable_declaration (variable_declarator name: (identifier) @public))
      (function_declaration name: (identifier) @public)])
    (assignment_expression left: (member_expression) @place right: (_) @exported
      (#any-of? @place "module.exports" "exports.default"))
    """,
)
_WORDS = {"true": True, "false": False, "null": None, "undefined": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "\n": ""}


class Module(Struct, frozen=True):
    """Code file. ``take``: a function that returns the module at a path."""

    text: str
    take: Callable[[str], Module | None] = lambda path: None


def read_export(given: str | Module) -> Any:
    """Return the value that a module exports, or `UNKNOWN`."""
    return _Reader(given if isinstance(given, Module) else Module(given)).exported()


def read_constant(given: str | Module, name: str) -> Any:
    """Return the value of the constant with this name, or the return value of the function with this name."""
    return _Reader(given if isinstance(given, Module) else Module(given)).named(name)


def read_literal(text: str) -> Any:
    """Return the value of a single expression, such as an attribute value."""
    reader = _Reader(Module(f"({text}\n)"))
    statements = [one for one in reader.root.named_children if one.type != "comment"]
    whole = _first(statements[0]) if len(statements) == 1 else None
    if reader.root.has_error or whole is None or whole.type != "parenthesized_expression":
        return UNKNOWN
    return reader.value(whole) if whole.end_byte == statements[0].end_byte else UNKNOWN


class Statements(Struct, frozen=True):
    """Names in the import and export statements of a page. ``imports``: for each imported name, its path and its
    original name. The original name is empty for the default export, and ``*`` for the entire module.
    ``constants``: the values of exported names."""

    imports: dict[str, tuple[str, str]]
    constants: JsonObject


def read_statements(text: str) -> Statements | None:
    """Return the names in import and export statements, or None if the text contains anything else."""
    reader = _Reader(Module(text))
    if reader.root.has_error or any(one.type not in _STATEMENT for one in reader.root.named_children):
        return None
    return Statements(reader.imports, {name: reader.named(name) for name in reader.public[:MAX_MODULES]})


class _Spent(Struct):
    """Amount of code read so far in a file and all of its imports, and the nesting depth of the current value."""

    depth: int = 0
    values: int = 0
    modules: int = 0
    characters: int = 0


class _Reader:
    def __init__(self, module: Module, spent: _Spent | None = None, level: int = 0) -> None:
        self.module = module
        self.spent = spent or _Spent()
        self.level = level
        self.asked: set[str] = set()
        self.exports: list[Node] = []
        self.public: list[str] = []
        self.constants: dict[str, Node] = {}
        self.imports: dict[str, tuple[str, str]] = {}
        self.exported_again: list[str] = []
        self.spent.characters += len(module.text)
        text = module.text if self.spent.characters <= MAX_CHARACTERS else ""
        self.root = Parser(_LANGUAGE).parse(text.encode("utf-8", "replace")).root_node
        for _, found in QueryCursor(_STATEMENTS).matches(self.root):
            self._note({name: nodes[0] for name, nodes in found.items()})

    def _note(self, found: dict[str, Node]) -> None:
        """Store the names that a statement defines."""
        if "exported" in found:
            self.exports.append(found["exported"])
        elif "public" in found:
            self.public.append(_text(found["public"]))
        elif "import" in found:
            self._note_import(found["import"], str(self.string(found["path"])))
        else:
            self.constants.setdefault(_text(found["name"]), found.get("value") or found["body"])

    def _note_import(self, statement: Node, path: str) -> None:
        """Store the names imported from a file, in the format of ``Statements.imports``."""
        names = [node for node in _inside(statement) if node.type in _NAMING]
        if statement.type == "export_statement" and not names:
            self.exported_again.append(path)
        for node in names:
            own = node.child_by_field_name("name") or node.child_by_field_name("key") or node
            here = node.child_by_field_name("alias") or node.child_by_field_name("value") or own
            original = _text(own)
            if node.type == "namespace_import":
                here, original = node.named_children[0], "*"
            elif node.type == "identifier" or original == "default":
                original = ""
            self.imports[_text(here)] = (path, original)

    def exported(self) -> Any:
        last = max(self.exports, key=lambda node: node.start_byte, default=None)
        return UNKNOWN if last is None else self.returned(last)

    def imported(self, path: str, name: str) -> Any:
        """Return the value of a name in another file."""
        self.spent.modules += 1
        if self.spent.modules > MAX_MODULES or self.level >= MAX_MODULE_DEPTH or not path.startswith("."):
            return UNKNOWN
        module = self.module.take(path)
        if module is None:
            return UNKNOWN
        reader = _Reader(module, self.spent, self.level + 1)
        if name == "*":
            return {each: reader.named(each) for each in reader.public[:MAX_MODULES]}
        value = reader.named(name) if name else reader.exported()
        if value is UNKNOWN and name:
            whole = reader.exported()
            value = whole.get(name, UNKNOWN) if isinstance(whole, dict) else UNKNOWN
        for other in reader.exported_again if value is UNKNOWN and name else ():
            if (value := reader.imported(other, name)) is not UNKNOWN:
                break
        return value

    def named(self, name: str) -> Any:
        """Return the value of a name in this file."""
        if name in self.asked:
            return UNKNOWN
        node = self.constants.get(name)
        if node is None:
            path, inside = self.imports.get(name, ("", ""))
            return self.imported(path, inside) if path else UNKNOWN
        self.asked.add(name)
        value = self.returned(node)
        self.asked.discard(name)
        return value

    def returned(self, node: Node) -> Any:
        """Return the value of an expression, or the return value of a function with this body. A return value is
        read only if the return statement is the last statement."""
        if node.type != "statement_block":
            return self.value(node)
        last = next((one for one in reversed(node.named_children) if one.type != "comment"), None)
        given = _first(last) if last is not None and last.type == "return_statement" else None
        return UNKNOWN if given is None else self.value(given)

    def value(self, node: Node) -> Any:
        self.spent.values += 1
        read = _READ.get(node.type)
        if read is None or self.spent.depth >= MAX_DEPTH or self.spent.values > MAX_VALUES:
            return UNKNOWN
        self.spent.depth += 1
        value = read(self, node)
        self.spent.depth -= 1
        return value

    def word(self, node: Node) -> Any:
        name = _text(node)
        return _WORDS[name] if name in _WORDS else self.named(name)

    def number(self, node: Node) -> Any:
        written = _text(node).replace("_", "")
        if re.fullmatch(r"-?(?:0[xX][0-9a-fA-F]+|[1-9]\d{0,17}|0)", written):
            return int(written, 0)
        return float(written) if re.fullmatch(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", written) else UNKNOWN

    def string(self, node: Node) -> Any:
        """Return the value of a string. Escape sequences are replaced and, in templates, values are filled in."""
        found = []
        for part in node.named_children:
            if part.type == "escape_sequence":
                found.append(_unescaped(_text(part)[1:]))
            elif part.type == "template_substitution":
                value = self.inner(part)
                if not isinstance(value, (str, int, float)):
                    return UNKNOWN
                found.append(str(value))
            else:
                found.append(_text(part))
        return "".join(found)

    def joined(self, node: Node) -> Any:
        left, sign, right = (node.child_by_field_name(name) for name in ("left", "operator", "right"))
        assert left is not None and sign is not None and right is not None
        value, more = self.value(left), self.value(right)
        known = sign.type == "+" and isinstance(value, str) and isinstance(more, (str, int, float))
        return value + str(more) if known else UNKNOWN

    def inner(self, node: Node) -> Any:
        """Return the expression inside parentheses or without its type annotations."""
        inside = _first(node)
        return UNKNOWN if inside is None else self.value(inside)

    def function(self, node: Node) -> Any:
        body = node.child_by_field_name("body")
        return UNKNOWN if body is None else self.returned(body)

    def member(self, node: Node) -> Any:
        of, name = node.child_by_field_name("object"), node.child_by_field_name("property")
        value = self.value(of) if of is not None else UNKNOWN
        return value.get(_text(name), UNKNOWN) if isinstance(value, dict) and name is not None else UNKNOWN

    def call(self, node: Node) -> Any:
        called = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        arguments = node.child_by_field_name("arguments")
        if called is None or arguments is None:
            return UNKNOWN
        # The first argument that is a map or a list, or else the first argument.
        values = self.array(arguments)
        given = next(
            (one for one in values if isinstance(one, (dict, list))), values[0] if values else UNKNOWN
        )
        if _text(called) == "require" and isinstance(given, str) and given.startswith("."):
            return self.imported(given, "")
        value = self.value(called)
        if value is UNKNOWN or isinstance(value, str):
            # Configuration helpers return their argument unchanged, and a string is the name of a package
            # whose function is called here. The return values of methods can be determined only by running
            # them.
            of = called.child_by_field_name("object")
            return given if of is None or self.value(of) is UNKNOWN else UNKNOWN
        if isinstance(value, dict) and isinstance(given, dict):
            # The result of a plug-in with its own settings, which is called with the remaining settings.
            return {**value, **given}
        return value

    def object(self, node: Node) -> JsonObject:
        made: JsonObject = {}
        for part in node.named_children:
            if part.type == "spread_element":
                if isinstance(more := self.inner(part), dict):
                    made.update(more)
            elif part.type == "shorthand_property_identifier":
                made[_text(part)] = self.named(_text(part))
            elif part.type in ("pair", "method_definition"):
                key = part.child_by_field_name("key") or part.child_by_field_name("name")
                name = self.string(key) if key is not None and key.type == "string" else _text(key)
                if key is not None and key.type != "computed_property_name":
                    value = part.child_by_field_name("value") or part.child_by_field_name("body")
                    made[name] = UNKNOWN if value is None else self.returned(value)
        return made

    def array(self, node: Node) -> list[Any]:
        made: list[Any] = []
        for part in node.named_children:
            if part.type == "spread_element":
                more = self.inner(part)
                made += more if isinstance(more, list) else [UNKNOWN]
            elif part.type != "comment":
                made.append(self.value(part))
        return made


_READ: dict[str, Callable[[_Reader, Node], Any]] = {
    **dict.fromkeys(("true", "false", "null", "undefined", "identifier"), _Reader.word),
    **dict.fromkeys(("number", "unary_expression"), _Reader.number),
    **dict.fromkeys(("string", "template_string"), _Reader.string),
    **dict.fromkeys(("arrow_function", "function_expression", "function_declaration"), _Reader.function),
    **dict.fromkeys(("call_expression", "new_expression"), _Reader.call),
    **dict.fromkeys(
        (
            "parenthesized_expression",
            "as_expression",
            "satisfies_expression",
            "non_null_expression",
            "await_expression",
        ),
        _Reader.inner,
    ),
    "binary_expression": _Reader.joined,
    "member_expression": _Reader.member,
    "object": _Reader.object,
    "array": _Reader.array,
}
_STATEMENT = ("import_statement", "export_statement", "comment")
_NAMING = {
    "import_specifier",
    "export_specifier",
    "namespace_import",
    "shorthand_property_identifier_pattern",
    "pair_pattern",
    "identifier",
}
"""Types of nodes that contain names in an import or export."""


def _inside(node: Node) -> Iterator[Node]:
    """Yield the nodes of an import or export that can contain names."""
    for child in node.named_children:
        yield child
        if child.type in ("import_clause", "named_imports", "export_clause"):
            yield from _inside(child)


def _first(node: Node) -> Node | None:
    return next((one for one in node.named_children if one.type != "comment"), None)


def _text(node: Node | None) -> str:
    return (node.text or b"").decode() if node is not None else ""


def _unescaped(code: str) -> str:
    """Return the character for an escape sequence, which is given without its backslash."""
    if code[0] not in "ux" or len(code) < 3:
        return _ESCAPES.get(code, code)
    number = int(code.strip("ux{}"), 16)
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else ""
