"""Tests of versions and languages of one source: each becomes a part with its own tree, links, and texts."""

import json
import re
from urllib.parse import unquote

import pytest

from octavo.core.import_plan import plan_import
from octavo.interchange.readers.choosing import read_source
from readers.reading import adding, brought, problems, source_of, text, tree

PNG = b"\x89PNG\r\n\x1a\n"


def parts_of(files, kind=None):
    made = read_source(source_of(files), lambda source: source, adding, lambda: None, kind, several=True)
    return made, {key: tree(part) for key, part in made.parts.items()}


def told(made):
    return [(one.key, one.title, one.path, one.language, one.default) for one in made.structure]


DOCUSAURUS = {
    "docusaurus.config.js": "module.exports = {title: 'Acme', i18n: {defaultLocale: 'en', locales: ['en', 'de'], "
    "localeConfigs: {de: {label: 'Deutsch'}}},"
    " presets: [['classic', {docs: {sidebarPath: './sidebars.js', versions: {current: {label: 'Canary'}}}}]]};\n",
    "sidebars.js": "module.exports = {docs: ['intro', {type: 'category', label: 'Guides', items: ['guides/new']}]};\n",
    "versions.json": '["2.0", "1.0"]',
    "docs/intro.md": "---\nslug: /\n---\n# Newest\n",
    "docs/guides/new.md": "# New guide\n",
    "versioned_docs/version-2.0/intro.md": (
        "---\nslug: /\n---\n# Second\n\nSee [guide](guides/old.md) and ![a](./a.png).\n"
    ),
    "versioned_docs/version-2.0/guides/old.md": "# Old guide\n",
    "versioned_docs/version-2.0/a.png": PNG,
    "versioned_sidebars/version-2.0-sidebars.json": (
        '{"docs": ["intro", {"type": "category", "label": "Guides", "items": ["guides/old"]}]}'
    ),
    "versioned_docs/version-1.0/intro.md": "# First\n",
    "i18n/de/docusaurus-plugin-content-docs/version-2.0/intro.md": (
        "---\nslug: /\n---\n# Zweite\n\nSiehe [Anleitung](guides/old.md) und ![a](./a.png).\n"
    ),
    "i18n/de/docusaurus-plugin-content-docs/version-2.0.json": (
        '{"sidebar.docs.category.Guides": {"message": "Anleitungen"}}'
    ),
    "i18n/de/code.json": "{}",
}


