"""Reader for Docusaurus."""

from __future__ import annotations

import math
import posixpath
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from msgspec.structs import replace

from octavo.core.json_types import JsonObject
from octavo.core.pages import slugify
from octavo.core.problems import Problem
from octavo.core.summary import title_of_name

from ..brands import brand_of
from ..layout import Dialect, Entry, Layout, Variant
from ..markdown.literals import UNKNOWN, read_export
from ..source_files import Heads, is_page
from ..trees import MAX_LEVEL, FolderFacts, grow, label_of, pages_below, walk_entries
from ..types import Reader
from ..values import listing, mapping, text_of
from ..variants import MAX_VARIANTS, key_of, laid_over, language_name, left_out
from .configurations import finder, module_at, read_json_file, read_yaml_file, unread_navigation

_DOCUSAURUS = tuple(f"docusaurus.config.{end}" for end in ("js", "ts", "mjs", "cjs", "mts"))
_FIRST_DOCUSAURUS = "siteConfig.js"
_SIDEBARS = tuple(f"sidebars.{end}" for end in ("js", "ts", "mjs", "cjs", "json"))
_PREFIX = re.compile(r"^\d+\s*[-_.]+\s*(?=[^\d\s])")


def _find_docusaurus(files: Heads) -> str | None:
    """Return the folder of the configuration. If a package contains only documents and their sidebar, return the
    folder of the sidebar."""
    found = finder(*_DOCUSAURUS)(files)
    if found is None:
        found = finder(_FIRST_DOCUSAURUS, accept=lambda text: "headerLinks" in text or "docsUrl" in text)(
            files
        )
    if found is None:
        found = finder(*_SIDEBARS)(files)
        if found is not None and not any(is_page(path) and path.startswith(found) for path in files.paths):
            return None
    return found


def _docusaurus_config(files: Heads, project: str) -> tuple[str, JsonObject]:
    """Return the path and the values of the configuration file. If there is no such file, the path is empty.
    Docusaurus 1 kept documents next to the configuration folder, and used different names for the same settings."""
    path = next((project + name for name in _DOCUSAURUS if project + name in files.known), "")
    if path:
        return path, mapping(read_export(module_at(files, path)))
    path = project + _FIRST_DOCUSAURUS
    if path not in files.known:
        # The sidebar is for documents alongside it or in a separate folder.
        has_folder = any(path.startswith(f"{project}docs/") and is_page(path) for path in files.paths)
        return "", {"presets": [["classic", {"docs": {"path": "docs" if has_folder else "."}}]]}
    said = mapping(read_export(module_at(files, path)))
    route = said.get("docsUrl")
    docs = {
        "path": posixpath.join("..", text_of(said.get("customDocsPath")) or "docs"),
        "routeBasePath": route if isinstance(route, str) else "docs",
        "sidebarPath": "sidebars.json",
    }
    return path, {**said, "presets": [["classic", {"docs": docs}]]} if said else {}


def _docusaurus(files: Heads, project: str) -> Layout:
    _, config = _docusaurus_config(files, project)
    docs = next(
        (
            mapping(mapping(preset[1]).get("docs"))
            for preset in listing(config.get("presets"))
            if isinstance(preset, list) and len(preset) > 1
        ),
        {},
    )
    said = read_json_file(files, f"{project}versions.json", [])
    versions = [
        text_of(one)
        for one in listing(said)
        if any(path.startswith(f"{project}versioned_docs/version-{text_of(one)}/") for path in files.paths)
    ]
    last = text_of(docs.get("lastVersion")) or (versions[0] if versions else "current")
    current = docs.get("includeCurrentVersion") is not False and any(
        path.startswith(_docs_folder(project, docs)) for path in files.paths
    )
    # If the current documents aren't published, the latest version is the default.
    layout = _docusaurus_of(files, project, None if current or last not in versions else last, "")
    i18n = mapping(config.get("i18n"))
    first = text_of(i18n.get("defaultLocale")) or "en"
    locales = [
        name
        for name in dict.fromkeys(
            [*(text_of(one) for one in listing(i18n.get("locales"))), *_folders(files, f"{project}i18n/")]
        )
        if name
        and name != first
        and any(
            path.startswith(f"{project}i18n/{name}/docusaurus-plugin-content-docs/") for path in files.paths
        )
    ]
    facts = mapping(docs.get("versions"))
    taken: set[str] = set()
    variants: list[Variant] = []
    shown = ["current", *versions] if current or not versions else [*versions]
    shown.sort(key=lambda version: version != last)
    for version in shown:
        about = mapping(facts.get(version))
        label = text_of(about.get("label")) or ("Next" if version == "current" and versions else version)
        where = text_of(about.get("path")) or (
            "" if version == last else "next" if version == "current" else version
        )
        for locale in ["", *locales]:
            tongue = language_name(
                locale or first,
                text_of(mapping(mapping(i18n.get("localeConfigs")).get(locale or first)).get("label")),
            )
            title = " · ".join(
                part for part in (label if versions else "", tongue if locales else "") if part
            )
            variants.append(
                Variant(
                    key=key_of(taken, version if versions else "", locale or (first if locales else "")),
                    title=title or "Current",
                    language=locale or text_of(i18n.get("defaultLocale")) or None,
                    path="-".join(part for part in (locale, where.strip("/").replace("/", "-")) if part)
                    or None,
                    default=version == last and not locale,
                    lay_out=partial(
                        _docusaurus_of,
                        files,
                        project,
                        None if version == "current" else version,
                        locale,
                        where.strip("/"),
                    ),
                )
            )
    problems = list(layout.problems)
    brand = brand_of(files, project, "docusaurus", config, problems)
    left = []
    if versions:
        left.append(left_out(f"{project}versioned_docs", "versions", versions))
    if locales:
        left.append(left_out(f"{project}i18n", "translations", locales))
    several = variants[:MAX_VARIANTS] if len(variants) > 1 else []
    return replace(layout, brand=brand, problems=problems, left=left, variants=several)


