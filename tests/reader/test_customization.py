"""Every setting of customization changes the page, or is listed with a reason; nothing in it breaks out; languages."""

from __future__ import annotations

import copy
import re
import struct
import types
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

import brotli
import msgspec
import pytest
from msgspec import Struct

from octavo.delivery.reader import drawing, locales
from octavo.delivery.reader.views import FrameLabels
from octavo.sites.fonts import built_in as fonts
from octavo.sites.site.customization import model as looks
from octavo.sites.site.customization.model import Customization
from octavo.sites.site.customization.settings import list_settings
from visiting import Visitor

pytestmark = pytest.mark.sqlite_first

MANUAL = (Path(__file__).parents[2] / "docs/sites/customization.md").read_text()

KEPT = {
    "advancedCustomization.enabled": "every plan includes everything",
    "git.showEditLink": "spaces are not synchronized with a repository",
    "insights.trackingCookie": "visitors get no cookie for counting",
}
"""Settings that are stored and returned but have no effect on pages, with the reason."""
ON_OTHER_PAGES = {
    "apiPlayground.enabled",
    "agentCalls.enabled",
    "ai.greeting",
    "ai.localizedGreeting",
    "ai.suggestions",
    "ai.instructions",
    "updatedAt",
}
"""Settings that affect only pages with operations, questions, or no page: ``openapi/test_trying.py``,
``openapi/test_calling.py``, and ``ask/test_site_assistants.py`` test them."""
FOR_RENDERERS = ("socialAccounts.", "styling.codeTheme.", "pageActions.items")
"""Settings that only separate renderers use, and the list of what switches say: ``sites/test_site_records.py`` sets
it."""


def page_link(title: str) -> dict[str, Any]:
    return {"title": title, "to": {"kind": "url", "url": "https://example.com/a"}}


FULL: dict[str, Any] = {
    "title": "Handbook",
    "styling": {
        "tint": {"color": {"light": "#335577", "dark": "#99bbdd"}},
        "theme": "muted",
        "headingFont": "Lato",
    },
    "favicon": {"icon": {"light": "https://example.com/i.png", "dark": "https://example.com/j.png"}},
    "header": {
        "preset": "custom",
        "logo": {"light": "https://example.com/l.png", "dark": "https://example.com/d.png"},
        "backgroundColor": {"light": "#fafafa", "dark": "#101010"},
        "linkColor": {"light": "#333333", "dark": "#dddddd"},
        "links": [
            {"title": "Menu", "to": None, "links": [page_link("Below")]},
            {**page_link("Button"), "links": [], "style": "link", "condition": "true"},
        ],
    },
    "footer": {
        "groups": [{"title": "Group", "links": [page_link("Foot")]}],
        "logo": {"light": "https://example.com/f.png", "dark": "https://example.com/g.png"},
        "copyright": "© Somebody",
    },
    "announcement": {"enabled": True, "message": "Hear", "style": "info", "link": page_link("Read")},
    "feedback": {"enabled": True},
    "themes": {"default": "light"},
    "privacyPolicy": {"url": "https://example.com/privacy"},
    "socialPreview": {"url": "https://example.com/social.png"},
}
OTHER_COLOR, OTHER_URL = "#8a2be2", "https://example.com/other"
OTHER = {
    "title": ("title", "Another"),
    "localizedTitle": ("localizedTitle", {"en": "Another"}),
    "header.primaryLink": ("header.primaryLink", {"kind": "url", "url": OTHER_URL}),
    "header.links.localizedTitle": ("header.links.1.localizedTitle", {"en": "Other words"}),
    "header.links.links.localizedTitle": ("header.links.0.links.0.localizedTitle", {"en": "Other words"}),
    "footer.groups.localizedTitle": ("footer.groups.0.localizedTitle", {"en": "Other words"}),
    "footer.groups.links.localizedTitle": ("footer.groups.0.links.0.localizedTitle", {"en": "Other words"}),
    "announcement.localizedMessage": ("announcement.localizedMessage", {"en": "Other words"}),
    "announcement.link.localizedTitle": ("announcement.link.localizedTitle", {"en": "Other words"}),
    "header.links.title": ("header.links.1.title", "Other words"),
    "header.links.to": ("header.links.1.to", {"kind": "url", "url": OTHER_URL}),
    "header.links.style": ("header.links.1.style", "button-primary"),
    "header.links.condition": ("header.links.1.condition", "false"),
    "header.links.links.title": ("header.links.0.links.0.title", "Other words"),
    "header.links.links.to": ("header.links.0.links.0.to", {"kind": "url", "url": OTHER_URL}),
    "footer.groups.title": ("footer.groups.0.title", "Other words"),
    "footer.groups.links.title": ("footer.groups.0.links.0.title", "Other words"),
    "footer.groups.links.to": ("footer.groups.0.links.0.to", {"kind": "url", "url": OTHER_URL}),
    "footer.copyright": ("footer.copyright", "Other words"),
    "favicon.emoji": ("favicon", {"emoji": "1f4d8"}),
    "announcement.message": ("announcement.message", "Other words"),
    "announcement.link.title": ("announcement.link.title", "Other words"),
    "announcement.link.to": ("announcement.link.to", {"kind": "url", "url": OTHER_URL}),
}
"""Other values for settings that are neither switches, choices, colors, nor URLs, and where they appear."""