def test_docusaurus_is_read():
    made, trees = parts_of(DOCUSAURUS)
    assert told(made) == [
        ("2-0-en", "2.0 · English", None, "en", True),
        ("2-0-de", "2.0 · Deutsch", "de", "de", False),
        ("current-en", "Canary · English", "next", "en", False),
        ("current-de", "Canary · Deutsch", "de-next", "de", False),
        ("1-0-en", "1.0 · English", "1.0", "en", False),
        ("1-0-de", "1.0 · Deutsch", "de-1.0", "de", False),
    ]
    assert trees["2-0-en"] == {"Second": {}, "Guides": {"Old guide": {}}}
    assert trees["2-0-de"] == {"Zweite": {}, "Anleitungen": {"Old guide": {}}}
    assert trees["current-en"] == {"Newest": {}, "Guides": {"New guide": {}}} and trees["1-0-en"] == {
        "First": {}
    }
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
            ".vitepress/config.ts": "export default {title: 'V', locales: {root: {label: 'English', lang: 'en'}, zh: "
            "{label: '简体中文', lang: 'zh-Hans', themeConfig: {sidebar: [{text: '指南', items: [{text: "
            "'开始', link: '/zh/guide/start'}]}]}}},"
            " themeConfig: {sidebar: [{text: 'Guide', items: [{text: 'Start', link: '/guide/start'}]}]}}",
            "index.md": "# Home\n",
            "README.md": "# Of the repository\n",
            "guide/start.md": "# Start\n",
            "zh/index.md": "# 主页\n\n[a](/zh/guide/start) ![i](/a.png)\n",
            "zh/guide/start.md": "# 开始\n",
            "public/a.png": PNG,
        },
        [("root", "English", None, "en", True), ("zh", "简体中文", "zh", "zh", False)],
        {"Home": {}, "Guide": {"Start": {}}, "Of the repository": {}},
        {"主页": {}, "指南": {"开始": {}}},
        "(guide/start.md) ![i](a.png)",
    ),
    "starlight": (
        {
            "astro.config.mjs": "import starlight from '@astrojs/starlight';\n"
            "export default defineConfig({integrations: [starlight({title: 'S', defaultLocale: "
            "'root', locales: {root: {label: 'English', lang: 'en'}, fr: {label: 'Français', lang: "
            "'fr'}},"
            " sidebar: [{label: 'Guides', translations: {fr: 'Aides'}, items: ['guides/one', 'guides/two']}]})]})",
            "src/content/docs/index.md": "---\ntitle: Hi\n---\n",
            "src/content/docs/guides/one.md": "---\ntitle: One\n---\n",
            "src/content/docs/guides/two.md": "---\ntitle: Two\n---\n",
            "src/content/docs/fr/index.md": "---\ntitle: Salut\n---\n[un](/fr/guides/one/) [deux](guides/two/)\n",
            "src/content/docs/fr/guides/one.md": "---\ntitle: Un\n---\n",
        },
        [("en", "English", None, "en", True), ("fr", "Français", "fr", "fr", False)],
        {"Hi": {}, "Guides": {"One": {}, "Two": {}}},
        {"Salut": {}, "Aides": {"Un": {}, "Two": {}}},
        "[un](guides/one.md)",
    ),
    "mkdocs": (
        {
            "mkdocs.yml": "site_name: M\nnav:\n  - Home: index.md\n  - Guide:\n    - One: one.md\nplugins:\n"
            "  - i18n:\n      docs_structure: suffix\n      languages:\n        - locale: en\n"
            "          default: true\n          name: English\n"
            "        - locale: fr\n          name: Français\n          nav_translations:\n            Guide: Aide\n",
            "docs/index.md": "# Home\n",
            "docs/index.fr.md": "# Accueil\n\n[un](one.md)\n",
            "docs/one.en.md": "# One\n",
            "docs/one.fr.md": "# Un\n",
            "docs/two.md": "# Two\n",
        },
        [("en", "English", None, "en", True), ("fr", "Français", "fr", "fr", False)],
        {"Home": {}, "Guide": {"One": {}}, "Two": {}},
        {"Accueil": {}, "Aide": {"Un": {}}, "Two": {}},
        "[un](one.md)",
    ),
    "hugo": (
        {
            "hugo.toml": (
                'title = "H"\ndefaultContentLanguage = "en"\n[languages.en]\nlanguageName = "English"\n'
                '[languages.de]\nlanguageName = "Deutsch"\n'
            ),
            "content/_index.md": "# Home\n",
            "content/a.md": "# A\n",
            "content/b.md": "# B\n",
            "content/_index.de.md": "# Start\n\n[a](a.md)\n",
            "content/a.de.md": "# Ah\n",
        },
        [("en", "English", None, "en", True), ("de", "Deutsch", "de", "de", False)],
        {"Home": {}, "A": {}, "B": {}},
        {"Start": {}, "Ah": {}},
        "[a](a.md)",
    ),
    "mintlify": (
        {
            "docs.json": json.dumps(
                {
                    "name": "M",
                    "navigation": {
                        "versions": [
                            {"version": "v2", "groups": [{"group": "G", "pages": ["v2/a"]}]},
                            {"version": "v1", "groups": [{"group": "G", "pages": ["v1/a", "v1/b"]}]},
                        ]
                    },
                }
            ),
            "v2/a.mdx": "# A two\n",
            "v1/a.mdx": "# A one\n\n[b](/v1/b)\n",
            "v1/b.mdx": "# B one\n",
            "loose.mdx": "# Loose\n",
        },
        [("v2", "v2", None, None, True), ("v1", "v1", "v1", None, False)],
        {"G": {"A two": {}}, "Loose": {}},
        {"G": {"A one": {}, "B one": {}}, "Loose": {}},
        "[b](b.md)",
    ),
    "readme": (
        {
            "v2.0/docs/_order.yaml": "- A\n",
            "v2.0/docs/A/x.md": "---\ntitle: X two\n---\n",
            "v1.0/docs/A/x.md": "---\ntitle: X one\n---\n[y](doc:y)\n",
            "v1.0/docs/A/y.md": "---\ntitle: Y\n---\n",
        },
        [("v2-0", "v2.0", None, None, True), ("v1-0", "v1.0", "v1.0", None, False)],
        {"A": {"X two": {}}},
        {"A": {"X one": {}, "Y": {}}},
        "[y](",
    ),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_variants_of_other_tools_are_read(kind):
    files, variants, first, second, said = OTHERS[kind]
    made, trees = parts_of(files)
    assert made.kind == kind and told(made) == variants
    assert list(trees.values()) == [first, second]
    other = list(made.parts.values())[1]
    assert any(said in text(other, path) for path in other.origins), [
        text(other, path) for path in other.origins
    ]
    assert {code for part in made.parts.values() for _, _, code in problems(part)} <= {"broken_link"}
    one = brought(files)
    assert tree(one) == first
    assert {code for _, _, code in problems(one)} & {"versions_left_out", "translations_left_out"}


