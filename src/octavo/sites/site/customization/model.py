"""Customization of sites: all settings, and the settings that site spaces can override."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec.structs import replace

from octavo.content.pages.tag_wire import TagRef
from octavo.core.emoji import require_emoji
from octavo.core.expression_syntax import parse
from octavo.core.expression_values import ExpressionError
from octavo.core.page_fields import declare
from octavo.kit.http.schema_names import schema_name
from octavo.kit.texts import NOT_BLANK, TWO_SIGNS, pattern

from ..localized import LocalizedLabel, LocalizedText, require_languages
from ..types import SiteTitle
from .settings import Setting, SettingsGroup, list_parts, override_of, override_types

Color = Annotated[str, Meta(pattern=pattern(r"^#(?:[0-9a-fA-F]{3}){1,2}\Z", "be a color, such as #346ddb"))]
Url = Annotated[
    str,
    Meta(
        max_length=2048,
        pattern=pattern(
            r"^https?://[^\s\x00-\x1f\x7f-\x9f\x22'<>()\\]+\Z",
            (
                "be a URL that starts with http:// or https://, without spaces, quotes, angle "
                "brackets, parentheses, or backslashes"
            ),
        ),
    ),
]
"""URL of images and links. It must not contain characters that could end a CSS `url()` or an attribute."""
Emoji = Annotated[str, Meta(min_length=1, max_length=50)]
Copyright = Annotated[str, Meta(max_length=300)]
Theme = Literal["clean", "muted", "bold", "gradient"]
Corners = Literal["straight", "rounded", "circular"]
Depth = Literal["subtle", "flat"]
LinksStyle = Literal["default", "accent"]
IconsStyle = Literal["regular", "solid", "duotone", "light", "thin"]
SidebarBackground = Literal["default", "filled"]
SidebarList = Literal["default", "pill", "line"]
SearchStyle = Literal["prominent", "subtle"]
Background = Literal["plain", "match"]
Locale = Literal["en", "fr", "es", "zh", "ja", "de", "nl", "no", "pt-br", "ru"]
HeaderPreset = Literal["default", "bold", "contrast", "custom", "none"]
Mode = Literal["light", "dark"]
DefaultMode = Literal["light", "dark", "system"]
LinkTarget = Literal["self", "blank"]
Font = Literal[
    "ABCFavorit",
    "Inter",
    "Roboto",
    "RobotoSlab",
    "OpenSans",
    "SourceSansPro",
    "Lato",
    "Ubuntu",
    "Raleway",
    "Merriweather",
    "Overpass",
    "NotoSans",
    "IBMPlexSerif",
    "Poppins",
    "FiraSans",
]
MonospaceFont = Literal[
    "FiraCode",
    "IBMPlexMono",
    "JetBrainsMono",
    "SourceCodePro",
    "RobotoMono",
    "SpaceMono",
    "DMMono",
    "Inconsolata",
]

CodeThemeName = Literal[
    "default-light",
    "default-dark",
    "monochrome-light",
    "monochrome-dark",
    "andromeeda",
    "aurora-x",
    "ayu-dark",
    "catppuccin-frappe",
    "catppuccin-latte",
    "catppuccin-macchiato",
    "catppuccin-mocha",
    "dark-plus",
    "dracula",
    "dracula-soft",
    "everforest-dark",
    "everforest-light",
    "github-dark",
    "github-dark-default",
    "github-dark-dimmed",
    "github-dark-high-contrast",
    "github-light",
    "github-light-default",
    "github-light-high-contrast",
    "gruvbox-dark-hard",
    "gruvbox-dark-medium",
    "gruvbox-dark-soft",
    "gruvbox-light-hard",
    "gruvbox-light-medium",
    "gruvbox-light-soft",
    "houston",
    "kanagawa-dragon",
    "kanagawa-lotus",
    "kanagawa-wave",
    "laserwave",
    "light-plus",
    "material-theme",
    "material-theme-darker",
    "material-theme-lighter",
    "material-theme-ocean",
    "material-theme-palenight",
    "min-dark",
    "min-light",
    "monokai",
    "night-owl",
    "nord",
    "one-dark-pro",
    "one-light",
    "plastic",
    "poimandres",
    "red",
    "rose-pine",
    "rose-pine-dawn",
    "rose-pine-moon",
    "slack-dark",
    "slack-ochin",
    "snazzy-light",
    "solarized-dark",
    "solarized-light",
    "synthwave-84",
    "tokyo-night",
    "vesper",
    "vitesse-black",
    "vitesse-dark",
    "vitesse-light",
]
PageAction = Literal["assistant", "external-ai", "markdown", "mcp", "git", "pdf"]
PAGE_ACTIONS: tuple[PageAction, ...] = get_args(PageAction)
"""All page actions in their default order."""
SocialPlatform = Literal[
    "twitter",
    "instagram",
    "facebook",
    "linkedin",
    "github",
    "discord",
    "slack",
    "youtube",
    "tiktok",
    "reddit",
    "bluesky",
    "mastodon",
    "threads",
    "medium",
]


_FONT_NAMES = {
    "Inter": "Inter",
    "ABCFavorit": "ABC Favorit",
    "FiraSans": "Fira Sans",
    "IBMPlexSerif": "IBM Plex Serif",
    "Lato": "Lato",
    "Merriweather": "Merriweather",
    "NotoSans": "Noto Sans",
    "OpenSans": "Open Sans",
    "Overpass": "Overpass",
    "Poppins": "Poppins",
    "Raleway": "Raleway",
    "Roboto": "Roboto",
    "RobotoSlab": "Roboto Slab",
    "SourceSansPro": "Source Sans",
    "Ubuntu": "Ubuntu",
}
_MONOSPACE_FONT_NAMES = {
    "JetBrainsMono": "JetBrains Mono",
    "DMMono": "DM Mono",
    "FiraCode": "Fira Code",
    "IBMPlexMono": "IBM Plex Mono",
    "Inconsolata": "Inconsolata",
    "RobotoMono": "Roboto Mono",
    "SourceCodePro": "Source Code Pro",
    "SpaceMono": "Space Mono",
}
_LOCALE_NAMES = {
    "en": "English",
    "de": "Deutsch",
    "es": "Español",
    "fr": "Français",
    "ja": "日本語",
    "nl": "Nederlands",
    "no": "Norsk",
    "pt-br": "Português (Brasil)",
    "ru": "Русский",
    "zh": "中文",
}


class ThemedColor(Struct, rename="camel"):
    light: Color
    dark: Color


class ThemedUrl(Struct, rename="camel"):
    light: Url
    dark: Url


class Tint(Struct, rename="camel"):
    color: ThemedColor


class SiteFontSource(Struct, rename="camel"):
    url: Url
    format: Literal["woff2", "woff"] | UnsetType = UNSET


class SiteFontFace(Struct, rename="camel"):
    weight: Annotated[int, Meta(ge=1, le=1000)]
    sources: Annotated[list[SiteFontSource], Meta(min_length=1, max_length=5)]


class FontDefinition(Struct, rename="camel"):
    """Font of the organization, in the format of the font operations."""

    id: str
    custom: bool
    font_family: Annotated[str, Meta(min_length=1, max_length=50)]
    font_faces: Annotated[list[SiteFontFace], Meta(min_length=1, max_length=20)]


class Sidebar(SettingsGroup, rename="camel"):
    background: Annotated[
        SidebarBackground,
        Setting(
            label="navigation",
            section="moreStyles",
            control="segments",
            options={"default": "plain", "filled": "filled"},
            css="sidebar",
        ),
    ] = "default"
    list: Annotated[
        SidebarList,
        Setting(
            label="currentPage",
            section="moreStyles",
            control="segments",
            options={"default": "colored", "pill": "pill", "line": "line"},
            css="list",
        ),
    ] = "default"


class ThemedCodeTheme(Struct, rename="camel"):
    light: CodeThemeName = "default-light"
    dark: CodeThemeName = "default-dark"


class CodeTheme(Struct, rename="camel"):
    """Colors of code blocks, used by external site renderers. ``openapi``: the colors in API references."""

    default: ThemedCodeTheme = field(default_factory=ThemedCodeTheme)
    openapi: ThemedCodeTheme = field(default_factory=ThemedCodeTheme)


class Styling(SettingsGroup, rename="camel"):
    theme: Annotated[
        Theme,
        Setting(
            label="theme",
            control="theme",
            options={"clean": "clean", "muted": "muted", "bold": "bold", "gradient": "gradient"},
            css="theme",
        ),
    ] = "clean"
    primary_color: Annotated[ThemedColor, Setting(label="primaryColor", control="text colors")] = field(
        default_factory=lambda: ThemedColor("#2f55c8", "#8aa4ff")
    )
    tint: Annotated[Tint | UnsetType, Setting(label="surfaceTint", control="tint")] = UNSET
    info_color: Annotated[ThemedColor, Setting(label="info", section="hintColors", control="text colors")] = (
        field(default_factory=lambda: ThemedColor("#787878", "#787878"))
    )
    success_color: Annotated[
        ThemedColor, Setting(label="success", section="hintColors", control="text colors")
    ] = field(default_factory=lambda: ThemedColor("#00c950", "#00c950"))
    warning_color: Annotated[
        ThemedColor, Setting(label="warning", section="hintColors", control="text colors")
    ] = field(default_factory=lambda: ThemedColor("#fe9a00", "#fe9a00"))
    danger_color: Annotated[
        ThemedColor, Setting(label="danger", section="hintColors", control="text colors")
    ] = field(default_factory=lambda: ThemedColor("#fb2c36", "#fb2c36"))
    corners: Annotated[
        Corners,
        Setting(
            label="corners",
            control="segments",
            options={"straight": "straight", "rounded": "rounded", "circular": "circular"},
            css="corners",
        ),
    ] = "rounded"
    depth: Annotated[
        Depth,
        Setting(
            label="depth",
            section="moreStyles",
            control="segments",
            options={"subtle": "shadows", "flat": "flat"},
            css="depth",
        ),
    ] = "subtle"
    links: Annotated[
        LinksStyle,
        Setting(
            label="linksInText",
            section="moreStyles",
            control="segments",
            options={"default": "colored", "accent": "underlined"},
            css="links",
        ),
    ] = "default"
    font: Annotated[
        Font | FontDefinition, Setting(label="text", control="font", names=_FONT_NAMES, site_only=True)
    ] = "Inter"
    heading_font: Annotated[
        Font | FontDefinition | None | UnsetType,
        Setting(label="headings", control="font", names=_FONT_NAMES, site_only=True),
    ] = UNSET
    monospace_font: Annotated[
        MonospaceFont | FontDefinition,
        Setting(label="code", control="font", names=_MONOSPACE_FONT_NAMES, site_only=True),
    ] = "JetBrainsMono"
    background: Annotated[
        Background,
        Setting(
            label="page",
            section="moreStyles",
            control="segments",
            options={"plain": "white", "match": "tinted"},
        ),
    ] = "plain"
    icons: Annotated[
        IconsStyle,
        Setting(
            label="icons",
            section="moreStyles",
            control="select",
            options={
                "regular": "regular",
                "solid": "solid",
                "duotone": "duotone",
                "light": "lightStrokes",
                "thin": "thin",
            },
            css="icons",
        ),
    ] = "regular"
    sidebar: Sidebar = field(default_factory=Sidebar)
    search: Annotated[
        SearchStyle,
        Setting(
            label="search",
            section="moreStyles",
            control="segments",
            options={"prominent": "wide", "subtle": "small"},
            css="search",
        ),
    ] = "prominent"
    code_theme: CodeTheme = field(default_factory=CodeTheme)


class Internationalization(SettingsGroup, rename="camel"):
    locale: Locale = "en"


class Favicon(Struct, rename="camel"):
    """Icon or emoji of a site. It is empty if the site has neither."""

    icon: ThemedUrl | UnsetType = UNSET
    emoji: Emoji | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.icon is not UNSET and self.emoji is not UNSET:
            raise ValueError("favicon: provide `icon` or `emoji`, not both")
        require_emoji(self.emoji, "favicon.emoji")


class FileRef(Struct, rename="camel", tag_field="kind", tag="file"):
    file: str


class UrlRef(Struct, rename="camel", tag_field="kind", tag="url"):
    url: Annotated[
        str,
        Meta(
            max_length=2048,
            pattern=pattern(
                r"^(https?://|mailto:|/(?![/\\]))[^\x00-\x1f\x7f-\x9f]*\Z",
                "be a URL that starts with http://, https://, or mailto:, or a path that starts with /",
            ),
        ),
    ]


class PageRef(Struct, rename="camel", tag_field="kind", tag="page"):
    page: str
    space: str | UnsetType = UNSET


class AnchorRef(Struct, rename="camel", tag_field="kind", tag="anchor"):
    anchor: str
    space: str | UnsetType = UNSET
    page: str | UnsetType = UNSET


class UserRef(Struct, rename="camel", tag_field="kind", tag="user"):
    user: str


class CollectionRef(Struct, rename="camel", tag_field="kind", tag="collection"):
    collection: str


class SpaceRef(Struct, rename="camel", tag_field="kind", tag="space"):
    space: str


class ReusableContentRef(Struct, rename="camel", tag_field="kind", tag="reusable-content"):
    reusable_content: str
    space: str | UnsetType = UNSET


class OpenApiRef(Struct, rename="camel", tag_field="kind", tag="openapi"):
    spec: str


ContentRef = (
    FileRef
    | UrlRef
    | PageRef
    | AnchorRef
    | UserRef
    | CollectionRef
    | SpaceRef
    | ReusableContentRef
    | OpenApiRef
    | TagRef
)


class ContentLink(Struct, rename="camel"):
    title: Annotated[str, Meta(max_length=64)]
    to: ContentRef
    localized_title: LocalizedLabel | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_languages(localizedTitle=self.localized_title)


Links = Annotated[list[ContentLink], Meta(max_length=50)]


class HeaderItem(Struct, rename="camel"):
    title: Annotated[str, Meta(max_length=64)]
    to: ContentRef | None
    links: Links
    style: Literal["link", "button-primary", "button-secondary"] | UnsetType = UNSET
    condition: Annotated[str, Meta(max_length=1024)] | UnsetType = UNSET
    localized_title: LocalizedLabel | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_languages(localizedTitle=self.localized_title)
        if isinstance(self.condition, str) and self.condition:
            try:
                parse(self.condition)
            except ExpressionError as error:
                raise ValueError(f"condition: {error}") from None


HeaderItems = Annotated[list[HeaderItem], Meta(max_length=50)]


class Header(SettingsGroup, rename="camel"):
    preset: Annotated[
        HeaderPreset,
        Setting(
            label="style",
            section="headerAndLinks",
            control="select",
            options={
                "default": "themeDefault",
                "bold": "primaryColor",
                "contrast": "darkOnLightLight",
                "custom": "customColors",
                "none": "notStickyWithoutLinks",
            },
            css="header",
        ),
    ] = "default"
    links: Annotated[
        HeaderItems, Setting(label="headerLinks", section="headerAndLinks", control="header links")
    ] = []
    logo: Annotated[ThemedUrl | UnsetType, Setting(label="logo", section="logoAndIcon", control="image")] = (
        UNSET
    )
    primary_link: Annotated[
        ContentRef | UnsetType,
        Setting(label="targetOfLogo", section="headerAndLinks", control="link"),
    ] = UNSET
    background_color: Annotated[
        ThemedColor | UnsetType,
        Setting(
            label="background",
            section="headerAndLinks",
            control="colors",
            only=("header.preset", "custom"),
            initial={"light": "#ffffff", "dark": "#111419"},
        ),
    ] = UNSET
    link_color: Annotated[
        ThemedColor | UnsetType,
        Setting(
            label="text",
            section="headerAndLinks",
            control="colors",
            only=("header.preset", "custom"),
            initial={"light": "#2f55c8", "dark": "#8aa4ff"},
        ),
    ] = UNSET


class FooterGroup(Struct, rename="camel"):
    title: Annotated[str, Meta(max_length=64)]
    links: Links
    localized_title: LocalizedLabel | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_languages(localizedTitle=self.localized_title)


FooterGroups = Annotated[list[FooterGroup], Meta(max_length=20)]


class Footer(SettingsGroup, rename="camel"):
    groups: Annotated[
        FooterGroups, Setting(label="footerLinkGroups", section="footer", control="footer groups")
    ] = []
    logo: Annotated[ThemedUrl | UnsetType, Setting(label="footerLogo", section="footer", control="image")] = (
        UNSET
    )
    copyright: Annotated[
        Copyright | UnsetType, Setting(label="copyright", section="footer", control="text")
    ] = UNSET


class Announcement(Struct, rename="camel"):
    enabled: bool
    message: Annotated[str, Meta(min_length=2, max_length=128, pattern=TWO_SIGNS)]
    style: Literal["info", "warning", "danger", "success"]
    link: ContentLink | UnsetType = UNSET
    localized_message: LocalizedText | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_languages(localizedMessage=self.localized_message)


class Themes(SettingsGroup, rename="camel"):
    default: Annotated[
        DefaultMode,
        Setting(
            label="defaultTheme",
            section="languageAndTheme",
            control="segments",
            options={"light": "light", "dark": "dark", "system": "system"},
        ),
    ] = "light"
    toggeable: Annotated[bool, Setting(label="letVisitorsSwitchBetweenLight", section="languageAndTheme")] = (
        True
    )


class Switch(SettingsGroup, rename="camel"):
    enabled: bool = True


class Off(Switch, rename="camel"):
    enabled: bool = False


Suggestion = Annotated[str, Meta(min_length=3, max_length=64, pattern=NOT_BLANK)]


class Ai(SettingsGroup, rename="camel"):
    """Assistant of a site. ``greeting``: its first message. ``suggestions``: questions that it suggests.
    ``instructions``: instructions to the model, which only administrators of the site can read."""

    mode: Literal["none", "search", "assistant"] = "none"
    greeting: Annotated[str, Meta(max_length=256)] | UnsetType = UNSET
    localized_greeting: LocalizedText | UnsetType = UNSET
    suggestions: Annotated[list[Suggestion], Meta(max_length=5)] | UnsetType = UNSET
    instructions: Annotated[str, Meta(max_length=10_000)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_languages(localizedGreeting=self.localized_greeting)


class Git(SettingsGroup, rename="camel"):
    show_edit_link: bool = False


class PageActions(SettingsGroup, rename="camel"):
    """Actions for readers on a page. ``items``: the same actions as an ordered list, along with
    ``git.showEditLink`` and ``pdf.enabled``."""

    external_ai: Annotated[
        bool, Setting(label="openInAiAssistant", hint="forPublicSitesOnly", section="pages")
    ] = field(name="externalAI", default=True)
    markdown: Annotated[bool, Setting(label="copyOrViewAsMarkdown", section="pages")] = True
    mcp: Annotated[bool, Setting(label="mcpServerOfSite", section="pages")] = True
    items: list[PageAction] = field(default_factory=lambda: list(PAGE_ACTIONS))


class PutPageActions(Struct, rename="camel"):
    """Page actions in a request. The request can set the switches, the list, or both if they agree. A value that only
    repeats the current value is ignored in favor of the other value."""

    external_ai: bool | UnsetType = field(name="externalAI", default=UNSET)
    markdown: bool | UnsetType = UNSET
    mcp: bool | UnsetType = UNSET
    items: Annotated[list[PageAction], Meta(max_length=len(PAGE_ACTIONS))] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.items is not UNSET and len(set(self.items)) < len(self.items):
            raise ValueError("pageActions.items: must list each action only once")


class SocialDisplay(Struct, rename="camel"):
    footer: bool = True
    header: bool = False


class SocialAccount(Struct, rename="camel"):
    """Social media account of the site's owner. External site renderers link to it."""

    platform: SocialPlatform
    handle: Annotated[str, Meta(min_length=1, max_length=128)]
    display: SocialDisplay = field(default_factory=SocialDisplay)


