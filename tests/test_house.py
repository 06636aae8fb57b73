"""Architecture rules checked on the syntax tree: allowed imports, and where code belongs."""

from __future__ import annotations

import ast
import gc
import inspect
import re
import sys
import tomllib
import typing
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from msgspec import Struct

from octavo.core.sources import Brand, Source
from octavo.delivery.reader.table import ROUTES, Later, Pool, Rate, View, find_posted, route
from octavo.delivery.visits.authorization import SiteVisit
from octavo.interchange.readers.layout import Layout
from octavo.kit.http.operation import TABLE, list_proofs
from octavo.kit.work import jobs
from octavo.operations.installation import load_packages

SRC = Path(__file__).parents[1] / "src" / "octavo"
APP = SRC / "delivery" / "studio" / "dist"
"""The built app. It is missing where the npm registry cannot be reached."""

GROUPS: dict[str, tuple[str, ...]] = {
    "core": (),
    "kit": (),
    "organization": ("access", "portal", "identity", "orgs", "spaces", "invitations", "directory"),
    "content": (
        "revisions",
        "references",
        "images",
        "pages",
        "uploads",
        "changes",
        "comments",
        "live",
        "search",
        "notifications",
        "events",
    ),
    "interchange": ("readers", "transfer", "gitsync"),
    "sites": ("fonts", "printing", "openapi", "site", "favorites", "insights"),
    "extensions": ("deliveries", "webhooks", "integrations"),
    "assistants": (
        "models",
        "translations",
        "conversations",
        "sources",
        "channels",
        "questions",
        "ask",
        "findings",
    ),
    "delivery": ("visits", "renderers", "reader", "studio", "agents"),
    "operations": ("migrations", "installation", "meanings", "admin", "developing"),
}
"""The folders of ``src/octavo`` and their packages, from the ground up: each may use those before it."""
BESIDE_GROUPS = ("errors", "settings", "app")
"""Modules at the top. The package ``cli`` is above them all."""

NAMES = (
    "errors",
    "core",
    "settings",
    "kit",
    *(name for group in list(GROUPS)[2:] for name in GROUPS[group]),
    "app",
    "cli",
)
RANK = {name: number for number, name in enumerate(NAMES)}
FILES = sorted(SRC.rglob("*.py"))
PACKAGES = sorted(
    {
        "core",
        "kit",
        *(
            path.name
            for group in GROUPS
            for path in (SRC / group).iterdir()
            if (path / "__init__.py").exists() and group not in ("core", "kit")
        ),
    }
)

IMPURE = {"os", "time", "random", "secrets", "socket", "sqlite3", "subprocess", "psycopg", "httpx", "asyncio"}
"""What core may not import: no input or output, no clock, no chance."""


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """Return all nodes of the syntax tree of a file, which many of these tests use."""
    return list(ast.walk(ast.parse(path.read_text())))


@pytest.fixture(scope="module", autouse=True)
def forget_trees() -> Iterator[None]:
    """Drop the syntax trees: they use 200 MB, which the garbage collector would scan repeatedly until the end
    of the run."""
    gc.disable()
    yield
    nodes_of.cache_clear()
    gc.enable()


def _name_of(parts: tuple[str, ...]) -> str:
    """Return the package that a module belongs to: ``content.changes.store`` is of ``changes``."""
    inside = len(parts) > 1 and parts[0] in GROUPS and parts[0] not in ("core", "kit")
    return parts[1] if inside else parts[0]


def _name(path: Path) -> str:
    """Return the package that a file belongs to."""
    return _name_of(path.relative_to(SRC).with_suffix("").parts)


@cache
def _imports(path: Path) -> list[tuple[int, tuple[str, ...]]]:
    """Return the imports of a file from octavo as (line, parts of the module name without ``octavo``)."""
    here = ("octavo", *path.relative_to(SRC).with_suffix("").parts)
    package = here[:-1]
    found = []
    for node in nodes_of(path):
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


def test_every_package_is_in_a_group() -> None:
    there = {
        (path.parent.name if path.name == "__init__.py" else path.stem)
        for group in GROUPS
        for path in (*(SRC / group).glob("*.py"), *(SRC / group).glob("*/__init__.py"))
        if group not in ("core", "kit")
        and path.parent != SRC / group
        or path.name != "__init__.py"
        and path.parent.name not in ("core", "kit")
    }
    assert there == {name for packages in GROUPS.values() for name in packages}
    assert {path.stem for path in SRC.glob("*.py")} - {"__init__"} == set(BESIDE_GROUPS)
    assert {path.relative_to(SRC).parts[0] for path in FILES if path.parent != SRC} == {*GROUPS, "cli"}


def test_the_architecture_page_matches_the_code() -> None:
    """Its groups are those of this file, and the files and names that it mentions exist."""
    text = (SRC.parents[1] / "docs" / "architecture.md").read_text()
    # The picture is a block with a language; the tree of packages is the only one without.
    text = re.sub(r"^```\w+\n.*?^```\n", "", text, flags=re.M | re.S)
    (block,) = re.findall(r"^```\n(.*?)^```$", text, re.M | re.S)
    told: dict[str, tuple[str, ...]] = {}
    for line in block.splitlines():
        if group := re.match(r"(\w+)/", line):
            told[group[1]] = ()
        elif package := re.match(r"  (\w+)/?(?:\.py)? ", line):
            last = list(told)[-1]
            told[last] = (*told[last], package[1])
    assert list(reversed(told.items())) == list(GROUPS.items())
    sources = "\n".join(path.read_text() for path in FILES)
    root = SRC.parents[1]
    paths = {path.relative_to(SRC).as_posix() for path in SRC.rglob("*")}
    folders = {path.relative_to(SRC).as_posix() for path in SRC.rglob("*") if path.is_dir()}
    wrong = []
    for paragraph in re.sub(r"^```\n.*?^```$", "", text, flags=re.M | re.S).split("\n\n"):
        codes = [code.removesuffix("/") for code in re.findall(r"`([^`\n]+)`", paragraph)]
        named = {place for code in codes for place in (code, code.rpartition("/")[0]) if place}
        near = [each for each in folders if any(f"/{each}".endswith(f"/{place}") for place in named)]
        for code in codes:
            if re.fullmatch(r"[\w/]+\.(?:py|toml|typ)|[\w.]+(?:/[\w.]+)+", code):
                # A name alone refers to a file in a folder that the paragraph names.
                found = any(f"{place}/{code}" in paths for place in near) or code in paths
                found = found or (not near and any(path.endswith(f"/{code}") for path in paths))
                is_output = code.endswith("/generated") or (code.endswith("/dist") and not APP.exists())
                found = found or (root / code).exists() or is_output
            else:
                name = re.fullmatch(r"(?:\w+\.)*(\w+)(?:\(\))?", code)
                found = not name or bool(re.search(rf"\b{name[1]}\b", sources))
            if not found:
                wrong.append(code)
    assert not wrong