def test_variants_of_antora_are_read():
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


def with_links(kind):
    """Return a source whose pages link to other languages and versions, with the target of each link: its
    text, then the part and its path, or the href within the space."""
    files = {"docusaurus": DOCUSAURUS, **{name: one[0] for name, one in OTHERS.items()}}.get(kind, {})
    more, expected = LINKS[kind]
    return {**files, **more}, expected


H = "---\ntitle: T\npublished: true\neditor: markdown\ndateCreated: 2020\n---\n\n"
NEXTRA = (
    "import nextra from 'nextra'\nconst withNextra = nextra({})\n"
    "export default withNextra({i18n: {locales: ['en', 'de'], defaultLocale: 'en'}})\n"
)
LINKS = {
    "docusaurus": (
        {
            "docusaurus.config.js": DOCUSAURUS["docusaurus.config.js"].replace(
                "{title:", "{url: 'https://acme.example', title:"
            ),
            "versioned_docs/version-2.0/intro.md": (
                "---\nslug: /\n---\n# Second\n\n[a](/de/docs/guides/old#x) [b](/docs/1.0/intro) "
                "[c](/docs/next/guides/new) [d](/docs/guides/old) [e](https://acme.example/de/docs/) "
                "[f](../version-1.0/intro.md)\n"
            ),
            "i18n/de/docusaurus-plugin-content-docs/version-2.0/intro.md": (
                "---\nslug: /\n---\n# Zweite\n\n[g](/docs/guides/old) [h](pathname:///docs/guides/old) "
                "[i](/docs/1.0/intro)\n"
            ),
        },
        (
            "a 2-0-de/anleitungen/old#x, b 1-0-en/readme, c current-en/guides/new, d guides/old.md, e "
            "2-0-de/readme, f 1-0-en/readme, g guides/old.md, h 2-0-en/guides/old, i 1-0-en/readme"
        ),
    ),
    "vitepress": (
        {
            "zh/index.md": "# 主页\n",
            "index.md": "# Home\n\n[a](/zh/guide/start) [b](./zh/guide/start.md) [c](zh/) [d](/guide/start)\n",
            "zh/guide/start.md": (
                "# 开始\n\n[e](/guide/start) [f](../../guide/start.md) [g](/zh/guide/start) [h](start)\n"
            ),
        },
        (
            "a zh/指南/start, b zh/指南/start, c zh/readme, d guide/start.md, e root/guide/start, f "
            "root/guide/start, g start.md, h start.md"
        ),
    ),
    "starlight": (
        {
            "src/content/docs/guides/one.md": (
                "---\ntitle: One\n---\n[a](/fr/guides/one/) [b](../../fr/guides/one/#x) [c](/fr/guides/two)\n"
            ),
            "src/content/docs/fr/guides/one.md": (
                "---\ntitle: Un\n---\n[d](/guides/one/) [e](/fr/guides/one) [f](../../../guides/one/) "
                "[g](../two/)\n"
            ),
        },
        "a fr/aides/one, b fr/aides/one#x, c fr/aides/two, d en/guides/one, e one.md, f en/guides/one, g two.md",
    ),
    "nextra": (
        {
            "next.config.mjs": NEXTRA,
            "content/en/_meta.js": "export default {index: 'Home', guide: 'Guide'}",
            "content/de/_meta.js": "export default {index: 'Start', guide: 'Anleitung'}",
            "content/en/index.mdx": "# Home\n\n[a](/guide) [b](/de/guide) [c](/en/guide) [d](../de/guide.mdx)\n",
            "content/en/guide.mdx": "# Guide\n",
            "content/de/index.mdx": "# Start\n\n[e](/guide) [f](/en/guide)\n",
            "content/de/guide.mdx": "# Anleitung\n",
        },
        "a guide.md, b de/guide, c guide.md, d de/guide, e guide.md, f en/guide",
    ),
    "nextra, by the ends of names": (
        {
            "next.config.js": (
                "const withNextra = require('nextra')({theme: 'x'})\n"
                "module.exports = withNextra({i18n: {locales: ['en', 'zh-CN'], defaultLocale: 'en'}})\n"
            ),
            "pages/_meta.en.json": '{"index": "Home", "docs": "Docs"}',
            "pages/_meta.zh-CN.json": '{"index": "首页", "docs": "文档"}',
            "pages/index.en.mdx": "# Home\n\n[a](/docs/a) [b](/zh-CN/docs/a)\n",
            "pages/index.zh-CN.mdx": "# 首页\n",
            "pages/docs/a.en.mdx": "# A\n\n[c](../docs/b) [d](b.mdx)\n",
            "pages/docs/b.en.mdx": "# B\n",
            "pages/docs/a.zh-CN.mdx": "# 甲\n\n[e](/en/docs/b)\n",
        },
        "a docs/a.md, b zh-cn/文档/a, c b.md, d b.md, e en/docs/b",
    ),
    "mkdocs": (
        {
            "docs/index.md": "# Home\n\n[a](one.fr.md) [b](/fr/one/) [c](one.md)\n",
            "docs/index.fr.md": "# Accueil\n\n[d](one.md) [e](/one/)\n",
        },
        "a fr/aide/one, b fr/aide/one, c one.md, d one.md, e en/guide/one",
    ),
    "mkdocs, in folders": (
        {
            "mkdocs.yml": (
                "site_name: M\nplugins:\n  - i18n:\n      docs_structure: folder\n      languages:\n"
                "        - locale: en\n          default: true\n        - locale: fr\n"
            ),
            "docs/en/index.md": "# Home\n\n[a](../fr/one.md) [b](one.md)\n",
            "docs/en/one.md": "# One\n",
            "docs/en/two.md": "# Two\n",
            "docs/fr/index.md": "# Accueil\n\n[c](../en/one.md) [d](one.md) [e](two.md)\n",
            "docs/fr/one.md": "# Un\n",
        },
        "a fr/one, b one.md, c en/one, d one.md, e two.md",
    ),
    "hugo": (
        {
            "content/_index.de.md": "# Start\n",
            "content/a.md": '# A\n\n[a](/de/a/) [b](/b/) [c]({{< relref path="/a.md" lang="de" >}})\n',
            "content/a.de.md": "# Ah\n\n[d](/a) [e](/b)\n",
            "content/s/x.md": (
                '# X\n\n[f]({{< relref path="y.md" lang="de" >}}) [g]({{< relref path="a.md" lang="de" '
                '>}}) [h]({{< relref path="../a.md#t" lang="de" >}})\n'
            ),
            "content/s/y.md": "# Y\n",
            "content/s/y.de.md": (
                '# Y\n\n[i]({{< relref path="x.md" lang="en" >}}) [j]({{< relref path="y.md" lang="de" >}})\n'
            ),
        },
        "a de/a, b b.md, c de/a, d a.md, e en/b, f de/s/y, g de/a, h de/a#t, i en/s/x, j y.md",
    ),
    "mintlify": (
        {"v2/a.mdx": "# A two\n\n[a](/v1/a) [c](../v1/b) [d](/loose)\n"},
        "a v1/g/a, b b.md, c v1/g/b, d ../loose.md",
    ),
    "readme": (
        {
            "v2.0/docs/A/x.md": "---\ntitle: X two\n---\n[a](/v1.0/docs/y) [b](doc:x)\n",
            "v1.0/docs/A/x.md": "---\ntitle: X one\n---\n[c](/docs/x) [d](doc:y) [e](/v2.0/docs/x)\n",
        },
        "a v1-0/a/y, b x.md, c x.md, d y.md, e v2-0/a/x",
    ),
    "wikijs": (
        {
            "en/home.md": H + "[a](/fr/a) [b](/en/a) [c](/a)\n",
            "en/a.md": H,
            "fr/home.md": H + "[d](/en/a) [e](a)\n",
            "fr/a.md": H,
        },
        "a fr/a, b a.md, c a.md, d en/a, e a.md",
    ),
}


