"""Versions and languages of one source: each becomes a part of its own, with its tree, its links and its words."""

import json

import pytest

from octavo.admin.docs_sites import BroughtSite, bring_source
from octavo.admin.import_export import preview
from octavo.errors import Forbidden
from octavo.transfer import variants
from octavo.transfer.readers import read_source

from .bringing_in import archive
from .test_readers import adding, brought, problems, source_of, text, tree

PNG = b"\x89PNG\r\n\x1a\n"


def parts_of(files, kind=None):
    made = read_source(source_of(files), lambda source: source, adding, lambda: None, kind, several=True)
    return made, {key: tree(part) for key, part in made.parts.items()}


def told(made):
    return [(one.key, one.title, one.path, one.language, one.default) for one in made.structure]


DOCUSAURUS = {
    "docusaurus.config.js": "module.exports = {title: 'Acme', i18n: {defaultLocale: 'en', locales: ['en', 'de'], localeConfigs: {de: {label: 'Deutsch'}}},"
    " presets: [['classic', {docs: {sidebarPath: './sidebars.js', versions: {current: {label: 'Canary'}}}}]]};\n",
    "sidebars.js": "module.exports = {docs: ['intro', {type: 'category', label: 'Guides', items: ['guides/new']}]};\n",
    "versions.json": '["2.0", "1.0"]',
    "docs/intro.md": "---\nslug: /\n---\n# Newest\n",
    "docs/guides/new.md": "# New guide\n",
    "versioned_docs/version-2.0/intro.md": "---\nslug: /\n---\n# Second\n\nSee [guide](guides/old.md) and ![a](./a.png).\n",
    "versioned_docs/version-2.0/guides/old.md": "# Old guide\n",
    "versioned_docs/version-2.0/a.png": PNG,
    "versioned_sidebars/version-2.0-sidebars.json": '{"docs": ["intro", {"type": "category", "label": "Guides", "items": ["guides/old"]}]}',
    "versioned_docs/version-1.0/intro.md": "# First\n",
    "i18n/de/docusaurus-plugin-content-docs/version-2.0/intro.md": "---\nslug: /\n---\n# Zweite\n\nSiehe [Anleitung](guides/old.md) und ![a](./a.png).\n",
    "i18n/de/docusaurus-plugin-content-docs/version-2.0.json": '{"sidebar.docs.category.Guides": {"message": "Anleitungen"}}',
    "i18n/de/code.json": "{}",
}


def test_docusaurus():
    made, trees = parts_of(DOCUSAURUS)
    assert told(made) == [
        ("2-0-en", "2.0 · English", None, "en", True), ("2-0-de", "2.0 · Deutsch", "de", "de", False),
        ("current-en", "Canary · English", "next", "en", False), ("current-de", "Canary · Deutsch", "de-next", "de", False),
        ("1-0-en", "1.0 · English", "1.0", "en", False), ("1-0-de", "1.0 · Deutsch", "de-1.0", "de", False),
    ]  # fmt: skip
    assert trees["2-0-en"] == {"Second": {}, "Guides": {"Old guide": {}}}
    assert trees["2-0-de"] == {"Zweite": {}, "Anleitungen": {"Old guide": {}}}
    assert trees["current-en"] == {"Newest": {}, "Guides": {"New guide": {}}} and trees["1-0-en"] == {"First": {}}  # fmt: skip
    german = made.parts["2-0-de"]
    assert (
        text(german, "README.md")
        == "# Zweite\n\nSiehe [Anleitung](guides/old.md) und ![a](.gitbook/assets/a.png).\n"
        or "(guides/old.md) und ![a](a.png)" in text(german, "README.md")
    )
    assert {code for part in made.parts.values() for _, _, code in problems(part)} == set()
    assert "docs/next/guides/new" in made.parts["current-en"].addresses
    assert "de/docs/guides/old" in german.addresses
    one = brought(DOCUSAURUS)
    assert tree(one) == {"Newest": {}, "Guides": {"New guide": {}}}
    assert {code for _, _, code in problems(one)} == {"versions_left_out", "translations_left_out"}