@pytest.mark.skipif(not APP.exists(), reason="the app is not built")
def test_the_build_finds_its_own_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that the build never writes would make every start build the app again."""
    monkeypatch.syspath_prepend(str(SRC.parents[1] / "web"))
    build = import_module("build")
    assert build.DIST == APP
    assert build.ASCIIDOC.exists() and build.BUILTIN.exists()


def test_every_package_has_tests() -> None:
    """In a folder of its name; migrations are SQL, tested in that of kit."""
    folder = Path(__file__).parent
    without = {name for name in PACKAGES if not any((folder / name).rglob("test_*.py"))}
    assert without == {"migrations"}


def test_imports_run_one_way() -> None:
    wrong = []
    for path in FILES:
        package = _name(path)
        for line, module in _imports(path):
            other = _name_of(module) if module else package
            if other != package and RANK.get(other, -1) > RANK.get(package, -1):
                wrong.append(
                    f"{path.relative_to(SRC.parent)}:{line}: {package} imports {'.'.join(module)}, which is above it"
                )
    assert not wrong, "\n".join(wrong)


def test_packages_reexport_nothing() -> None:
    """An ``__init__`` has a docstring and the modules that it imports for what they declare; everything is
    imported from the module that has it, and nothing private from another package."""
    wrong = []
    for path in FILES:
        where = path.relative_to(SRC).as_posix()
        if path.name == "__init__.py":
            for node in typing.cast(ast.Module, nodes_of(path)[0]).body:
                if isinstance(node, ast.ImportFrom) and node.level == 1 and not node.module:
                    continue
                if not isinstance(node, ast.Expr):
                    wrong.append(f"{where}: {ast.unparse(node)[:40]} belongs in a module")
        for node in nodes_of(path):
            if (
                isinstance(node, ast.ImportFrom)
                and not node.level
                and (node.module or "").startswith("octavo.")
            ):
                private = [alias.name for alias in node.names if alias.name.startswith("_")]
                wrong += [f"{where}:{node.lineno}: {name} is private" for name in private]
    assert not wrong, "\n".join(wrong)


READERS = ("interchange", "readers")
FACE_OF_READERS = {"choosing", "converting", "formats.html", "opening", "redirect_files", "scratch", "types"}
"""What the rest may import of the readers: how to open a source, how to read it, redirects, and HTML."""
PLATFORM_OF_READERS = {"interchange/readers/tools/asciidoc.py": {("kit", "runtime", "process"), ("errors",)}}
"""What readers import beside `core`: the one place that may start the process in which a library parses."""


def test_import_readers_are_independent() -> None:
    """They import `core` and nothing else, and are used only through their face."""
    wrong = []
    for path in FILES:
        where = path.relative_to(SRC).as_posix()
        is_reader = path.is_relative_to(SRC.joinpath(*READERS))
        for line, module in _imports(path):
            of_readers = module[:2] == READERS
            if is_reader:
                fine = of_readers or module[0] == "core"
                fine = fine or any(module[: len(one)] == one for one in PLATFORM_OF_READERS.get(where, ()))
            else:
                named = ".".join(module[2:])
                fine = not of_readers or named in FACE_OF_READERS
            if not fine:
                wrong.append(f"{where}:{line}: {'.'.join(module)}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("value", [Source, Brand, Layout])
def test_readers_take_and_return_immutable_values(value: type[Struct]) -> None:
    """Their fields cannot be set after creation."""
    assert value.__struct_config__.frozen


def _module(path: Path) -> tuple[str, ...]:
    return path.relative_to(SRC).with_suffix("").parts


MODULES = {_module(path): path for path in FILES}


def _edges() -> dict[tuple[str, ...], set[tuple[str, ...]]]:
    """Return the imports of each module. `__init__` only re-exports and does not count as a module."""
    found: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for module, path in MODULES.items():
        if module[-1] != "__init__":
            there = {other for _, other in _imports(path)}
            found[module] = {other for other in there if other in MODULES and other != module}
    return found


def _circles(edges: dict[tuple[str, ...], set[tuple[str, ...]]]) -> list[list[str]]:
    """Return the strongly connected components of more than one node (Tarjan's algorithm)."""
    index: dict[tuple[str, ...], int] = {}
    low: dict[tuple[str, ...], int] = {}
    stack: list[tuple[str, ...]] = []
    found = []

    def visit(node: tuple[str, ...]) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            circle = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(circle) > 1:
                found.append(sorted(".".join(name) for name in circle))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def test_cycles_are_detected() -> None:
    edges = {("a",): {("b",)}, ("b",): {("c",)}, ("c",): {("a",), ("d",)}, ("d",): set(), ("e",): {("a",)}}
    assert _circles(edges) == [["a", "b", "c"]]


def test_modules_have_no_import_cycles() -> None:
    assert _circles(_edges()) == []


WEB_IMPORT = re.compile(r'''(?:\bfrom\s+|\bimport\s*\(?\s*)"(\.[^"]+)"''')


def test_files_of_the_app_have_no_import_cycles() -> None:
    """This includes types and lazy imports, because files in a cycle can only be understood together."""
    web = SRC.parents[1] / "web"
    files = [
        path
        for path in web.rglob("*")
        if path.suffix in (".ts", ".svelte") and not {"node_modules", "generated"} & set(path.parts)
    ]
    assert len(files) > 200
    edges = {
        (str(path.relative_to(web)),): {
            (str((path.parent / named[1]).resolve().relative_to(web)),)
            for named in WEB_IMPORT.finditer(path.read_text())
        }
        for path in files
    }
    assert _circles({name: others & edges.keys() for name, others in edges.items()}) == []


def test_folders_have_no_import_cycles() -> None:
    """At no depth: neither groups, nor packages of a group, nor folders of a package."""
    edges: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for module, others in _edges().items():
        for other in others:
            depth = next(
                (at for at, (one, two) in enumerate(zip(module, other, strict=False)) if one != two), 0
            )
            if depth + 1 < len(module) and depth + 1 < len(other):
                edges.setdefault(module[: depth + 1], set()).add(other[: depth + 1])
    assert _circles(edges) == []


DECIDING_ROUTES = {
    "organization/access/routes.py",
    "organization/directory/routes.py",
    "organization/identity/routes.py",
    "organization/identity/saml/routes.py",
    "organization/invitations/routes.py",
}
"""Routes that still hold what a decision file should: what is audited. No others; those that are mended go."""


def test_routes_contain_no_logic() -> None:
    """Auditing and events belong to decisions. A route only validates, authorizes, calls a decision, and presents."""
    deciding = set()
    for path in FILES:
        if path.name.endswith("routes.py"):
            imported = {
                alias.name
                for node in nodes_of(path)
                if isinstance(node, ast.ImportFrom)
                for alias in node.names
            }
            if imported & {"audit", "audit_person", "emit", "enqueue"}:
                deciding.add(str(path.relative_to(SRC)))
    assert deciding == DECIDING_ROUTES


TAKING_CALLS = {
    "app.py",  # who calls is found out
    "organization/access/tokens.py",
    "sites/site/visitor_tokens.py",
}
"""Who takes a request apart, beside routes and permission checks."""


def test_only_routes_and_authorization_use_requests() -> None:
    """Decisions take the actor from the proof, and presentation takes the viewer, because jobs have no request."""
    knowing = set()
    for path in FILES:
        where = path.relative_to(SRC).as_posix()
        if _name(path) == "kit" or path.name == "authorization.py" or path.name.endswith("routes.py"):
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and any(
                alias.name == "Call" and "operation" in (node.module or "") for alias in node.names
            ):
                knowing.add(where)
            if isinstance(node, ast.Attribute) and ast.unparse(node) == "operation.Call":
                knowing.add(where)
    assert knowing == TAKING_CALLS


def test_core_is_pure() -> None:
    wrong = []
    for path in sorted((SRC / "core").rglob("*.py")):
        for node in nodes_of(path):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            wrong += [f"{path.name}:{node.lineno}: {name}" for name in names if name.split(".")[0] in IMPURE]
    assert not wrong, "\n".join(wrong)


STARTING = re.compile(
    r"subprocess\.(Popen|run|call|check_\w+|get\w*output)|os\.(exec|spawn|posix_spawn|fork|system|popen)\w*"
    r"|\w+\.create_subprocess_\w+|multiprocessing\.\w+"
)
"""What starts a program."""


def test_programs_are_started_in_one_place() -> None:
    """`kit/processes/children.py` gives them a clean environment. Workers are the service itself, and get its own."""
    wrong = []
    for path in FILES:
        where = path.relative_to(SRC).as_posix()
        if where in ("kit/processes/children.py", "kit/processes/supervision.py"):
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.Call):
                used = [ast.unparse(node.func)]
            elif isinstance(node, ast.ImportFrom):
                used = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                continue
            wrong += [f"{where}:{node.lineno}: {name}" for name in used if STARTING.fullmatch(name)]
    assert not wrong, "\n".join(wrong)