@pytest.mark.parametrize("kind", LINKS)
def test_links_target_pages_of_other_languages_and_versions(kind):
    files, expected = with_links(kind)
    made, _ = parts_of(files)
    pages = {key: {page.path for page in plan_import(part).pages} for key, part in made.parts.items()}
    found = {}
    for part in made.parts.values():
        for path in part.origins:
            for words, href in re.findall(r"\[(\w)\]\(([^()]*)\)", text(part, path)):
                space = re.fullmatch(r"https://app\.gitbook\.com/s/([\w-]+)/([^#]*)(#.*)?", href)
                if space:
                    href = f"{space[1]}/{unquote(space[2])}{space[3] or ''}"
                    assert unquote(space[2]) in pages[space[1]], href
                found[words] = href
    assert found == dict(one.split(" ") for one in expected.split(", "))
    assert {code for part in made.parts.values() for _, _, code in problems(part)} == set()


def test_links_to_missing_variants_are_reported():
    files, _ = with_links("docusaurus")
    files |= {
        "docs/intro.md": "---\nslug: /\n---\n# Newest\n\n[a](/de/docs/guides/old#x) [b](/docs/next/guides/new)\n"
    }
    made = brought(files)
    assert "[a](https://acme.example/de/docs/guides/old#x) [b](guides/new.md)" in text(made, "README.md")
    told = [one for one in made.problems if one.code == "other_variant"]
    assert [(one.path, one.line) for one in told] == [("docs/intro.md", 6)]
    assert told[0].message == "/de/docs/guides/old#x points to 2.0 · Deutsch, which wasn't imported"