def _folders(files: Heads, root: str) -> list[str]:
    return sorted({path[len(root) :].partition("/")[0] for path in files.paths if path.startswith(root)})


def _docusaurus_of(files: Heads, project: str, version: str | None, locale: str, where: str = "") -> Layout:
    """Return the layout of one version in one language. ``version``: empty for the current documents. ``locale``:
    empty for the default language. ``where``: the URL prefix of the version."""
    problems: list[Problem] = []
    config_path, config = _docusaurus_config(files, project)
    if not config:
        problems.append(unread_navigation(config_path, "the configuration"))
    i18n = mapping(config.get("i18n"))
    tongue = locale or text_of(i18n.get("defaultLocale"))
    redirects: dict[str, str] = {}
    instances: list[dict[str, Any]] = []
    for preset in listing(config.get("presets")):
        given = mapping(preset[1]) if isinstance(preset, list) and len(preset) > 1 else {}
        if given.get("docs") is not False:
            instances.append(mapping(given.get("docs")))
    for plugin in listing(config.get("plugins")):
        name, given = (
            (plugin[0], mapping(plugin[1])) if isinstance(plugin, list) and len(plugin) > 1 else (plugin, {})
        )
        if "plugin-content-docs" in str(name):
            instances.append(given)
        elif "client-redirects" in str(name):
            for one in listing(given.get("redirects")):
                for old in (
                    [one.get("from")]
                    if isinstance(mapping(one).get("from"), str)
                    else listing(mapping(one).get("from"))
                ):
                    redirects[text_of(old).strip("/")] = text_of(mapping(one).get("to"))
            if given.get("createRedirects", None) is not None:
                problems.append(
                    Problem(
                        config_path,
                        0,
                        "redirect_left_out",
                        "redirects created by a function are computed when the site is built, so they weren't"
                        " imported",
                    )
                )
    if version is not None:
        own = f"{project}versioned_docs/version-{version}/"
        sidebars = f"versioned_sidebars/version-{version}-sidebars.json"
        instances = [
            {**one, "path": own[len(project) :], "sidebarPath": sidebars} if at == 0 else one
            for at, one in enumerate(instances or [{}])
        ]
    instances = [
        one
        for one in instances or [{}]
        if any(path.startswith(_docs_folder(project, one)) for path in files.paths)
    ]
    if not instances:
        instances = [{"path": "docs"}]
    labels = {
        text_of(one.get("sidebarId")): text_of(one.get("label"))
        for one in listing(mapping(mapping(config.get("themeConfig")).get("navbar")).get("items"))
        if isinstance(one, dict)
    }
    entries: list[Entry] = []
    addresses: dict[str, str] = {}
    for at, instance in enumerate(instances):
        docs = _Docs(files, project, instance, labels, where if at == 0 else "")
        made = docs.entries()
        addresses |= docs.addresses
        redirects |= docs.redirects
        problems += docs.problems
        title = title_of_name(
            text_of(instance.get("id")) or _docs_folder(project, instance).rstrip("/").rpartition("/")[2]
        )
        entries += [Entry(title=title, children=made)] if len(instances) > 1 else made
    for folder, code, what in (
        ("blog/", "blog_left_out", "The blog wasn't imported."),
        ("src/pages/", "pages_left_out", "Pages built from components weren't imported."),
    ):
        if any(path.startswith(project + folder) for path in files.paths):
            problems.append(
                Problem(
                    project + folder.rstrip("/"),
                    0,
                    code,
                    f"{what} Import the folder separately.",
                )
            )
    layout = Layout(
        entries=entries,
        addresses=addresses,
        redirects=redirects,
        dialect=Dialect(
            jsx=() if config_path.endswith(_FIRST_DOCUSAURUS) else (".md", ".mdx"),
            dollars="remark-math" in (files.text(config_path) or "")
            or "remarkMath" in (files.text(config_path) or "")
            or "-katex" in (files.text(config_path) or ""),
        ),
        root=project if len(instances) > 1 else _docs_folder(project, instances[0]),
        statics=tuple(
            f"{project}{one}/"
            for one in listing(config.get("staticDirectories")) or ["static"]
            if isinstance(one, str)
        ),
        site=text_of(config.get("url")),
        base=text_of(config.get("baseUrl")),
        title=text_of(config.get("title")),
        description=text_of(config.get("tagline"))
        if locale in ("", text_of(i18n.get("defaultLocale")))
        else "",
        problems=problems,
        language=text_of(mapping(mapping(i18n.get("localeConfigs")).get(tongue)).get("htmlLang")) or tongue,
    )
    if not locale:
        return layout
    named = f"{project}i18n/{locale}/docusaurus-plugin-content-docs"
    roots = [
        (
            _docs_folder(project, one),
            f"{named}{'' if one.get('id') in (None, 'default') else '-' + text_of(one.get('id'))}/"
            f"{f'version-{version}' if version is not None and at == 0 else 'current'}/",
        )
        for at, one in enumerate(instances)
    ]

    def translated(path: str) -> str | None:
        for under, over in roots:
            if path.startswith(under):
                stem = posixpath.splitext(over + path[len(under) :])[0]
                return next((stem + end for end in (".md", ".mdx") if stem + end in files.known), None)
        return None

    words: dict[str, str] = {}
    for _, over in roots:
        for key, one in mapping(read_json_file(files, over.rstrip("/") + ".json", problems)).items():
            if found := re.match(r"sidebar\.[^.]+\.(?:category|link|doc)\.(.+?)(?:\.link\..*)?$", str(key)):
                words.setdefault(found[1], text_of(mapping(one).get("message")))
    over_it = laid_over(layout, translated, labels={k: v for k, v in words.items() if v}, begins=locale)
    overlays = tuple((over, under) for under, over in roots)
    return replace(over_it, problems=problems, overlays=overlays, begins=locale)