OWN_ADDRESSES = {
    "interchange/gitsync/apps.py",
    "kit/net/ldap.py",
    "core/links.py",
    "sites/site/redirects/resolving.py",
    "extensions/integrations/invoking.py",  # that of the installation
    "operations/admin/static_export.py",
    "delivery/renderers/notifying.py",
    "delivery/visits/admission.py",  # made of it
    "settings.py",
    "kit/files.py",  # looked at before anything starts
}
"""Who may ask for the parts of an address without a way for what is none, because it is our own."""


def test_urls_are_parsed_in_one_place() -> None:
    """User input can be an invalid URL, for which the standard library raises an error."""
    raising = {"urlsplit", "urlparse", "urljoin", "urldefrag", "urlunsplit", "urlunparse", "SplitResult"}
    wrong, own = [], set()
    for path in FILES:
        where = path.relative_to(SRC).as_posix()
        if where == "core/url_parts.py":
            continue
        for node in nodes_of(path):
            names: set[str] = set()
            if isinstance(node, ast.ImportFrom):
                names = {alias.name for alias in node.names}
                # `from urllib import parse` and `import urllib.parse` would get round it.
                names |= {"urlsplit"} if node.module == "urllib" else set()
                own |= {where} if "own_address" in names else set()
            elif isinstance(node, ast.Import) and any(alias.name == "urllib.parse" for alias in node.names):
                names = {"urlsplit"}
            if names & raising:
                wrong.append(f"{where}:{getattr(node, 'lineno', 0)}: use core/url_parts.py")
    assert not wrong, "\n".join(wrong)
    assert own == OWN_ADDRESSES


def model_patterns() -> list[tuple[str, str]]:
    """Yield every pattern of a model's text, and its position."""
    found = []
    for path in FILES:
        parts = path.relative_to(SRC.parent).with_suffix("").parts
        for node in nodes_of(path):
            for keyword in node.keywords if isinstance(node, ast.Call) else ():
                if keyword.arg == "pattern":
                    module = import_module(".".join(part for part in parts if part != "__init__"))
                    written = compile(ast.Expression(keyword.value), str(path), "eval")
                    where = f"{path.relative_to(SRC).as_posix()}:{node.lineno}"
                    found.append((where, eval(written, vars(module))))
    return found