SocialAccounts = Annotated[list[SocialAccount], Meta(max_length=10)]


class ExternalLinks(SettingsGroup, rename="camel"):
    target: LinkTarget = "self"


class UrlOnly(SettingsGroup, rename="camel"):
    url: Url | UnsetType = UNSET


class Insights(SettingsGroup, rename="camel"):
    """Insights settings. Cookies are off by default."""

    tracking_cookie: bool = False


class PutThemes(Struct, rename="camel"):
    """Themes in an update of a customization. Sending back the complete current value has no effect: if no theme was
    selected before, none is selected afterward."""

    default: DefaultMode | UnsetType = UNSET
    toggeable: bool | UnsetType = UNSET


class CustomizationSettings(SettingsGroup, rename="camel"):
    """Settings that have the same format in requests and responses. Omitted settings get their default values."""

    styling: Styling = field(default_factory=Styling)
    internationalization: Annotated[
        Internationalization,
        Setting(
            label="interfaceLanguage",
            hint="ifSetToEnglishLanguage",
            section="languageAndTheme",
            control="select",
            names=_LOCALE_NAMES,
        ),
    ] = field(default_factory=Internationalization)
    favicon: Annotated[Favicon, Setting(label="siteIcon", section="logoAndIcon", control="icon")] = field(
        default_factory=Favicon
    )
    header: Header = field(default_factory=Header)
    footer: Footer = field(default_factory=Footer)
    feedback: Annotated[Off, Setting(label="wasThisPageHelpful", section="pages")] = field(
        default_factory=Off
    )
    ai: Annotated[Ai, Setting(site_only=True)] = field(default_factory=Ai)
    advanced_customization: Annotated[Switch, Setting(site_only=True)] = field(default_factory=Switch)
    external_links: Annotated[ExternalLinks, Setting(label="openExternalLinksInNew", section="pages")] = (
        field(default_factory=ExternalLinks)
    )
    pagination: Annotated[Switch, Setting(label="previousAndNextPage", section="pages")] = field(
        default_factory=Switch
    )
    api_playground: Annotated[Switch, Setting(label="letReadersTestApiOperations", section="pages")] = field(
        default_factory=Switch
    )
    agent_calls: Annotated[
        Off,
        Setting(
            label="letAiAssistantsCallApi",
            hint="throughMcpServerWithCredentials",
            section="pages",
            site_only=True,
        ),
    ] = field(default_factory=Off)
    trademark: Annotated[Off, Setting(label="poweredByOctavo", section="footer")] = field(default_factory=Off)
    privacy_policy: Annotated[UrlOnly, Setting(label="privacyPolicyUrl", section="other", control="url")] = (
        field(default_factory=UrlOnly)
    )
    social_preview: Annotated[
        UrlOnly,
        Setting(label="socialPreviewImage", hint="byDefaultImageIsGenerated", section="other", control="url"),
    ] = field(default_factory=UrlOnly)
    insights: Annotated[Insights, Setting(site_only=True)] = field(default_factory=Insights)
    social_accounts: Annotated[SocialAccounts, Setting(site_only=True)] = []
    announcement: Annotated[
        Announcement | UnsetType,
        Setting(label="showAnnouncement", section="announcement", control="announcement"),
    ] = UNSET
    title: Annotated[
        SiteTitle | UnsetType, Setting(label="titleInHeader", section="logoAndIcon", control="localized text")
    ] = UNSET
    localized_title: LocalizedText | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_languages(localizedTitle=self.localized_title)


