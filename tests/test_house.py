"""The rules of the house, on the syntax tree: what may import what, and where things stand."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from octavo.installation import load_packages
from octavo.kit.operation import TABLE

SRC = Path(__file__).parents[1] / "src" / "octavo"

FLOORS: tuple[tuple[str, ...], ...] = (
    ("errors", "core"),
    ("kit", "settings"),
    ("access",),
    ("identity",),
    ("orgs",),
    ("directory",),
    ("spaces",),
    ("invitations",),
    ("content", "references"),
    ("changes", "comments", "search"),
    ("uploads",),
    ("printing", "fonts"),
    ("transfer", "openapi", "gitsync", "translations"),
    ("sites",),
    ("integrations", "conversations", "ask"),
    ("reader", "portal"),
    ("installation",),
    ("admin",),
    ("app", "cli"),
)
"""From the ground up. What stands on one floor may use what is below, and its neighbours on the same floor."""

FLOOR = {name: height for height, floor in enumerate(FLOORS) for name in floor}
FILES = sorted(SRC.rglob("*.py"))
PACKAGES = sorted(path.name for path in SRC.iterdir() if (path / "__init__.py").exists())

IMPURE = {"os", "time", "random", "secrets", "socket", "sqlite3", "subprocess", "psycopg", "httpx", "asyncio"}
"""What core may not import: no input or output, no clock, no chance."""


def _name(path: Path) -> str:
    """The package or module directly in octavo that a file belongs to."""
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def _imports(path: Path) -> list[tuple[int, tuple[str, ...]]]:
    """What a file imports from octavo: (line, the parts of the module, ``octavo`` left out)."""
    here = ("octavo", *path.relative_to(SRC).with_suffix("").parts)
    package = here[:-1]
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = (*base, *(node.module.split(".") if node.module else ()))
            if module[0] == "octavo":
                found += [
                    (node.lineno, (*module[1:], *_submodule(module, alias.name))) for alias in node.names
                ]
        elif isinstance(node, ast.Import):
            found += [
                (node.lineno, tuple(alias.name.split(".")[1:]))
                for alias in node.names
                if alias.name.startswith("octavo.")
            ]
    return found


def _submodule(module: tuple[str, ...], name: str) -> tuple[str, ...]:
    """``name`` where it is a module inside ``module`` and not something that it offers."""
    place = SRC.parent.joinpath(*module, name)
    return (name,) if place.with_suffix(".py").exists() or place.is_dir() else ()


def test_every_package_has_its_floor() -> None:
    there = {_name(path) for path in FILES} - {"__init__", "migrations"}
    assert there <= set(FLOOR), f"say in FLOORS where they stand: {sorted(there - set(FLOOR))}"


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_run_one_way(package: str) -> None:
    wrong = []
    for path in FILES:
        if _name(path) != package or package not in FLOOR:
            continue
        for line, module in _imports(path):
            other = module[0]
            if other == package or other not in FLOOR:
                continue
            where = f"{path.relative_to(SRC.parent)}:{line}: {package} imports {'.'.join(module)}"
            if FLOOR[other] > FLOOR[package]:
                wrong.append(f"{where}, which stands above it")
            elif len(module) > 1 and other not in ("core", "kit"):
                wrong.append(f"{where}: use what {other}/__init__.py offers")
    assert not wrong, "\n".join(wrong)


def test_core_is_pure() -> None:
    wrong = []
    for path in sorted((SRC / "core").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            wrong += [f"{path.name}:{node.lineno}: {name}" for name in names if name.split(".")[0] in IMPURE]
    assert not wrong, "\n".join(wrong)


def test_every_operation_is_declared_once() -> None:
    load_packages()
    texts = {path: path.read_text() for path in FILES}
    for operation_id in TABLE:
        places = [path for path, text in texts.items() for _ in re.findall(rf'"{operation_id}"', text)]
        assert len(places) == 1, f"{operation_id}: {places}"


def test_jobs_say_for_whom_they_are_done() -> None:
    """Organizations take turns; sign-in is of no organization yet."""
    wrong = []
    for path in FILES:
        if _name(path) in ("kit", "identity"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("enqueue", "jobs.enqueue"):
                if "organization" not in {keyword.arg for keyword in node.keywords}:
                    wrong.append(f"{path.relative_to(SRC)}:{node.lineno}")
    assert not wrong, "\n".join(wrong)


def test_no_file_names_a_place_of_this_machine() -> None:
    local = re.compile(r"""(?<![\w.~}])/(?:home|root|Users|work|tmp|private)/\w""")
    root = SRC.parents[1]
    files = [path for folder in ("src", "docs", "bench", ".ci") for path in (root / folder).rglob("*")]
    files += [root / name for name in ("Makefile", "README.md", "pyproject.toml")]
    wrong = []
    for path in files:
        if (
            path.suffix in ("", ".py", ".sql", ".md", ".toml", ".html", ".css", ".js", ".txt")
            and path.is_file()
        ):
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                if local.search(line):
                    wrong.append(f"{path.relative_to(root)}:{number}: {line.strip()[:100]}")
    assert not wrong, "\n".join(wrong)