def test_no_pattern_accepts_a_trailing_line_break() -> None:
    r"""In Python, ``$`` also matches before a last line break. A pattern with a defined start has a defined
    end, with ``\Z``."""
    patterns = model_patterns()
    assert len(patterns) > 40
    for where, pattern in patterns:
        bare = re.sub(r"\\.|\[\^?\]?[^\]]*\]", "", pattern)
        assert "$" not in bare, f"{where}: write \\Z for $"
        assert pattern.startswith("^") == pattern.endswith(r"\Z"), f"{where}: from ^ to \\Z, or neither"


def test_no_url_pattern_accepts_control_characters() -> None:
    """No browser follows one as it stands, and no header may have one."""
    url, admitted = "https://docs.example/a", []
    of_urls = [
        (where, pattern)
        for where, pattern in model_patterns()
        if re.search(pattern, url) and not re.search(pattern, "no URL")
    ]
    assert len(of_urls) >= 5
    for where, pattern in of_urls:
        controls = [chr(code) for code in (*range(32), *range(127, 160))]
        admitted += [f"{where}: {char!r}" for char in controls if re.search(pattern, f"{url}{char}b")]
    assert not admitted, "\n".join(admitted)


SHARED = {
    "content/revisions/bodies.py:_failed",  # as the next ones
    "content/revisions/bodies.py:_parts",  # by the hash of a text
    "content/revisions/bodies.py:_parsed",  # by the hash of the text that it is parsed from, which the caller has
    "content/revisions/packing.py:_parts",  # by the text that it is made of
    "core/document/nodes.py:NO_MARKS",  # empty, and kept so by their type
    "core/document/nodes.py:NO_FRAGMENTS",
    "delivery/reader/app.py:_assets",  # our own static files
}
"""What is kept for all applications of the process, because it says nothing of any."""

REGISTRIES = {
    "organization/spaces/hooks.py:_count_hidden",
    "content/changes/store.py:_filters_above",
    "content/changes/wire.py:_hidden_comments",
    "content/changes/wire.py:_origins",
    "sites/printing/styles.py:_finders",
    "organization/access/auditing.py:_watches",
    "organization/access/limits.py:_COUNTERS",
    "organization/access/members.py:_on_joined",
    "organization/access/teams.py:_on_team_removed",
    "organization/access/tokens.py:_find_agent",
    "organization/access/tokens.py:_find_agent_by_id",
    "organization/access/tokens.py:_find_visitor",
    "organization/access/tokens.py:_revoke_agents",
    "content/changes/pending.py:_pending",
    "content/changes/reviewing.py:_comments",
    "content/changes/rules.py:_style_checks",
    "content/revisions/computing.py:_computers",
    "content/revisions/computing.py:_on_change",
    "content/revisions/computing.py:_resolvers",
    "content/revisions/deriving.py:_derived",
    "content/revisions/drawing.py:_draw",
    "content/revisions/revising.py:_on_commit",
    "core/document/containing.py:_reports",
    "extensions/deliveries/delivering.py:_attempts",
    "extensions/deliveries/delivering.py:_worth",
    "interchange/gitsync/projects.py:_kinds",
    "content/images/making.py:_on_made",
    "sites/insights/collecting.py:_on_events",
    "content/pages/links.py:_present_spec",
    "content/pages/reading.py:_find_git",
    "content/pages/reading.py:_merged_from",
    "delivery/reader/table.py:ROUTES",
    "delivery/reader/table.py:_methods",
    "sites/site/audiences/visitor_auth.py:_others",
    "sites/site/scripts.py:_providers",
    "organization/spaces/hooks.py:_before_copy",
    "organization/spaces/hooks.py:_find_shared",
    "organization/spaces/hooks.py:_on_begin",
    "organization/spaces/hooks.py:_on_copy",
    "organization/spaces/hooks.py:_on_language",
    "organization/spaces/hooks.py:_on_leaving",
    "organization/spaces/hooks.py:_on_purge",
    "organization/spaces/hooks.py:_on_transfer",
    "organization/spaces/hooks.py:_on_unnamed_texts",
    "interchange/transfer/variants.py:_arrange",
    "delivery/visits/admission.py:_agents",
}
"""Where modules register what they do, when they are imported."""


def test_caches_belong_to_one_application() -> None:
    """Two applications in one process share no caches: a module declares an ``OwnCache``, or an object owns one."""
    caches = {"ByteCache", "FreshCache", "OrderedDict", "defaultdict", "deque", "{}", "[]", "set()", "dict()"}
    found = set()
    for path in FILES:
        if _name(path) == "kit":
            continue
        for holder in nodes_of(path):
            is_struct = isinstance(holder, ast.ClassDef) and holder.bases
            for node in holder.body if isinstance(holder, ast.Module | ast.ClassDef) else ():
                if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
                    continue
                # Of a struct these are the defaults of fields, which each object has for itself.
                if (
                    is_struct
                    and isinstance(node, ast.AnnAssign)
                    and "ClassVar" not in ast.unparse(node.annotation)
                ):
                    continue
                made = ast.unparse(node.value)
                if made in caches or made.partition("(")[0] in caches:
                    named = node.targets[0] if isinstance(node, ast.Assign) else node.target
                    found.add(f"{path.relative_to(SRC).as_posix()}:{ast.unparse(named)}")
    assert found == SHARED | REGISTRIES


def test_every_operation_is_declared_once() -> None:
    load_packages()
    # Abilities have their own names, one of which is also that of an operation.
    files = [path for path in FILES if path != SRC / "organization" / "access" / "roles.py"]
    places: dict[str, list[Path]] = {operation_id: [] for operation_id in TABLE}
    for path in files:
        for operation_id in re.findall(r'operation\(\s*"(\w+)"', path.read_text()):
            places.setdefault(operation_id, []).append(path)
    for operation_id in TABLE:
        assert len(places[operation_id]) == 1, f"{operation_id}: {places[operation_id]}"


def test_jobs_name_their_organization() -> None:
    """Organizations take turns; sign-in belongs to no organization yet."""
    wrong = []
    for path in FILES:
        if _name(path) in ("kit", "identity") or "enqueue" not in path.read_text():
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("enqueue", "jobs.enqueue"):
                if "organization" not in {keyword.arg for keyword in node.keywords}:
                    wrong.append(f"{path.relative_to(SRC)}:{node.lineno}")
    assert not wrong, "\n".join(wrong)