OTHERS = {
    "vitepress": (
        {
            ".vitepress/config.ts": "export default {title: 'V', locales: {root: {label: 'English', lang: 'en'}, zh: {label: '简体中文', lang: 'zh-Hans', themeConfig: {sidebar: [{text: '指南', items: [{text: '开始', link: '/zh/guide/start'}]}]}}},"
            " themeConfig: {sidebar: [{text: 'Guide', items: [{text: 'Start', link: '/guide/start'}]}]}}",
            "index.md": "# Home\n", "README.md": "# Of the repository\n", "guide/start.md": "# Start\n", "zh/index.md": "# 主页\n\n[a](/zh/guide/start) ![i](/a.png)\n", "zh/guide/start.md": "# 开始\n", "public/a.png": PNG,
        },
        [("root", "English", None, "en", True), ("zh", "简体中文", "zh", "zh", False)],
        {"Home": {}, "Guide": {"Start": {}}, "Of the repository": {}}, {"主页": {}, "指南": {"开始": {}}}, "(guide/start.md) ![i](a.png)",
    ),
    "starlight": (
        {
            "astro.config.mjs": "import starlight from '@astrojs/starlight';\nexport default defineConfig({integrations: [starlight({title: 'S', defaultLocale: 'root', locales: {root: {label: 'English', lang: 'en'}, fr: {label: 'Français', lang: 'fr'}},"
            " sidebar: [{label: 'Guides', translations: {fr: 'Aides'}, items: ['guides/one', 'guides/two']}]})]})",
            "src/content/docs/index.md": "---\ntitle: Hi\n---\n", "src/content/docs/guides/one.md": "---\ntitle: One\n---\n", "src/content/docs/guides/two.md": "---\ntitle: Two\n---\n",
            "src/content/docs/fr/index.md": "---\ntitle: Salut\n---\n[un](/fr/guides/one/) [deux](guides/two/)\n", "src/content/docs/fr/guides/one.md": "---\ntitle: Un\n---\n",
        },
        [("en", "English", None, "en", True), ("fr", "Français", "fr", "fr", False)],
        {"Hi": {}, "Guides": {"One": {}, "Two": {}}}, {"Salut": {}, "Aides": {"Un": {}, "Two": {}}}, "[un](guides/one.md)",
    ),
    "mkdocs": (
        {
            "mkdocs.yml": "site_name: M\nnav:\n  - Home: index.md\n  - Guide:\n    - One: one.md\nplugins:\n  - i18n:\n      docs_structure: suffix\n      languages:\n        - locale: en\n          default: true\n          name: English\n"
            "        - locale: fr\n          name: Français\n          nav_translations:\n            Guide: Aide\n",
            "docs/index.md": "# Home\n", "docs/index.fr.md": "# Accueil\n\n[un](one.md)\n", "docs/one.en.md": "# One\n", "docs/one.fr.md": "# Un\n", "docs/two.md": "# Two\n",
        },
        [("en", "English", None, "en", True), ("fr", "Français", "fr", "fr", False)],
        {"Home": {}, "Guide": {"One": {}}, "Two": {}}, {"Accueil": {}, "Aide": {"Un": {}}, "Two": {}}, "[un](one.md)",
    ),
    "hugo": (
        {
            "hugo.toml": 'title = "H"\ndefaultContentLanguage = "en"\n[languages.en]\nlanguageName = "English"\n[languages.de]\nlanguageName = "Deutsch"\n',
            "content/_index.md": "# Home\n", "content/a.md": "# A\n", "content/b.md": "# B\n", "content/_index.de.md": "# Start\n\n[a](a.md)\n", "content/a.de.md": "# Ah\n",
        },
        [("en", "English", None, "en", True), ("de", "Deutsch", "de", "de", False)],
        {"Home": {}, "A": {}, "B": {}}, {"Start": {}, "Ah": {}}, "[a](a.md)",
    ),
    "mintlify": (
        {
            "docs.json": json.dumps({"name": "M", "navigation": {"versions": [{"version": "v2", "groups": [{"group": "G", "pages": ["v2/a"]}]}, {"version": "v1", "groups": [{"group": "G", "pages": ["v1/a", "v1/b"]}]}]}}),
            "v2/a.mdx": "# A two\n", "v1/a.mdx": "# A one\n\n[b](/v1/b)\n", "v1/b.mdx": "# B one\n", "loose.mdx": "# Loose\n",
        },
        [("v2", "v2", None, None, True), ("v1", "v1", "v1", None, False)],
        {"G": {"A two": {}}, "Loose": {}}, {"G": {"A one": {}, "B one": {}}, "Loose": {}}, "[b](b.md)",
    ),
    "readme": (
        {"v2.0/docs/_order.yaml": "- A\n", "v2.0/docs/A/x.md": "---\ntitle: X two\n---\n", "v1.0/docs/A/x.md": "---\ntitle: X one\n---\n[y](doc:y)\n", "v1.0/docs/A/y.md": "---\ntitle: Y\n---\n"},
        [("v2-0", "v2.0", None, None, True), ("v1-0", "v1.0", "v1.0", None, False)],
        {"A": {"X two": {}}}, {"A": {"X one": {}, "Y": {}}}, "[y](",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", OTHERS)
def test_others(kind):
    files, variants, first, second, said = OTHERS[kind]
    made, trees = parts_of(files)
    assert made.kind == kind and told(made) == variants
    assert list(trees.values()) == [first, second]
    other = list(made.parts.values())[1]
    assert any(said in text(other, path) for path in other.origins), [text(other, path) for path in other.origins]  # fmt: skip
    assert {code for part in made.parts.values() for _, _, code in problems(part)} <= {"broken_link"}
    one = brought(files)
    assert tree(one) == first
    assert {code for _, _, code in problems(one)} & {"versions_left_out", "translations_left_out"}


def test_antora():
    files = {
        f"{folder}/{path}": said
        for folder, version in (("a", "1.0"), ("b", "2.0"))
        for path, said in {
            "antora.yml": f"name: acme\ntitle: Acme\nversion: '{version}'\nnav: [modules/ROOT/nav.adoc]\n",
            "modules/ROOT/nav.adoc": "* xref:index.adoc[]\n",
            "modules/ROOT/pages/index.adoc": f"= Acme {version}\n\nText.\n",
        }.items()
    }
    made, trees = parts_of(files)
    assert told(made) == [("2-0", "2.0", None, None, True), ("1-0", "1.0", "1.0", None, False)]
    assert trees == {"2-0": {"Acme 2.0": {}}, "1-0": {"Acme 1.0": {}}}


@pytest.fixture
def project(tmp_path):
    for path, said in DOCUSAURUS.items():
        (tmp_path / "acme" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "acme" / path).write_bytes(said if isinstance(said, bytes) else said.encode())
    return str(tmp_path / "acme")


def test_the_command_makes_a_site_of_variants(world, project):
    organization = world.home["organizationId"]
    looked = preview(world.context, project)
    assert [(one.title, one.page_count) for one in looked.plan.variants][:3] == [
        ("2.0 · English", 2), ("2.0 · Deutsch", 2), ("Canary · English", 2),
    ]  # fmt: skip
    made = bring_source(world.context, project, organization_id=organization)
    assert isinstance(made, BroughtSite) and len(made.spaces) == 6 and made.problems == []
    site = f"/orgs/{organization}/sites/{made.site}"
    shown = world.get("admin", f"{site}/site-spaces")["items"]
    assert [one["title"] for one in shown if one["default"]] == ["2.0 · English"]
    spaces = {one["space"]["title"]: one["space"].get("language") for one in shown}
    assert spaces["2.0 · Deutsch"] == "de"
    led = {one["source"] for one in world.get("admin", f"{site}/redirects")["items"]}
    assert {"/docs/next/guides/new", "/docs/1.0/intro", "/de/docs/guides/old"} <= led
    # Again it is the same site, with nothing new.
    again = bring_source(world.context, project, organization_id=organization)
    assert again.site == made.site and [one.outcome.changed for one in again.spaces.values()] == [0] * 6
    alone = bring_source(world.context, project, organization_id=organization, several=False)
    assert not isinstance(alone, BroughtSite)


def archived(files=DOCUSAURUS):
    return archive(dict(files))


def start(imports, who="admin", **more):
    key = imports.upload("acme.zip", archived(more.pop("files", DOCUSAURUS)), who)
    target = {"space": imports.space, **more.pop("target", {})}
    body = {"source": {"type": "file", "files": [key]}, "target": target, "variants": True, **more}
    return imports.world.call(who, "POST", imports.runs, json=body)


def finished(imports, answer):
    assert answer.status_code == 201, answer.text
    imports.work()
    return imports.world.get("admin", f"{imports.runs}/{answer.json()['id']}")


@pytest.mark.sqlite_first
def test_a_preview_says_which_variants_there_are(imports):
    key = imports.upload("acme.zip", archived(), "admin")
    body = {"source": {"type": "file", "files": [key]}, "target": {"space": imports.space}, "preview": True}
    run = finished(imports, imports.world.call("admin", "POST", imports.runs, json=body))
    told = run["plan"]["variants"]
    assert [one["title"] for one in told if one.get("default")] == ["2.0 · English"] and len(told) == 6
    assert not any("pageCount" in one for one in told)
    run = finished(imports, start(imports, preview=True))
    assert [one["pageCount"] for one in run["plan"]["variants"]] == [2, 2, 2, 2, 1, 1]
    assert "variants" not in run and run["plan"]["pageCount"] == 2


@pytest.mark.sqlite_first
def test_a_run_makes_variants_of_a_site(imports):
    world = imports.world
    run = finished(imports, start(imports))
    assert run["status"] == "completed", run
    spaces = {one["title"]: one for one in run["variants"]}
    assert len(spaces) == 6 and spaces["2.0 · English"] == {
        "key": "2-0-en", "title": "2.0 · English", "space": imports.space, "default": True, "language": "en",
    }  # fmt: skip
    site = world.home.path(f"/orgs/{{organizationId}}/sites/{run['site']}")
    shown = world.get("admin", f"{site}/site-spaces")["items"]
    assert {one["space"]["id"] for one in shown} == {one["space"] for one in run["variants"]}
    assert [one["space"]["id"] for one in shown if one["default"]] == [imports.space]
    assert {one["path"] for one in shown} >= {"de", "next", "1.0", "de-1.0"}
    led = {one["source"] for one in world.get("admin", f"{site}/redirects")["items"]}
    assert {"/docs/next/guides/new", "/docs/1.0/intro"} <= led
    assert world.get("admin", f"/spaces/{imports.space}")["title"] == "2.0 · English"
    # A newer state goes into the same spaces.
    newer = {**DOCUSAURUS, "versioned_docs/version-1.0/intro.md": "# First, mended\n"}
    again = finished(imports, start(imports, files=newer, update=run["id"]))
    assert (again["site"], again["variants"]) == (run["site"], run["variants"])
    old = spaces["1.0 · English"]["space"]
    assert [one["title"] for one in world.get("admin", f"/spaces/{old}/content/pages")["pages"]] == ["First, mended"]  # fmt: skip


@pytest.mark.sqlite_first
def test_variants_join_the_site_that_shows_their_target(imports):
    world = imports.world
    sites = world.home.path("/orgs/{organizationId}/sites")
    site = world.post("admin", sites, {"title": "Acme", "spaces": [imports.space, world.home["spaceId"]]})[
        "id"
    ]
    run = finished(imports, start(imports))
    shown = world.get("admin", f"{sites}/{site}/site-spaces")["items"]
    assert run["site"] == site and len(shown) == 7
    assert {"de", "next", "1.0"} <= {one["path"] for one in shown}


@pytest.mark.sqlite_first
def test_who_may_make_no_spaces_brings_no_variants(imports):
    assert start(imports, "editor").status_code == 403
    assert start(imports, target={"page": imports.world.home["pageId"]}).status_code in (400, 404)
    body = {"source": {"type": "website", "url": "http://9.9.9.9/"}, "target": {"space": imports.space}, "variants": True}  # fmt: skip
    refused = imports.world.call("admin", "POST", imports.runs, json=body)
    assert refused.status_code == 400 and "variants" in refused.text


@pytest.mark.sqlite_first
def test_a_run_that_is_stopped_leaves_no_space(imports, monkeypatch):
    world = imports.world
    there = world.home.path("/orgs/{organizationId}/spaces")
    before = world.get("admin", there)["count"]

    def fail(*_):
        raise Forbidden("not theirs")

    monkeypatch.setattr(variants, "_arrange", [fail])
    run = finished(imports, start(imports))
    assert (run["status"], run["reason"]) == ("failed", "not theirs") and "variants" not in run
    assert world.get("admin", there)["count"] == before
    assert world.get("admin", f"/spaces/{imports.space}/content/pages")["pages"] == []