class Customization(CustomizationSettings, rename="camel"):
    """Complete customization of a site, with defaults for unchanged settings."""

    themes: Themes = field(default_factory=Themes)
    pdf: Annotated[Switch, Setting(label="printOrSaveAsPdf", section="pages")] = field(default_factory=Switch)
    git: Git = field(default_factory=Git)
    page_actions: Annotated[PageActions, Setting(site_only=True)] = field(default_factory=PageActions)
    updated_at: Annotated[str | UnsetType, Setting(site_only=True)] = UNSET

    def __post_init__(self) -> None:
        """Keep the list of page actions consistent with the switches, even if a site space overrides a switch."""
        super().__post_init__()
        shown = {
            "external-ai": self.page_actions.external_ai,
            "markdown": self.page_actions.markdown,
            "mcp": self.page_actions.mcp,
            "git": self.git.show_edit_link,
            "pdf": self.pdf.enabled,
        }
        listed = self.page_actions.items
        items = [one for one in listed if shown.get(one, True)]
        items += [one for one in PAGE_ACTIONS if one not in listed and shown.get(one, False)]
        self.page_actions = replace(self.page_actions, items=items)


class PutCustomization(CustomizationSettings, rename="camel"):
    """Customization in a request. ``updatedAt`` is accepted and ignored, so that clients can send back a
    response."""

    themes: PutThemes = field(default_factory=PutThemes)
    pdf: Switch | UnsetType = UNSET
    git: Git | UnsetType = UNSET
    page_actions: PutPageActions = field(default_factory=PutPageActions)
    updated_at: str | UnsetType = UNSET


schema_name("UrlOverride")(override_of(UrlOnly))


class Override(Struct, rename="camel"):
    """Overrides of a site space, for all settings except the settings that only sites have."""

    declare(vars(), override_types(Customization), UNSET)

    def __post_init__(self) -> None:
        require_languages(localizedTitle=getattr(self, "localized_title", UNSET))


OVERRIDABLE = list_parts(Customization)