def _reach(package: list[Path], function: str) -> Iterator[ast.AST]:
    """Return the nodes of a function of a package, and of all functions that it can call there, found by
    name."""
    functions: dict[str, list[ast.AST]] = {}
    for path in package:
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef):
                functions.setdefault(node.name, []).append(node)
    reached, waiting = {function}, [function]
    while waiting:
        for body in functions[waiting.pop()]:
            for node in ast.walk(body):
                yield node
                # Functions are also handed over as values.
                name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
                if name in functions and name not in reached:
                    reached.add(name)
                    waiting.append(name)


def test_jobs_with_growing_work_are_split_into_parts() -> None:
    """A job has a limited time. Each kind declares an upper bound of its work, or continues in parts and
    reports each one; bounded work has no loop that runs as long as there is more."""
    load_packages()
    wrong = []
    for name, kind in sorted(jobs.kinds.items()):
        path = Path(inspect.getfile(kind.run))
        package = [other for other in FILES if path.parent in other.parents]
        if kind.bound is None:
            called = {
                getattr(node.func, "attr", getattr(node.func, "id", ""))
                for node in _reach(package, kind.run.__name__)
                if isinstance(node, ast.Call)
            }
            if not called & {"advance", "renew", "run_parts"}:
                wrong.append(f"{name} says neither what bounds it nor when a part is done")
        elif any(isinstance(node, ast.While) for node in _reach([path], kind.run.__name__)):
            wrong.append(f"{name} is not bounded by {kind.bound}: it loops until there is no more")
    assert len(jobs.kinds) > 40 and not wrong, "\n".join(wrong)


def test_access_objects_are_only_created_by_authorization() -> None:
    """A function that takes the actor creates each proof, so it checks the reach of the token or session."""
    load_packages()
    proofs = {proof.__name__ for proof in list_proofs()}
    assert {"OrgAccess", "SpaceAccess", "ChangeAccess"} <= proofs
    wrong = []
    for path in FILES:
        where = path.relative_to(SRC).as_posix()
        made = set() if path.name == "authorization.py" else set(proofs)
        if where not in ("organization/access/tokens.py", "organization/access/reach.py"):
            made |= {"Person", "Script"}
        if where not in ("sites/site/visitor_tokens.py", "delivery/reader/questions.py"):
            made.add("Visitor")
        made -= {node.name for node in nodes_of(path) if isinstance(node, ast.ClassDef)}
        # Others are called a person or a script as well.
        made -= {
            name
            for node in nodes_of(path)
            if isinstance(node, ast.ImportFrom)
            for name in {alias.name for alias in node.names} & {"Person", "Script", "Visitor"}
            if not (node.module or "").endswith(("access", "kit.operation", "operation"))
        }
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in made:
                wrong.append(f"{where}:{node.lineno}: {node.func.id}")
    assert not wrong, "\n".join(wrong)


def test_revisions_are_written_in_one_way() -> None:
    """Only ``content.new_revision`` and ``first_revision`` prepare and write revisions, store the keys of
    blocks, and send events."""
    parts = {
        "apply_derived",
        "prepare_branch",
        "prepare_commit",
        "prepare_derived",
        "prepare_main",
        "put_keys",
        "revise_main",
    }
    wrong = []
    for path in FILES:
        where = path.relative_to(SRC).as_posix()
        if where == "content/revisions/revising.py":
            continue
        for node in nodes_of(path):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            imported = {alias.name for alias in node.names} if isinstance(node, ast.ImportFrom) else set()
            if imported & parts or called == "store.commit":
                wrong.append(f"{where}:{getattr(node, 'lineno', 0)}")
    assert not wrong, "\n".join(wrong)
    writing = {
        path.relative_to(SRC).as_posix()
        for path in FILES
        if any(re.search(r"INSERT INTO revisions\b", text) for _, text in _statements(path))
    }
    assert writing == {"content/revisions/store.py", "content/revisions/initializing.py"}


SHOWN_ON_SITES = {
    "assistants/ask/site_answers.py",
    "assistants/findings/gathering.py",
    "assistants/findings/scanning.py",
    "assistants/findings/searches.py",
    "assistants/findings/unanswered.py",
    "assistants/findings/wire.py",
    "content/pages/visiting.py",
    "content/references/mentions.py",
    "content/references/viewing.py",
    "content/revisions/authorization.py",
    "content/revisions/restrictions.py",
    "delivery/visits/authorization.py",
    "extensions/integrations/blocks.py",
    "sites/site/customization/showing.py",
    "sites/site/preview_presenting.py",
    "sites/site/redirects/editing.py",
    "sites/site/redirects/resolving.py",
    "sites/site/redirects/suggesting.py",
    "sites/site/structure/presenting.py",
    "sites/site/structure/store.py",
    "sites/site/visible_sections.py",
}
"""Files that read pages as sites show them: the reader, its previews, renderers, settings of sites, and scans, whose
findings are filtered for each person."""


def test_only_sites_and_scans_read_what_sites_show() -> None:
    """Sites can show a page that most people who can see its space can't see. Code for people uses ``unrestricted``,
    ``main_seen_by``, or ``published_seen_by``."""
    names = {"shown_state", "published", "hidden_on_sites"}
    found = {
        path.relative_to(SRC).as_posix()
        for path in FILES
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
    }
    assert found == SHOWN_ON_SITES


CHANGED_BY_LIVE_COMMITS = re.compile(
    r"\b(?:FROM|JOIN)\s+(?:page_live|page_steps|page_snapshots|page_carets|presence)\b"
)
READ_WHILE_WRITING = {"lock_live", "find_last_batch", "find_writers", "list_authors"}
"""Functions that read these tables only in write transactions, which cache nothing."""
CHANGED_BY_OTHER_COMMITS = {"find_unsaved_since"}
"""Functions that read what only other commits change. The first step after a save isn't a live commit."""