def test_links_of_antora_target_other_versions():
    nav = "* xref:index.adoc[]\n* xref:1.0@index.adoc[Before]\n"
    page = (
        "= Acme\n\nxref:1.0@index.adoc[] xref:2.0@index.adoc#_there[new] xref:3.0@index.adoc[gone]\n\n"
        "== There\n\nText.\n"
    )
    files = {
        f"{folder}/{path}": said
        for folder, version in (("a", "1.0"), ("b", "2.0"))
        for path, said in {
            "antora.yml": f"name: acme\ntitle: Acme\nversion: '{version}'\nnav: [modules/ROOT/nav.adoc]\n",
            "modules/ROOT/nav.adoc": nav,
            "modules/ROOT/pages/index.adoc": page,
        }.items()
    }
    made, trees = parts_of(files)
    assert trees["2-0"] == {"Acme": {}, "Before": {}}
    assert "[Before](https://app.gitbook.com/s/1-0/readme)" in text(made.parts["2-0"], "SUMMARY.md")
    assert "[Acme](https://app.gitbook.com/s/1-0/readme) [new](#" in text(made.parts["2-0"], "README.md")
    assert "[new](https://app.gitbook.com/s/2-0/readme#" in text(made.parts["1-0"], "README.md")
    assert {code for part in made.parts.values() for _, _, code in problems(part)} == {"broken_link"}
