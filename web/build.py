"""Build the browser code from the sources in this folder and from declarations in the Python sources.

    python web/build.py            builds the app if a source is newer
    python web/build.py check      checks formatting, lint, and types
    python web/build.py test       runs the tests next to the sources

Packages come from the npm registry, as listed in `deno.lock`, without their install scripts. If the registry can't be
reached, the build prints a message and succeeds, because the API and sites work without the app.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from packages import licenses

WEB = Path(__file__).parent
PYTHON = WEB.parent / "src" / "octavo"
DIST = PYTHON / "delivery" / "studio" / "dist"
ASCIIDOC = PYTHON / "interchange" / "readers" / "dist" / "asciidoc.js"
"""Library that reads AsciiDoc."""
INTEGRATIONS, BUILTIN = WEB.parent / "integrations", PYTHON / "extensions" / "integrations" / "dist"
"""Sources of the built-in integrations, and their build output."""
GENERATED = WEB / "generated"
READER_STYLES = PYTHON / "delivery" / "reader" / "static" / "octavo.css"
TOKENS = PYTHON / "organization" / "portal" / "static" / "tokens.css"
DENO = Path(sys.executable).parent / "deno"
_SVG = re.compile(r'viewBox="([^"]+)".*?<path[^>]* d="([^"]+)"', re.S)
_STAMP = ".made-of"
_NOT_SOURCES = ("node_modules", "generated")


def _sources() -> Iterable[Path]:
    """Return the source files of the app and of the built-in integrations. Types of the API aren't
    part of the build, so operations aren't listed."""
    yield from sorted(
        path
        for path in WEB.rglob("*")
        if path.is_file() and path.relative_to(WEB).parts[0] not in _NOT_SOURCES and ".test." not in path.name
    )
    yield from sorted(
        path
        for path in INTEGRATIONS.rglob("*")
        if path.is_file() and "node_modules" not in path.relative_to(INTEGRATIONS).parts
    )
    yield from (
        PYTHON / "operations" / "developing" / name for name in ("bundle.mjs", "examples.py", "manifest.py")
    )
    yield PYTHON / "core" / "color.py"
    yield PYTHON / "core" / "document" / "schema.py"
    yield PYTHON / "core" / "editor" / "schema.py"
    yield PYTHON / "core" / "page_fields.py"
    yield PYTHON / "core" / "pages.py"
    yield PYTHON / "sites" / "site" / "customization" / "model.py"
    yield PYTHON / "sites" / "site" / "customization" / "settings.py"
    yield READER_STYLES
    yield TOKENS