def test_what_live_commits_change_is_never_read_from_a_cache() -> None:
    """Live commits (``Database.write``) keep cached values, so statements on what they change must be ``Live``."""
    found = set()
    for path in FILES:
        for function in nodes_of(path):
            if not isinstance(function, ast.FunctionDef):
                continue
            found |= {
                function.name
                for call in ast.walk(function)
                if isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr in ("one", "all", "value")
                and call.args
                and isinstance(call.args[0], ast.Constant | ast.JoinedStr)
                and CHANGED_BY_LIVE_COMMITS.search(ast.unparse(call.args[0]))
            }
    assert found == READ_WHILE_WRITING | CHANGED_BY_OTHER_COMMITS


def test_there_is_no_separate_list_of_operations() -> None:
    """The declaration of an operation says who can call it. No other code lists operation ids."""
    load_packages()
    wrong = []
    for path in FILES:
        for node in nodes_of(path):
            if isinstance(node, ast.Set | ast.List | ast.Tuple):
                ids = [one.value for one in node.elts if isinstance(one, ast.Constant) and one.value in TABLE]
                if len(ids) > 1:
                    wrong.append(f"{path.relative_to(SRC)}:{node.lineno}: {ids}")
    assert not wrong, "\n".join(wrong)


KNOWING_THE_WIRE = {
    # Presenting under another name: reading content and its references over the API (a method there is an
    # operation for each base: main, a change request, a revision), and the messages of events.
    "content/pages/reading.py",
    "content/pages/visiting.py",
    "content/pages/links.py",
    "content/events/broadcasting.py",
    "content/live/broadcasting.py",
    "content/changes/registrations.py",
}
"""Who gives what is on the wire, beside those who are to. No others: what decides takes values and gives records."""


def test_wire_models_stay_at_the_edge() -> None:
    """Routes, ``wire`` and what presents know how things are on the wire. No store and no declaration of
    tables does."""
    knowing = set()
    for path in FILES:
        if path.name.endswith(("routes.py", "wire.py", "presenting.py")) or path.name == "__init__.py":
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and node.level:
                told = [(node.module or "").rpartition(".")[2], *(alias.name for alias in node.names)]
                if any(name.endswith("wire") for name in told):
                    knowing.add(path.relative_to(SRC).as_posix())
    assert not {where for where in knowing if where.endswith(("store.py", "tables.py", "types.py"))}
    assert knowing == KNOWING_THE_WIRE


def test_callers_are_identified_by_kind() -> None:
    """A person, a script or a visitor, with ``match`` or ``isinstance``: not by a field that one of them leaves empty.
    Visitors have proofs of their own, which no other operation takes."""
    load_packages()
    told = re.compile(
        r"\bactor\.(?:visitor|integration_id|installation_id)\b(?!\s*(?:==|is not None|or|\)|\}|,|in))"
    )
    wrong = [
        f"{path.relative_to(SRC)}: {found.group()}"
        for path in FILES
        for found in told.finditer(path.read_text())
    ]
    assert not wrong, "\n".join(wrong)
    visits = {operation.visit_type for operation in TABLE.values()} - {None}
    for proof in visits:
        assert not {"actor", "user_id", "role"} & set(dir(proof)), proof


def test_no_file_contains_a_path_of_this_machine() -> None:
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


def _distribution(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=!~; ]", requirement)[0]).lower()


def test_imports_and_declared_dependencies_agree() -> None:
    project = tomllib.loads((SRC.parents[1] / "pyproject.toml").read_text())["project"]
    declared = {_distribution(requirement) for requirement in project["dependencies"]}
    optional = {_distribution(each) for extra in project["optional-dependencies"].values() for each in extra}
    distributions = packages_distributions()
    imported: dict[str, set[str]] = {}
    optional_found: set[str] = set()
    # ``compression`` is part of the standard library since Python 3.14.
    own = sys.stdlib_module_names | {"compression", "octavo"}
    for path in FILES:
        for node in nodes_of(path):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level and node.module:
                names = [node.module]
            for name in {name.partition(".")[0] for name in names} - own:
                found = {_distribution(each) for each in distributions.get(name, [name])}
                if found & optional:
                    # Packages of a vendor share one name: which of them it is, their extra says.
                    optional_found |= found & optional
                    continue
                imported.setdefault(" or ".join(sorted(found)), set()).add(str(path.relative_to(SRC)))
    undeclared = {name: sorted(files) for name, files in imported.items() if name not in declared}
    assert not undeclared, "add them to the dependencies in pyproject.toml"
    assert declared == set(imported), "nobody imports them"
    assert optional == optional_found, "nobody imports them"


# --- tables have owners -------------------------------------------------------------------------------

WRITES = re.compile(r"\b(?:INSERT(?: OR \w+)? INTO|UPDATE|DELETE FROM)\s+([a-z_]+)")
READS = re.compile(r"\b(?:FROM|JOIN)\s+([a-z_]+)")
ALL_TABLES = {"kit", "admin", "migrations"}
"""Mechanics that go by the declarations of tables, and what commands do with the whole installation."""

WRITTEN_BY_OTHERS: dict[tuple[str, str], str] = {}
"""Tables that a package writes although another one owns them, with the reason. None so far."""

READ_FROM_BELOW = {
    ("access", "collections"),
    ("access", "integration_installations"),
    ("access", "integration_places"),
    ("access", "integrations"),
    ("access", "organizations"),
    ("access", "sessions"),
    ("access", "sites"),
    ("access", "spaces"),
    ("identity", "organizations"),
    ("identity", "proved_domains"),
    ("orgs", "sites"),
    ("orgs", "spaces"),
    ("references", "openapi_specs"),
    ("spaces", "branches"),
    ("spaces", "site_section_groups"),
    ("spaces", "site_sections"),
    ("spaces", "site_spaces"),
    ("spaces", "sites"),
}
"""Tables of packages above that one below reads. Rights are one walk from an object outwards, so access reads what it
passes; the rest may only become fewer."""


@cache
def _statements(path: Path) -> list[tuple[int, str]]:
    """Return texts of a file that can be SQL, without docstrings, with the gaps of f-strings as ``?``."""
    docs, parts = set(), set()
    for node in nodes_of(path):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            docs.add(id(body[0].value))
        if isinstance(node, ast.JoinedStr):
            parts.update(id(value) for value in node.values)
    found = []
    for node in nodes_of(path):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(v.value) if isinstance(v, ast.Constant) else "?" for v in node.values)
            found.append((node.lineno, text))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs | parts:
            found.append((node.lineno, node.value))
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "insert" and node.args:
            found.append((node.lineno, f"INSERT INTO {getattr(node.args[0], 'value', '?')}"))
    return found