def leaves(model: Any, path: str = "") -> dict[str, Any]:
    """Yield every setting by its path in the body, with its type."""
    found: dict[str, Any] = {}
    for field in msgspec.structs.fields(model):
        name = f"{path}.{field.encode_name}".lstrip(".")
        hint = get_type_hints(model, include_extras=True)[field.name]
        inner = [one for one in _parts(hint) if isinstance(one, type) and issubclass(one, Struct)]
        if (
            field.name in ("to", "primary_link")
            or not inner
            or any(issubclass(one, looks.FontDefinition) for one in inner)
        ):
            found[name] = hint
        else:
            for one in inner:
                found |= leaves(one, name)
    return found


def _parts(hint: Any) -> list[Any]:
    """Return the types that a type hint consists of."""
    if get_origin(hint) is Annotated:
        return _parts(get_args(hint)[0])
    if get_origin(hint) in (Union, types.UnionType, list):
        return [part for one in get_args(hint) for part in _parts(one)]
    return [hint]


def choices(hint: Any) -> tuple[Any, ...]:
    found = [value for part in _parts(hint) if get_origin(part) is Literal for value in get_args(part)]
    return tuple(found) or ((True, False) if bool in _parts(hint) else ())


LEAVES = leaves(Customization)


def put(body: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    body = copy.deepcopy(body)
    *above, last = path.split(".")
    here: Any = body
    for name in above:
        here = here[int(name)] if isinstance(here, list) else here.setdefault(name, {})
    here[int(last) if isinstance(here, list) else last] = value
    return body


class Site:
    def __init__(self, world: Any) -> None:
        self.world = world
        path = world.home.path("/orgs/{organizationId}")
        self.space = world.post("admin", f"{path}/spaces", {"title": "Guide"})["id"]
        change = world.post("admin", f"/spaces/{self.space}/change-requests", {"subject": "Fill"})["id"]
        pages = [
            {
                "operation": "insert_page",
                "document": {"markdown": f"# {title}\n\n[Away](https://example.com)\n"},
            }
            for title in ("Start", "More", "Visitor tokens")
        ]
        self.world.post("admin", f"/spaces/{self.space}/change-requests/{change}/content", {"changes": pages})
        self.world.post("admin", f"/spaces/{self.space}/change-requests/{change}/merge")
        self.id = world.post("admin", f"{path}/sites", {"title": "Manuals", "spaces": [self.space]})["id"]
        self.path = f"{path}/sites/{self.id}"
        self.site_space = world.get("admin", f"{self.path}/site-spaces")["items"][0]["id"]
        self.base = urlsplit(world.post("admin", f"{self.path}/publish")["urls"]["published"]).path
        self.visitor = Visitor(world.context)

    def customize(self, body: dict[str, Any], status: int = 200) -> Any:
        answer = self.world.call("admin", "PUT", f"{self.path}/customization", json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def page(self, path: str = "") -> str:
        answer = self.visitor.get(self.base + path)
        assert answer.status_code == 200, answer.text
        return answer.text

    def shown(self, body: dict[str, Any]) -> str:
        self.customize(body)
        return self.page()


@pytest.fixture
def site(world):
    return Site(world)


def value_of(body: Any, path: str) -> Any:
    for name in path.split("."):
        body = body.get(name) if isinstance(body, dict) else None
    return body


def test_every_setting_changes_the_page_or_has_a_documented_reason(site):
    whole = site.customize(FULL)
    # Responses are complete: with both variants of a color even if only one was changed.
    full = site.page()
    for path, hint in LEAVES.items():
        if path in ON_OTHER_PAGES or path.startswith(FOR_RENDERERS):
            continue
        seen = {full: value_of(whole, path)}
        if path in OTHER:
            values = [OTHER[path]]
        elif path.rsplit(".", 1)[-1] in ("light", "dark"):
            address = looks.Url in (hint,) or "http" in str(value_of(whole, path))
            values = [(path, OTHER_URL if address else OTHER_COLOR)]
        elif choices(hint):
            values = [(path, value) for value in choices(hint) if value != value_of(whole, path)]
        else:
            assert path.endswith(".url"), f"{path}: say what another value is"
            values = [(path, OTHER_URL)]
        for place, value in values:
            # Start from the same state each time: a list of page actions and its switches must not both change.
            site.customize(FULL)
            text = site.shown(put(whole, place, value))
            if path in KEPT:
                assert text == full, f"{path} has an effect: {KEPT[path]} is no reason"
            else:
                assert text not in seen, f"{path}: {value!r} looks as {seen[text]!r}"
                seen[text] = value
    assert set(KEPT) <= set(LEAVES)


def test_the_manual_names_every_setting():
    said = set(re.findall(r"`([A-Za-z.]+)`", MANUAL))
    assert {path for path in LEAVES if path not in said} == set()


def test_settings_without_effect_are_documented():
    section = MANUAL.partition("## Settings without effect")[2]
    assert {path for path in KEPT if f"`{path}`" not in section} == set()


def test_every_class_of_a_style_is_in_the_style_sheet():
    sheet = drawing.find_asset("octavo.css").content.decode()
    for declared in list_settings(Customization):
        css = declared.setting.css
        # The style sheet has the other presets of a header as its colors.
        values = ("none",) if css == "header" else choices(declared.types[0])
        for value in values if css is not None else ():
            # The icons of a page come in two styles, and the rest draws them its own way.
            if value != declared.default and (css, value) != ("icons", "solid"):
                assert f".{css}-{value}" in sheet, (css, value)
    assert ':not([class*="icons-"])' in sheet.replace("=icons-", '="icons-"')


# --- colors, URLs, labels ---------------------------------------------------------------------------------

EVIL = "</style><script>alert(1)</script>\"'><b>"


def test_no_text_of_customization_becomes_markup_or_style(site):
    body = copy.deepcopy(FULL)
    body["title"] = body["footer"]["copyright"] = EVIL
    for place in (
        "header.links.0.title",
        "header.links.1.title",
        "footer.groups.0.title",
        "announcement.message",
    ):
        body = put(body, place, EVIL)
    for place in ("header.links.1.to", "announcement.link.to"):
        body = put(body, place, {"kind": "url", "url": f"https://example.com/{EVIL}"})
    text = site.shown(body)
    assert "<script>alert" not in text and "<b>" not in text
    assert text.count("</style>") == 1


URLS = (
    "header.logo.light",
    "favicon.icon.dark",
    "socialPreview.url",
    "privacyPolicy.url",
    "header.links.1.to.url",
    "footer.groups.0.links.0.to.url",
)


@pytest.mark.parametrize("char", ["\x00", "\x01", "\x08", "\x1b", "\x1f", "\x7f", "\x80", "\x85", "\x9f"])
def test_no_url_has_control_characters(site, char):
    """Those that an earlier version stored are read all the same."""
    site.customize(FULL)
    bad = f"https://example.com/{char}x"
    for path in URLS:
        site.customize(put(FULL, path, bad), 400)
    with site.world.context.db.write() as tx:
        stored = msgspec.json.decode(tx.value("SELECT customization FROM sites WHERE id = :id", id=site.id))
        for path in URLS:
            stored = put(stored, path, bad)
        given = {"kept": msgspec.json.encode(stored).decode(), "site": site.id}
        tx.run("UPDATE sites SET customization = :kept WHERE id = :site", **given)
    told = site.world.get("admin", f"{site.path}/customization")
    assert told["socialPreview"]["url"] == told["header"]["logo"]["light"] == "https://example.com/_x"
    assert "https://example.com/_x" in site.page()
    with site.world.context.db.write() as tx:
        tx.run("UPDATE sites SET customization = '{}' WHERE id = :site", site=site.id)
        override = {"privacyPolicy": {"url": bad}, "header": {"logo": {"light": bad, "dark": bad}}}
        given = {"kept": msgspec.json.encode(override).decode(), "id": site.site_space}
        tx.run("UPDATE site_spaces SET customization = :kept WHERE id = :id", **given)
    assert "https://example.com/_x" in site.page()
    # And can be saved again as they were answered.
    look = f"{site.path}/site-spaces/{site.site_space}/customization"
    again = site.world.get("admin", look)
    assert again["privacyPolicy"]["url"] == "https://example.com/_x"
    site.customize(told)


def test_links_that_a_visitor_cannot_open_are_hidden(site):
    refs = [
        {"kind": "user", "user": "x"},
        {"kind": "collection", "collection": "x"},
        {"kind": "page", "page": "nowhere"},
        {"kind": "file", "file": "nowhere"},
    ]
    links = [{"title": f"Link {n}", "to": ref, "links": []} for n, ref in enumerate(refs)]
    text = site.shown({"header": {"links": links}})
    assert [n for n in range(len(refs)) if f"Link {n}" in text] == []
    for elsewhere in ("/\\evil", "//evil.example"):
        link = {"title": "Away", "to": {"kind": "url", "url": elsewhere}, "links": []}
        site.customize({"header": {"links": [link]}}, 400)


def test_a_header_link_to_a_page_follows_it(site, world):
    pages = world.get("admin", f"/spaces/{site.space}/content/pages")["pages"]
    page = next(p for p in pages if p["title"] == "More")
    link = {"title": "There", "to": {"kind": "page", "page": page["id"], "space": site.space}, "links": []}
    text = site.shown({"header": {"links": [link]}})
    assert f'href="{site.base}more">There</a>' in text


def test_conditions_of_header_links_depend_on_the_visitor(site, world):
    beta = {"type": "boolean", "description": "Whether they try what is new"}
    unsigned = {
        "type": "object",
        "description": "Unsigned claims of the site visitor.",
        "properties": {"beta": beta},
        "additionalProperties": False,
    }
    schema = {"type": "object", "properties": {"unsigned": unsigned}, "additionalProperties": False}
    answer = world.call("admin", "PUT", f"{site.path}/adaptive-schema", json={"jsonSchema": schema})
    assert answer.status_code == 200, answer.text
    world.call("admin", "PATCH", site.path, json={"adaptiveContent": {"enabled": True}})
    link = {**page_link("Only beta"), "links": [], "condition": "visitor.claims.unsigned.beta"}
    site.customize({"header": {"links": [link]}})
    assert "Only beta" not in site.page()
    assert "Only beta" in site.visitor.get(site.base, params={"visitor.beta": "true"}).text
    assert "Only beta" not in site.page()


def test_a_space_overrides_and_a_site_without_settings_follows_the_system(site, world):
    assert "data-theme=" not in site.page()
    own = f"{site.path}/site-spaces/{site.site_space}/customization"
    world.call("admin", "PATCH", own, json={"styling": {"theme": "gradient"}})
    assert "theme-gradient" in site.page() and "data-theme=" not in site.page()
    world.call("admin", "PATCH", own, json={"themes": {"default": "light"}})
    assert 'data-theme="light"' in site.page()
    world.call("admin", "DELETE", own)
    assert "theme-gradient" not in site.page() and "data-theme=" not in site.page()
    assert 'data-theme="dark"' in site.shown({"themes": {"default": "dark"}})


def test_sending_back_a_returned_customization_changes_nothing(site, world):
    def put_back(**changes: Any) -> str:
        answered = world.get("admin", f"{site.path}/customization") | changes
        assert answered | site.customize(answered) | {"updatedAt": ""} == answered | {"updatedAt": ""}
        return site.page()

    untouched = site.page()
    assert put_back() == untouched
    assert "data-theme=" not in put_back(title="Renamed")
    for mode in ("light", "dark", "light"):
        assert f'data-theme="{mode}"' in site.shown({"themes": {"default": mode}})
        assert f'data-theme="{mode}"' in put_back(title="Renamed")
    assert site.shown({}) == untouched
    assert 'data-theme="light"' in put_back(themes={"default": "light", "toggeable": False})
    assert "data-theme=" not in site.shown({"themes": {"toggeable": False}})


# --- fonts ----------------------------------------------------------------------------------------------


def test_every_font_has_its_files_and_license():
    named = set(get_args(looks.Font)) | set(get_args(looks.MonospaceFont))
    assert named - {"ABCFavorit"} == set(fonts.FONTS)
    folder = Path(fonts.__file__).parent / "files"
    used = set()
    for font in fonts.FONTS.values():
        css = fonts.font_faces(font, "{}")
        used |= set(re.findall(r'url\("([^"]+)"\)', css))
        assert (folder / f"{font.name}.LICENSE").read_text().strip()
        assert css.count("size-adjust") == 1
        for script in font.scripts:
            assert f"{font.name}-{script}-" in css
    assert used == fonts.font_files()
    assert all(fonts.read_font(name).startswith(b"wOF2") for name in used)


def test_fonts_are_served_from_the_same_host(site):
    text = site.page()
    found = re.search(r'rel="preload" href="([^"]+)"', text)
    assert found is not None
    answer = site.visitor.get(found[1])
    assert answer.headers["content-type"] == "font/woff2" and "immutable" in answer.headers["cache-control"]
    policy = site.visitor.get(site.base).headers["content-security-policy"]
    assert "font-src 'self'" in policy


def test_a_font_of_the_organization_is_used(site, world):
    fonts_path = world.home.path("/orgs/{organizationId}/fonts")
    font = {
        "id": "nowhere",
        "custom": True,
        "fontFamily": EVIL,
        "fontFaces": [{"weight": 400, "sources": [{"url": "https://example.com/a.woff2"}]}],
    }
    site.customize({"styling": {"font": font}}, status=404)
    found = world.get("admin", fonts_path)["items"][0]
    site.customize({"styling": {"font": {**font, "id": found["id"]}}})
    text = site.page()
    assert "example.com/a.woff2" not in text and "<script>alert" not in text
    address = re.search(rf'url\("([^"]*~fonts/{found["id"]}/400\.woff2?\?v=\w+)"\)', text)
    assert address is not None
    assert site.visitor.get(address[1]).headers["content-type"].startswith("font/woff")
    assert site.visitor.get(re.sub("/400", "/950", address[1])).status_code == 404


# --- languages ------------------------------------------------------------------------------------------


def test_every_language_has_every_text_with_its_placeholders():
    english = msgspec.to_builtins(FrameLabels())
    found = locales.read_catalog()
    assert {"en", "de", "fr", "es", "pt", "it", "nl", "ja", "zh", "ko", "ar", "he", "no", "ru"} <= set(found)
    for language, labels in found.items():
        words = msgspec.to_builtins(labels)
        for name, text in words.items():
            assert text.strip(), (language, name)
            assert re.findall(r"\{\w+\}", text) == re.findall(r"\{\w+\}", english[name]), (language, name)
        same = [name for name in words if words[name] == english[name]]
        assert language == "en" or len(same) < len(words) / 5, same


@pytest.mark.parametrize("name", get_args(looks.Locale))
def test_every_locale_of_customization_exists(name):
    assert locales.find_locale(name)


def test_the_locale_comes_from_customization_or_the_space(site, world):
    world.call("admin", "PATCH", f"/spaces/{site.space}", json={"language": "ar"})
    text = site.page()
    assert 'lang="ar" dir="rtl"' in text and locales.read_catalog()["ar"].outline not in text
    assert locales.read_catalog()["ar"].actions in text
    assert locales.read_catalog()["fr"].actions in site.shown({"internationalization": {"locale": "fr"}})
    assert locales.read_catalog()["ar"].actions in site.shown({"internationalization": {"locale": "en"}})


def test_texts_are_in_the_language_of_the_variant(site, world):
    """A regional language uses the text of its language. Without a translation, the original is shown."""
    words = {
        "localizedTitle": {"pt": "Manual", "de": "Handbuch"},
        "header": {
            "links": [
                {**page_link("Blog"), "links": [], "localizedTitle": {"pt": "Diário", "pt-br": "Blogue"}}
            ]
        },
        "footer": {
            "groups": [
                {
                    "title": "Law",
                    "localizedTitle": {"pt": "Leis"},
                    "links": [{**page_link("Terms"), "localizedTitle": {"de": "Bedingungen"}}],
                }
            ]
        },
        "announcement": {
            "enabled": True,
            "style": "info",
            "message": "Version 3",
            "localizedMessage": {"pt": "Versão 3"},
            "link": {**page_link("Read"), "localizedTitle": {"pt": "Ler"}},
        },
    }
    site.customize({"title": "Handbook", **words})
    english = site.page()
    for text in ("Handbook", ">Blog<", "Law", "Terms", "Version 3", "Read"):
        assert text in english, text
    world.call("admin", "PATCH", f"/spaces/{site.space}", json={"language": "pt-br"})
    portuguese = site.page()
    for text in ("Manual", "Blogue", "Leis", "Terms", "Versão 3", "Ler"):
        assert text in portuguese, text
    assert "Handbook" not in portuguese and "Diário" not in portuguese


@pytest.mark.parametrize(
    "body",
    [
        {"localizedTitle": {"xx": "Words"}},
        {"localizedTitle": {"de": " "}},
        {"localizedTitle": {"de": "x" * 129}},
        {"header": {"links": [{**page_link("A"), "links": [], "localizedTitle": {"klingon": "B"}}]}},
        {"footer": {"groups": [{"title": "A", "links": [], "localizedTitle": {"EN": "B"}}]}},
        {"announcement": {"enabled": True, "style": "info", "message": "Hi", "localizedMessage": {"": "B"}}},
        {"ai": {"mode": "search", "localizedGreeting": {"de-xx": "B"}}},
        {"ai": {"mode": "search", "suggestions": ["Why?"] * 6}},
        {"ai": {"mode": "search", "suggestions": ["x"]}},
        {"ai": {"mode": "search", "instructions": "x" * 10_001}},
    ],
)
def test_texts_in_unknown_languages_are_refused(site, body):
    site.customize(body, 400)


def test_the_logo_links_to_a_page_that_the_visitor_can_see(site, world):
    pages = world.get("admin", f"/spaces/{site.space}/content/pages")["pages"]
    page = next(p for p in pages if p["title"] == "More")
    target = {"kind": "page", "page": page["id"], "space": site.space}
    assert f'class="brand" href="{site.base}more"' in site.shown({"header": {"primaryLink": target}})
    gone = {**target, "page": "gone"}
    assert f'class="brand" href="{site.base}"' in site.shown({"header": {"primaryLink": gone}})
    site.customize({"header": {"primaryLink": {"kind": "page", "page": "x", "space": "elsewhere"}}}, 404)


def test_headings_have_their_own_font(site):
    text = site.shown({"styling": {"font": "Lato", "headingFont": "Merriweather"}})
    assert re.search(r"--sans:[^;]*Lato[^;]*;.*--headings:[^;}]*Merriweather", text)
    same = site.shown({"styling": {"font": "Lato", "headingFont": None}})
    assert re.search(r"--headings:[^;}]*Lato", same) and "Merriweather" not in same


def test_the_default_theme_can_be_that_of_the_system(site, world):
    answered = site.customize({"themes": {"default": "system", "toggeable": False}})
    assert answered["themes"] == {"default": "system", "toggeable": False}
    followed = site.page()
    site.customize({"themes": {"toggeable": False}})
    assert site.page() == followed


def test_a_customization_says_when_it_was_changed(site, world):
    assert "updatedAt" not in world.get("admin", f"{site.path}/customization")
    first = site.customize({"title": "Handbook"})
    assert site.customize(first)["updatedAt"] == first["updatedAt"]
    assert site.customize(first | {"title": "Another"})["updatedAt"] >= first["updatedAt"]


def test_templates_contain_no_text():
    for path in (Path(drawing.__file__).parent / "templates").glob("*.html"):
        if path.name == "home.html":
            continue  # It belongs to no site, and so to no language.
        text = re.sub(r"\{% block shape %\}.*", "", path.read_text())
        text = re.sub(r"\{[{%#].*?[%}#]\}", "", text, flags=re.S)
        # Attributes also occur in macros, outside of tags.
        text = re.sub(r"<[^>]*>|[a-z-]+=\"[^\"]*\"|\bdisabled\b", " ", text)
        words = set(re.findall(r"[A-Za-z]{2,}", text)) - {"Esc"}
        assert words == set(), (path.name, words)


PHRASES = {status.phrase for status in HTTPStatus}


def test_scripts_contain_no_text():
    """Texts that a script adds come from the page, in its language."""
    static = Path(drawing.__file__).parent / "static"
    for path in static.glob("*.js"):
        script = re.sub(r"^\s*//.*|warn\(.*|new Error\(.*", "", path.read_text(), flags=re.M)
        strings = re.findall(r""""([^"\\\n]*)"|`([^`]*)`|(?<![\w"])'([^'\n]*)'""", script)
        words = {
            text for found in strings for text in found if re.match(r"[A-Z][a-z]+( [a-z]+)*$", text.strip())
        }
        # Except names of keys and programming languages, and terms of HTTP and OAuth.
        named = {
            "Tab",
            "Enter",
            "Escape",
            "Python",
            "Cookie",
            "Basic ",
            "Authorization code",
            "Client credentials",
        }
        assert words <= named | PHRASES, (path.name, words)


def test_the_window_of_an_embedded_site_is_in_its_language(site):
    site.shown({"internationalization": {"locale": "ja"}})
    script = site.visitor.get(f"{site.base}~embed/script.js").text
    assert f'"{locales.read_catalog()["ja"].embedded}"' in script and "%words%" not in script


# --- what readers do ----------------------------------------------------------------------------------------


def test_ratings_are_counted(site, world):
    site.customize({"feedback": {"enabled": True}})
    form = re.search(r'action="([^"]+~feedback)".*?name="page" value="([^"]+)"', site.page(), re.S)
    assert form is not None
    body = {"rating": "good", "page": form[2]}
    headers = {"user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36"}
    answer = site.visitor.post(form[1], body, **headers)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{site.base}#thanks")
    with world.context.db.read() as tx:
        rows = tx.all("SELECT page_rating FROM site_events WHERE site_id = :site", site=site.id)
    assert [tuple(row) for row in rows] == [("good",)]
    for wrong in ({**body, "rating": "great"}, {"rating": "good", "page": "x"}, {}):
        assert site.visitor.post(form[1], wrong, **headers).status_code in (400, 404)
    assert site.visitor.post(f"{site.base}more", body, **headers).status_code == 405
    assert site.visitor.post(form[1], {"page": "x" * 10_000}, **headers).status_code == 413
    site.customize({})
    assert site.visitor.post(form[1], body, **headers).status_code == 404


def test_a_missing_page_suggests_others(site):
    answer = site.visitor.get(f"{site.base}old/visitor-tokens")
    assert answer.status_code == 404
    assert f'<a href="{site.base}visitor-tokens">' in answer.text.partition("perhaps")[2]


def font_tables(data: bytes) -> dict[str, bytes]:
    """Return the tables ``head`` and ``hhea`` of a WOFF2 file."""
    count, compressed = struct.unpack_from(">H", data, 12)[0], struct.unpack_from(">I", data, 20)[0]
    at, sizes = 48, []

    def number() -> int:
        nonlocal at
        value = 0
        while True:
            byte = data[at]
            at += 1
            value = value << 7 | byte & 0x7F
            if byte < 0x80:
                return value

    for _ in range(count):
        flags = data[at]
        at += 1
        name = {1: "head", 2: "hhea", 10: "glyf", 11: "loca"}.get(flags & 0x3F, "")
        at += 4 if flags & 0x3F == 0x3F else 0
        size = number()
        # Outlines are transformed unless flagged otherwise; other tables only if flagged.
        if (flags >> 6 == 0) if name in ("glyf", "loca") else flags >> 6:
            size = number()
        sizes.append((name, size))
    content, found = brotli.decompress(data[at : at + compressed]), {}
    for name, size in sizes:
        found[name], content = content[:size], content[size:]
    return found


@pytest.mark.parametrize("name", fonts.FONTS)
def test_fallback_fonts_have_the_height_of_the_font(name):
    font = fonts.FONTS[name]
    tables = font_tables(fonts.read_font(fonts.first_file(font)))
    units = struct.unpack_from(">H", tables["head"], 18)[0]
    ascent, descent, gap = struct.unpack_from(">hhh", tables["hhea"], 4)
    size = font.metrics[0] / 100
    heights = [100 * value / units / size for value in (ascent, -descent, gap)]
    assert heights == pytest.approx(font.metrics[1:], abs=0.02)