def _hash(paths: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for path in paths:
        found.update(f"{path.relative_to(WEB.parent)}\0".encode())
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def _write(path: Path, text: str) -> None:
    """Write a file only if its content differs, so that tools that watch files notice only changes."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def _deno(*arguments: str) -> int:
    return subprocess.run([DENO, *arguments], cwd=WEB, check=False).returncode


def _install() -> bool:
    """Install the packages in the lock file. Return whether this was possible."""
    wanted = _hash([WEB / "package.json", WEB / "deno.lock"])
    stamp = WEB / "node_modules" / _STAMP
    if stamp.exists() and stamp.read_text() == wanted:
        return True
    if _deno("install", "--quiet", "--frozen"):
        return False
    stamp.write_text(wanted)
    return True


def _generate_look() -> None:
    """Write the colors of the default theme, the icons in icons.json as one sheet of symbols with their widths, and the
    names of all icons that a page can have."""
    from fontawesome_free_pack import get_icon

    from octavo.core.color import theme
    from octavo.core.icons import free_names

    _write(GENERATED / "colors.css", f"{theme().css()}\n")
    symbols, widths = "", {}
    for name, wanted in json.loads((WEB / "shared" / "icons.json").read_text()).items():
        found = get_icon(wanted)
        assert found is not None, f"icons.json: {wanted} isn't a Font Awesome Free icon"
        box, path = _SVG.search(found.svg).groups()
        symbols += f'<symbol id="{name}" viewBox="{box}"><path d="{path}"/></symbol>'
        widths[name] = int(box.split()[2])
    _write(GENERATED / "icons.svg", f'<svg xmlns="http://www.w3.org/2000/svg">{symbols}</svg>\n')
    _write(GENERATED / "icons.ts", f"export const WIDTHS = {json.dumps(widths, indent=2)} as const;\n")
    _write(GENERATED / "icon-names.json", f"{json.dumps(free_names())}\n")
    _write(GENERATED / "tokens.css", TOKENS.read_text())
    styles, rich_styles = page_styles(READER_STYLES.read_text())
    _write(GENERATED / "page.css", styles)
    _write(GENERATED / "rich-page.css", rich_styles)


def _generate_nodes() -> None:
    from emoji import EMOJI_DATA

    from octavo.core.document.description import node_types
    from octavo.core.editor.schema import VERSION

    named = [
        [sign, *(name.strip(":").lower() for name in (names["en"], *names.get("alias", ())))]
        for sign, names in EMOJI_DATA.items()
        if names["status"] == 2 and "skin_tone" not in names["en"]
    ]
    _write(GENERATED / "emoji.json", json.dumps(named, ensure_ascii=False, separators=(",", ":")))

    # Fields are only needed to edit.
    nodes = {**node_types(), "editor": VERSION}
    fields = {
        kind: {name: row.pop("data") for name, row in nodes[kind].items()} for kind in ("blocks", "inlines")
    }
    _write(GENERATED / "nodes.json", f"{json.dumps(nodes, indent=1)}\n")
    _write(GENERATED / "node-fields.json", f"{json.dumps(fields, indent=1)}\n")
    _write(GENERATED / "page-fields.ts", page_fields())
    _write(GENERATED / "customization.ts", customization())


def page_fields() -> str:
    """Return the module with the labels of the fields of pages by their names in the API, and those that a
    form sets."""
    from typing import get_args

    from octavo.core.page_fields import FIELDS, FieldType, wire_name
    from octavo.core.pages import PAGE_FIELDS

    labels, forms = "", ""
    # A page's title and path come first.
    for name in sorted(PAGE_FIELDS, key=FIELDS.__contains__):
        field = PAGE_FIELDS[name]
        wire = field.wire or wire_name(name)
        labels += f"  {wire}: t({json.dumps(field.label)}),\n"
        if field.edited and field.shown in ("everyone", "members"):
            forms += f"  {json.dumps({'name': wire, 'type': field.type, 'kinds': field.kinds})},\n"
    types = " | ".join(map(json.dumps, get_args(FieldType)))
    return (
        'import { t } from "../shared/words.ts";\n\n'
        f"export const LABELS: Record<string, string> = {{\n{labels}}};\n\n"
        f"export interface PageField {{\n  name: string;\n  type: {types};\n  kinds: readonly string[];\n}}\n\n"
        f"export const PAGE_FIELDS: readonly PageField[] = [\n{forms}];\n"
    )


class _Text(str):
    """Key of a text of the app."""


def _script(value: object) -> str:
    """Return a value as source text, with the texts of the app in place of their keys."""
    if isinstance(value, _Text):
        return f"t({json.dumps(value)})"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name}: {_script(one)}' for name, one in value.items())} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_script, value))}]"
    return json.dumps(value, ensure_ascii=False)


def customization() -> str:
    """Return the module with the settings that the app offers, and with what site spaces can override."""
    from typing import Literal, get_args, get_origin

    from octavo.sites.site.customization.model import OVERRIDABLE, Customization
    from octavo.sites.site.customization.settings import Control, Section, list_settings

    english = json.loads((WEB / "shared" / "words" / "en.json").read_text())

    def text(key: str) -> _Text:
        if key not in english:
            raise KeyError(key)
        return _Text(key)

    lines = ""
    for declared in list_settings(Customization):
        setting, path = declared.setting, ".".join(declared.path)
        if not setting.label:
            continue
        values = [one for type_ in declared.types if get_origin(type_) is Literal for one in get_args(type_)]
        labels = setting.names | {value: text(key) for value, key in setting.options.items()}
        if setting.control != "switch" and labels.keys() != set(values):
            raise ValueError(f"{path}: values and labels differ: {labels.keys() ^ set(values)}")
        field = {
            "path": path,
            "section": setting.section,
            "control": setting.control,
            "label": text(setting.label),
            "hint": text(setting.hint) if setting.hint else "",
            "options": list(labels.items()),
            "switched": (values or [False, True]) if setting.control == "switch" else [],
            "only": setting.only,
            "initial": setting.initial,
            "siteOnly": setting.site_only,
            "optional": declared.optional,
        }
        lines += f"  {_script(field)},\n"
    titles = {name: text(name) for name in get_args(Section) if name != "main"}
    return (
        'import { t } from "../shared/words.ts";\n\n'
        f"export const SECTIONS = {_script(titles)};\n\n"
        "export interface Setting {\n  path: string;\n"
        f"  section: {' | '.join(map(json.dumps, get_args(Section)))};\n"
        f"  control: {' | '.join(map(json.dumps, get_args(Control)))};\n  label: string;\n  hint: string;\n"
        "  options: readonly (readonly [string, string])[];\n"
        "  /** The values of a switch when off and on. */\n  switched: readonly unknown[];\n"
        "  only: readonly [path: string, value: unknown] | null;\n  initial: unknown;\n  siteOnly: boolean;\n"
        "  /** Whether it can be unset. */\n  optional: boolean;\n}\n\n"
        f"export const SETTINGS: readonly Setting[] = [\n{lines}];\n\n"
        "export interface Parts {\n  readonly [name: string]: Parts | null;\n}\n\n"
        f"export const OVERRIDABLE: Parts = {json.dumps(OVERRIDABLE, indent=2)};\n"
    )


def _generate_documents() -> None:
    """Write pages in the format of the API, for the tests of the editor: those of this project, and of the folders in
    ``OCTAVO_DOCUMENTS``."""
    from octavo.core.document.json import to_json
    from octavo.core.document.page import split_page
    from octavo.core.document.reader import read

    own = [WEB.parent / "docs", WEB.parent / "tests" / "handbook", WEB / "studio" / "document"]
    given = [Path(name) for name in os.environ.get("OCTAVO_DOCUMENTS", "").split(os.pathsep) if name]
    found = {
        str(path): to_json(read(split_page(path.read_text(errors="replace"))[2]))
        for folder in own + given
        for path in sorted(folder.rglob("*.md"))
    }
    _write(GENERATED / "documents.json", json.dumps(found))


_GROUND = (
    r"(?::root \{|\*,|body|h1|ul|img|a \{|button|summary|small|\.i\b|\.icon\b"
    r"|:root\[data-theme=\"light\"\] \.only|@media.*\.only-)"
)
_WHOLE = ("Icons", "Text", "Horizontally", "Code", "Hints", "Tables", "Images", "Updates")
_LINES = {"Base": _GROUND, "Buttons": r"\.button|\.tag", "Page": r"h1|\.lead|\.cover"}
_RICH = ("Buttons", "Code", "Hints", "Images", "Updates")
"""The sections for blocks that many pages don't have."""


def page_styles(reader: str) -> tuple[str, str]:
    """Return the reader's styles for page content, limited to ``.page-text``, so that a page looks the same in the app
    as on a site: those for text and tables, and those for all other blocks.

    ``reader``: the reader's whole style sheet, in sections with a one-line comment above each. Raises ValueError if a
    section that pages need is missing.
    """
    inside: list[str] = []
    rich: list[str] = []
    outside: list[str] = []
    missing = {*_WHOLE, *_LINES}
    for section in re.split(r"\n\n(?=/\* )", reader):
        title, _, body = section.partition("*/\n")
        name = title.removeprefix("/* ").split(" ")[0].strip(",:")
        missing.discard(name)
        wanted = "" if name in _WHOLE else _LINES.get(name)
        if wanted is None:
            continue
        # Each rule starts in the first column.
        for rule in re.split(r"\n(?=[^\s}])", body):
            if rule.startswith(("@property", "@keyframes")):
                outside.append(rule)
            elif re.match(wanted, rule):
                (rich if name in _RICH else inside).append(_inside_page(rule))
    if missing:
        raise ValueError(f"sections missing in the reader's style sheet: {sorted(missing)}")
    return (
        "\n".join([*outside, ".page-text {", *inside, "}", ""]),
        "\n".join([".page-text {", *rich, "}", ""]),
    )


def _inside_page(rule: str) -> str:
    """Convert a rule for use inside of ``.page-text``: styles of the root and body apply to the page, and a theme or
    direction to its parents."""
    rule = re.sub(r"^(?::root|body) \{", "& {", rule, flags=re.M)
    rule = re.sub(r"(?<=\s)color-scheme:[^;]*;\s*", "", rule)
    return re.sub(r"(:root\[[^\]]*\]|:root:not\([^)]*\)|\[dir=\"rtl\"\]) (?=[.:])", r"\1 & ", rule)


def _generate_types() -> int:
    import msgspec

    from octavo.app import describe_api
    from octavo.operations.installation import load_packages
    from octavo.settings import Settings

    load_packages()
    description = msgspec.json.encode(describe_api(Settings()), order="sorted").decode()
    _write(GENERATED / "openapi.json", description)
    wanted = _hash([GENERATED / "openapi.json", WEB / "deno.json", WEB / "deno.lock"])
    stamp = GENERATED / _STAMP
    if stamp.exists() and stamp.read_text() == wanted and (GENERATED / "schema.d.ts").exists():
        return 0
    failed = _deno("task", "--quiet", "types")
    if not failed:
        stamp.write_text(wanted)
    return failed


def _build_integrations() -> None:
    """Build the built-in integrations. They have other packages than the app. If these can't be installed, the catalog
    has no built-in integrations."""
    from octavo.errors import OctavoError
    from octavo.operations.developing.examples import build_builtin

    shutil.rmtree(BUILTIN, ignore_errors=True)
    try:
        build_builtin(BUILTIN, print)
    except OctavoError as error:
        shutil.rmtree(BUILTIN, ignore_errors=True)
        print(f"The built-in integrations weren't built: {error}")


def build() -> int:
    made_of = _hash(_sources())
    stamp = DIST / _STAMP
    if stamp.exists() and stamp.read_text() == made_of and ASCIIDOC.exists() and BUILTIN.exists():
        return 0
    if not _install():
        print(
            "The app wasn't built because its packages couldn't be installed from the npm registry (see above)."
        )
        print("The API, sites, and imports (except AsciiDoc) work without it. Run `make setup` to try again.")
        return 0
    _generate_look()
    _generate_nodes()
    failed = _deno("task", "--quiet", "build")
    if not failed:
        _build_integrations()
        (DIST / "licenses.txt").write_text(licenses())
        stamp.write_text(made_of)
    return failed


def check() -> int:
    if not _install():
        return 1
    _generate_look()
    _generate_nodes()
    return (
        _deno("fmt", "--quiet", "--check")
        or _deno("lint", "--quiet")
        or _generate_types()
        or _deno("task", "--quiet", "check")
    )


def test() -> int:
    if not _install():
        return 1
    _generate_look()
    _generate_nodes()
    _generate_documents()
    return _deno("task", "--quiet", "test")


if __name__ == "__main__":
    sys.exit({"build": build, "check": check, "test": test}[(sys.argv[1:] or ["build"])[0]]())