@cache
def _owners() -> dict[str, str]:
    """Return the package that declares each table."""
    owners = {}
    for path in SRC.rglob("tables.py"):
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Table":
                given = [*node.args[:1], *(word.value for word in node.keywords if word.arg == "name")]
                owners |= {value.value: _name(path) for value in given if isinstance(value, ast.Constant)}
    return owners


def test_a_table_is_only_written_by_its_owner() -> None:
    owners = _owners()
    assert len(owners) > 60
    wrong, used = [], set()
    for path in FILES:
        package = _name(path)
        for line, text in _statements(path) if package not in ALL_TABLES else ():
            for table in WRITES.findall(text):
                owner = owners.get(table, package)
                if owner != package and (package, table) not in WRITTEN_BY_OTHERS:
                    wrong.append(f"{path.relative_to(SRC.parent)}:{line}: {table} is {owner}'s")
                used.add((package, table))
    assert not wrong, "\n".join(wrong)
    assert set(WRITTEN_BY_OTHERS) <= used, "no exceptions are needed for these any more"


def test_tables_of_packages_above_are_not_read() -> None:
    owners = _owners()
    wrong, used = [], set()
    for path in FILES:
        package = _name(path)
        for line, text in _statements(path) if package not in ALL_TABLES else ():
            for table in READS.findall(text):
                owner = owners.get(table, package)
                if RANK.get(owner, 0) > RANK.get(package, 99):
                    used.add((package, table))
                    if (package, table) not in READ_FROM_BELOW:
                        wrong.append(f"{path.relative_to(SRC.parent)}:{line}: {table} is {owner}'s, above")
    assert not wrong, "\n".join(wrong)
    assert used == READ_FROM_BELOW, f"read no more: {sorted(READ_FROM_BELOW - used)}"


PAGES_BY_HAND = {
    "operations/admin/routes.py",  # jobs in the order of their states
    "organization/orgs/members/store.py",  # Counts for each member are only computed for the shown ones.
    "content/pages/levels.py",
    "content/references/listing.py",
    "content/search/presenting.py",  # of several sources
    "sites/site/preview_presenting.py",  # of a tree
    "organization/spaces/store.py",  # with the total in each row
}
"""Who cuts pages of lists themselves, because a statement with a ``WHERE`` is not all that they are made of. No others;
this list may only become shorter."""


def test_lists_are_paginated_in_one_way() -> None:
    """With ``list_page`` in the database, and with ``slice_items`` in memory: they handle the key in the page
    token, the order, and the additional row."""
    cutting = set()
    for path in FILES:
        for node in nodes_of(path):
            names = [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []
            more = isinstance(node, ast.BinOp) and re.fullmatch(r"(\w+\.)?limit \+ 1", ast.unparse(node))
            if more or "slice_rows" in names:
                cutting.add(path.relative_to(SRC).as_posix())
    assert cutting == PAGES_BY_HAND | {"kit/db/pagination.py"}


def test_urls_of_the_app_are_built_in_one_place() -> None:
    beginning = re.compile(r"/(?:s|o|c)/\Z")
    found = [
        f"{path.relative_to(SRC)}:{node.lineno}"
        for path in FILES
        if path.name != "app_urls.py"
        for node in nodes_of(path)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
        if isinstance(part, ast.Constant) and beginning.search(str(part.value))
    ]
    assert not found, f"core/app_urls.py writes these: {found}"


# --- sites ----------------------------------------------------------------------------------------------


def test_site_paths_are_declared_in_the_route_table() -> None:
    """No other code in the reader dispatches on the end of a path, and each route declares its limits."""
    wrong = []
    for path in FILES:
        if path.relative_to(SRC).parts[0] != "reader" or path.name == "table.py":
            continue
        for node in nodes_of(path):
            asked: list[ast.expr] = []
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                asked = node.args if node.func.attr in ("endswith", "startswith") else []
            elif isinstance(node, ast.Compare):
                asked = [node.left, *node.comparators]
            for expression in asked:
                for part in ast.walk(expression):
                    name = part.id if isinstance(part, ast.Name) else ""
                    text = part.value if isinstance(part, ast.Constant) else ""
                    if name.endswith(("_PATH", "_PATHS")) or (isinstance(text, str) and "~" in text):
                        wrong.append(f"{path.relative_to(SRC)}:{node.lineno}: {ast.unparse(node)}")
    assert not wrong, "\n".join(wrong)
    for one in ROUTES:
        assert (one.method == "POST") == (one.body > 0), one
        assert one.rate in typing.get_args(Rate) and one.pool in typing.get_args(Pool), one
        if one.method == "POST":
            assert find_posted(f"/org/site/section/{one.pattern}") == one
    assert find_posted("/org/site/~asks") is None


def test_every_route_declares_its_limits() -> None:
    def handler(view: View, visit: SiteVisit) -> Later:
        raise NotImplementedError

    for wrong in (
        {"method": "POST", "pool": "calls"},  # a body without a bound
        {"method": "GET", "body": 10, "pool": "calls"},
        {"method": "GET", "rate": "tries", "pool": "calls"},
        {"method": "GET"},  # worked out later, in which threads?
    ):
        with pytest.raises(ValueError, match="~nothing"):
            route("nothing", "~nothing", **wrong)(handler)
    assert find_posted("/~nothing") is None


# --- memory ---------------------------------------------------------------------------------------------

FEW_ARGUMENTS = {
    "content/changes/templates/catalog.py:_built_in_material",
    "organization/identity/oidc.py:_fetcher",
    "extensions/integrations/invoking.py:_host",
    "kit/http/static_files.py:read",
    "kit/http/unknown_keys.py:shape_of",
    "sites/openapi/code_samples.py:_parse",
    "organization/portal/drawing.py:_read",
    "delivery/reader/drawing.py:_load",
    "delivery/studio/serving.py:read_shell",
    "kit/http/mcp.py:_schema",
}
"""Functions that keep every answer they gave, because they are called with files and types of our own alone."""


def test_every_cache_has_a_share_of_the_memory() -> None:
    """One setting bounds all caches, and the manual and metrics name each of them. Small memoized values are bounded
    by number."""
    names: dict[str, int] = {}
    wrong = []
    for path in FILES:
        where = path.relative_to(SRC).as_posix()
        of_caches = {
            alias.name
            for node in nodes_of(path)
            if isinstance(node, ast.ImportFrom) and (node.module or "").endswith("cache")
            for alias in node.names
        }
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef):
                for decorator in map(ast.unparse, node.decorator_list):
                    if (
                        decorator == "cache"
                        and node.args.args
                        and f"{where}:{node.name}" not in FEW_ARGUMENTS
                    ):
                        wrong.append(f"{where}: {node.name} keeps every answer")
            if not isinstance(node, ast.Call) or where == "kit/db/cache.py":
                continue
            called = ast.unparse(node.func)
            if called in ("share", "OwnCache"):
                name, weight = (ast.literal_eval(argument) for argument in node.args)
                names[name] = weight
            elif called in ("Share", "Memory") and called in of_caches:
                wrong.append(f"{where}:{node.lineno}: {called} is for kit/db/cache.py")
            elif called == "lru_cache":
                given = [*node.args, *(keyword.value for keyword in node.keywords)]
                if not given or not 0 < (ast.literal_eval(given[0]) or 0) <= 20_000:
                    wrong.append(f"{where}:{node.lineno}: how many are kept?")
    assert not wrong, "\n".join(wrong)
    manual = (SRC.parents[1] / "docs" / "running" / "memory.md").read_text()
    assert dict(re.findall(r"^\| ([^|]+) \| (\d+) \|$", manual, re.M)) == {
        name: str(weight) for name, weight in names.items()
    }