def _docs_folder(project: str, instance: Mapping[str, object]) -> str:
    folder = posixpath.normpath(posixpath.join(project, text_of(instance.get("path")) or "docs")).lstrip("./")
    return f"{folder}/" if folder else ""


class _Docs:
    """Set of Docusaurus documents: their IDs, URL paths, and sidebars."""

    def __init__(
        self,
        files: Heads,
        project: str,
        instance: JsonObject,
        labels: dict[str, str],
        where: str = "",
    ) -> None:
        self.files, self.project, self.instance, self.labels = files, project, instance, labels
        self.addresses: dict[str, str] = {}
        self.redirects: dict[str, str] = {}
        self.problems: list[Problem] = []
        self.root = _docs_folder(project, instance)
        self.route = instance["routeBasePath"] if isinstance(instance.get("routeBasePath"), str) else "docs"
        self.paths = pages_below(
            files, self.root, lambda path: any(part.startswith("_") for part in path.split("/"))
        )
        self.ids: dict[str, str] = {}
        for path in self.paths:
            head = files.head(path)
            inside = [
                _PREFIX.sub("", part) for part in posixpath.splitext(path[len(self.root) :])[0].split("/")
            ]
            own = text_of(head.get("id")) or inside[-1]
            id = "/".join([*inside[:-1], own])
            self.ids.setdefault(id, path)
            folder, name = inside[:-1], inside[-1]
            if name.lower() in ("index", "readme") or (folder and name.lower() == folder[-1].lower()):
                address = "/".join(folder)
            else:
                address = "/".join([*folder, own])
            if slug := text_of(head.get("slug")):
                address = slug if slug.startswith("/") else posixpath.normpath("/".join([*folder, slug]))
            self.addresses[path] = "/".join(
                part for part in (self.route.strip("/"), where, address.strip("/")) if part
            )

    def entries(self) -> list[Entry]:
        given = self.instance.get("sidebarPath")
        if given is False:
            return []
        named = text_of(given)
        candidates = [posixpath.normpath(posixpath.join(self.project, named))] if named else []
        candidates += (
            [self.project + name for name in _SIDEBARS]
            if self.instance.get("id") in (None, "default") and not named.startswith("versioned_sidebars/")
            else []
        )
        path = next((one for one in candidates if one in self.files.known), None)
        if path is None:
            return self.auto(self.root)
        sidebars = read_export(module_at(self.files, path))
        if not isinstance(sidebars, dict):
            self.problems.append(unread_navigation(path, "the sidebar"))
            return self.auto(self.root)
        made = []
        for name, items in sidebars.items():
            children = self.items(items, 0, path)
            made.append(
                Entry(
                    title=self.labels.get(name)
                    or title_of_name(re.sub(r"(?<=[a-z])Sidebar$|Sidebar$", "", name) or name),
                    children=children,
                )
            )
        made = [entry for entry in made if entry.children]
        return made[0].children if len(made) == 1 else made

    def items(self, given: object, level: int, where: str) -> list[Entry]:
        if isinstance(given, dict) and "type" not in given:
            given = [{"type": "category", "label": label, "items": items} for label, items in given.items()]
        made: list[Entry] = []
        for item in listing(given) if level < MAX_LEVEL else []:
            made += self.item(item, level, where)
        return made

    def item(self, item: Any, level: int, where: str) -> list[Entry]:
        if isinstance(item, str):
            return self.document(item, None, where)
        if item is UNKNOWN or not isinstance(item, dict):
            self.problems.append(unread_navigation(where, "a part of the sidebar"))
            return []
        kind = item.get("type")
        if kind is None:
            return self.items(item, level, where)
        if kind in ("doc", "ref"):
            return self.document(text_of(item.get("id")), text_of(item.get("label")) or None, where)
        if kind == "link":
            return [Entry(title=text_of(item.get("label")), href=text_of(item.get("href")))]
        if kind == "autogenerated":
            folder = text_of(item.get("dirName")).strip("./")
            return self.auto(f"{self.root}{folder}/" if folder else self.root, folder != "")
        if kind == "subcategory":
            return [
                Entry(
                    title=text_of(item.get("label")), children=self.items(item.get("ids"), level + 1, where)
                )
            ]
        if kind == "category":
            link = mapping(item.get("link"))
            own = self.document(text_of(link.get("id")), None, where) if link.get("type") == "doc" else []
            children = self.items(item.get("items"), level + 1, where)
            path = own[0].path if own else None
            slug = link.get("slug")
            if link.get("type") == "generated-index" and not isinstance(slug, str):
                slug = f"category/{slugify(text_of(item.get('label')))}"
            if path is None and isinstance(slug, str):
                first = next((child.path for child in walk_entries(children) if child.path), None)
                if first:
                    self.redirects[f"{self.route.strip('/')}/{slug.strip('/')}".strip("/")] = first
            return [
                Entry(
                    title=text_of(item.get("label")) or None,
                    path=path,
                    children=[child for child in children if child.path is None or child.path != path],
                )
            ]
        return []

    def document(self, id: str, label: str | None, where: str) -> list[Entry]:
        path = self.ids.get(id) or self.ids.get("/".join(_PREFIX.sub("", part) for part in id.split("/")))
        if path is None:
            self.problems.append(
                Problem(where, 0, "missing_file", f"{id[:200]} in the sidebar doesn't exist")
            )
            return []
        return [Entry(title=label or label_of(self.files.head(path)), path=path)]

    def auto(self, root: str, below: bool = False) -> list[Entry]:
        entries = grow(
            self.files,
            [path for path in self.paths if path.startswith(root)],
            root,
            self.facts,
            same_name=True,
        )
        return [entry for entry in entries if self.files.head(entry.path or "").get("unlisted") is not True]

    def facts(self, folder: str) -> FolderFacts:
        for name in ("_category_.json", "_category_.yml", "_category_.yaml"):
            if folder + name in self.files.known and folder != self.root:
                said = (
                    mapping(read_json_file(self.files, folder + name, self.problems))
                    if name.endswith("json")
                    else read_yaml_file(self.files, folder + name, self.problems)
                )
                link = mapping(said.get("link"))
                page = self.ids.get(text_of(link.get("id"))) if link.get("type") == "doc" else None
                position = said.get("position")
                return FolderFacts(
                    text_of(said.get("label")) or None,
                    float(position) if isinstance(position, (int, float)) else math.inf,
                    page,
                )
        return FolderFacts()


DOCUSAURUS = Reader("docusaurus", "Docusaurus", _find_docusaurus, _docusaurus)