PASSED_AROUND = {"visit", "dependencies", "batch", "documents", "places", "draft", "sync", "outcome"}
"""Variables of objects that many functions get: a visit, a batch of changes, a running sync, and their parts."""


def test_fields_of_shared_objects_are_set_only_by_their_class() -> None:
    """Values are passed as arguments and returned as results, or set with a method whose name says what they
    mean."""
    wrong = []
    for path in FILES:
        for node in nodes_of(path):
            targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else []
            targets = [node.target] if isinstance(node, ast.AugAssign) else targets
            for target in targets:
                place = target.value if isinstance(target, ast.Subscript) else target
                holder = place.value if isinstance(place, ast.Attribute) else None
                name = holder.id if isinstance(holder, ast.Name) else getattr(holder, "attr", "")
                if name in PASSED_AROUND:
                    wrong.append(f"{path.relative_to(SRC)}:{node.lineno}: {ast.unparse(target)}")
    assert not wrong, "\n".join(wrong)


# --- names ----------------------------------------------------------------------------------------------


def test_names_of_classes_are_unique() -> None:
    """Searching for a class by name finds exactly one. ``schema_name`` gives a class another name in the
    API."""
    named: dict[str, list[str]] = {}
    for path in FILES:
        for node in typing.cast(ast.Module, nodes_of(path)[0]).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                named.setdefault(node.name, []).append(path.relative_to(SRC).as_posix())
    assert not {name: places for name, places in named.items() if len(places) > 1}


def test_long_api_structs_are_built_with_keywords() -> None:
    """No one can count the sixth of many values in a call, and a new field would shift those after it."""
    load_packages()
    wire = [path for path in FILES if path.stem.endswith("wire")]
    assert len(wire) > 30
    long = []
    for path in wire:
        module = import_module(".".join(("octavo", *path.relative_to(SRC).with_suffix("").parts)))
        for one in vars(module).values():
            if isinstance(one, type) and issubclass(one, Struct) and one.__module__ == module.__name__:
                kinds = [parameter.kind for parameter in inspect.signature(one).parameters.values()]
                if sum(kind is not inspect.Parameter.KEYWORD_ONLY for kind in kinds) > 5:
                    long.append(f"{path.relative_to(SRC)}: {one.__name__} lacks kw_only=True")
    assert not long, "\n".join(long)


ANY_SIGNATURES = 389
"""Functions with ``Any`` in their signature. This number may only shrink."""


def test_few_signatures_use_any() -> None:
    """``object`` is for values of any type, ``JsonObject`` for parsed JSON; mypy checks nothing that is done with
    ``Any``."""
    found = 0
    for path in FILES:
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                given = node.args
                arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
                annotations = [one.annotation for one in arguments if one is not None] + [node.returns]
                names = {
                    part.id if isinstance(part, ast.Name) else part.attr
                    for annotation in annotations
                    if annotation is not None
                    for part in ast.walk(annotation)
                    if isinstance(part, ast.Name | ast.Attribute)
                }
                found += "Any" in names
    assert found <= ANY_SIGNATURES, f"{found} signatures have Any"


# --- tests of screens -----------------------------------------------------------------------------------

READ_ONCE = re.compile(
    r"\.(count|title|is_(visible|hidden|checked|disabled|enabled|editable)|inner_(text|html)|text_content|input_value"
    r"|all_(inner_texts|text_contents))\(\)$|\.get_attribute\(|\.evaluate(_all|_handle)?\(.*activeElement|\bpage\.url$"
)
"""Expressions that read the state that a page has at the moment."""


def test_assertions_about_screens_wait() -> None:
    """On a busy machine, a screen shows what a test asserts a moment later. ``expect`` waits for it."""
    tests, wrong = Path(__file__).parent, []
    for path in tests.rglob("*.py"):
        text = path.read_text()
        if re.search(r"playwright|\.(goto|get_by_\w+|locator)\(", text):
            for node in ast.walk(ast.parse(text)):
                parts = ast.walk(node.test) if isinstance(node, ast.Assert) else ()
                wrong += [
                    f"{path.relative_to(tests)}:{part.lineno}: {ast.unparse(part)}"
                    for part in parts
                    if isinstance(part, ast.Call | ast.Attribute) and READ_ONCE.search(ast.unparse(part))
                ]
    assert not wrong, "\n".join(wrong)
