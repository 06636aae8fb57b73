"""Customization of sites: all settings, and those that site spaces can override."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec.structs import replace

from octavo.core.emoji import require_emoji
from octavo.core.expressions import ExpressionError, parse
from octavo.kit.texts import TWO_SIGNS, pattern

from ..types import SiteTitle

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
"""URL of images and links; excludes characters that could end a CSS `url()` or an attribute."""
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


class Sidebar(Struct, rename="camel"):
    background: SidebarBackground = "default"
    list: SidebarList = "default"


class ThemedCodeTheme(Struct, rename="camel"):
    light: CodeThemeName = "default-light"
    dark: CodeThemeName = "default-dark"


class CodeTheme(Struct, rename="camel"):
    """Colors of code blocks, used by separate site renderers. ``openapi``: in API references."""

    default: ThemedCodeTheme = field(default_factory=ThemedCodeTheme)
    openapi: ThemedCodeTheme = field(default_factory=ThemedCodeTheme)


class Styling(Struct, rename="camel"):
    theme: Theme = "clean"
    primary_color: ThemedColor = field(default_factory=lambda: ThemedColor("#2f55c8", "#8aa4ff"))
    info_color: ThemedColor = field(default_factory=lambda: ThemedColor("#787878", "#787878"))
    success_color: ThemedColor = field(default_factory=lambda: ThemedColor("#00c950", "#00c950"))
    warning_color: ThemedColor = field(default_factory=lambda: ThemedColor("#fe9a00", "#fe9a00"))
    danger_color: ThemedColor = field(default_factory=lambda: ThemedColor("#fb2c36", "#fb2c36"))
    corners: Corners = "rounded"
    depth: Depth = "subtle"
    links: LinksStyle = "default"
    font: Font | FontDefinition = "Inter"
    monospace_font: MonospaceFont | FontDefinition = "JetBrainsMono"
    background: Background = "plain"
    icons: IconsStyle = "regular"
    sidebar: Sidebar = field(default_factory=Sidebar)
    search: SearchStyle = "prominent"
    code_theme: CodeTheme = field(default_factory=CodeTheme)
    tint: Tint | UnsetType = UNSET


class Internationalization(Struct, rename="camel"):
    locale: Locale = "en"


class Favicon(Struct, rename="camel"):
    """Icon or emoji, or neither."""

    icon: ThemedUrl | UnsetType = UNSET
    emoji: Emoji | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.icon is not UNSET and self.emoji is not UNSET:
            raise ValueError("favicon: provide an icon or an emoji, not both")
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
)


class ContentLink(Struct, rename="camel"):
    title: Annotated[str, Meta(max_length=64)]
    to: ContentRef


Links = Annotated[list[ContentLink], Meta(max_length=50)]


class HeaderItem(Struct, rename="camel"):
    title: Annotated[str, Meta(max_length=64)]
    to: ContentRef | None
    links: Links
    style: Literal["link", "button-primary", "button-secondary"] | UnsetType = UNSET
    condition: Annotated[str, Meta(max_length=1024)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if isinstance(self.condition, str) and self.condition:
            try:
                parse(self.condition)
            except ExpressionError as error:
                raise ValueError(f"condition: {error}") from None


HeaderItems = Annotated[list[HeaderItem], Meta(max_length=50)]


class Header(Struct, rename="camel"):
    preset: HeaderPreset = "default"
    links: HeaderItems = []
    logo: ThemedUrl | UnsetType = UNSET
    background_color: ThemedColor | UnsetType = UNSET
    link_color: ThemedColor | UnsetType = UNSET


class FooterGroup(Struct, rename="camel"):
    title: Annotated[str, Meta(max_length=64)]
    links: Links


FooterGroups = Annotated[list[FooterGroup], Meta(max_length=20)]


class Footer(Struct, rename="camel"):
    groups: FooterGroups = []
    logo: ThemedUrl | UnsetType = UNSET
    copyright: Copyright | UnsetType = UNSET


class Announcement(Struct, rename="camel"):
    enabled: bool
    message: Annotated[str, Meta(min_length=2, max_length=128, pattern=TWO_SIGNS)]
    style: Literal["info", "warning", "danger", "success"]
    link: ContentLink | UnsetType = UNSET


class Themes(Struct, rename="camel"):
    default: Mode = "light"
    toggeable: bool = True


class Switch(Struct, rename="camel"):
    enabled: bool = True


class Off(Struct, rename="camel"):
    enabled: bool = False


class Ai(Struct, rename="camel"):
    mode: Literal["none", "search", "assistant"] = "none"


class Git(Struct, rename="camel"):
    show_edit_link: bool = False


class PageActions(Struct, rename="camel"):
    """Actions for readers on a page. ``items``: the same as an ordered list, together with
    ``git.showEditLink`` and ``pdf.enabled``."""

    external_ai: bool = field(name="externalAI", default=True)
    markdown: bool = True
    mcp: bool = True
    items: list[PageAction] = field(default_factory=lambda: list(PAGE_ACTIONS))


class PutPageActions(Struct, rename="camel"):
    """A request can set the switches, the list, or both if they agree. One that only repeats the current
    value is ignored in favor of the other."""

    external_ai: bool | UnsetType = field(name="externalAI", default=UNSET)
    markdown: bool | UnsetType = UNSET
    mcp: bool | UnsetType = UNSET
    items: Annotated[list[PageAction], Meta(max_length=len(PAGE_ACTIONS))] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.items is not UNSET and len(set(self.items)) < len(self.items):
            raise ValueError("pageActions.items: must not list an action twice")


class SocialDisplay(Struct, rename="camel"):
    footer: bool = True
    header: bool = False


class SocialAccount(Struct, rename="camel"):
    """Account of the site's owner on a social network, which separate site renderers link to."""

    platform: SocialPlatform
    handle: Annotated[str, Meta(min_length=1, max_length=128)]
    display: SocialDisplay = field(default_factory=SocialDisplay)


SocialAccounts = Annotated[list[SocialAccount], Meta(max_length=10)]


class ExternalLinks(Struct, rename="camel"):
    target: LinkTarget = "self"


class UrlOnly(Struct, rename="camel"):
    url: Url | UnsetType = UNSET


class Insights(Struct, rename="camel"):
    """Insights. Cookies are off by default."""

    tracking_cookie: bool = False


class PutThemes(Struct, rename="camel"):
    """Themes. Sending back the whole current value changes nothing, including whether a theme was chosen."""

    default: Mode | UnsetType = UNSET
    toggeable: bool | UnsetType = UNSET


class CustomizationSettings(Struct, rename="camel"):
    """Settings that have the same form in requests and responses. Omitted settings get their default."""

    styling: Styling = field(default_factory=Styling)
    internationalization: Internationalization = field(default_factory=Internationalization)
    favicon: Favicon = field(default_factory=Favicon)
    header: Header = field(default_factory=Header)
    footer: Footer = field(default_factory=Footer)
    feedback: Off = field(default_factory=Off)
    ai: Ai = field(default_factory=Ai)
    advanced_customization: Switch = field(default_factory=Switch)
    external_links: ExternalLinks = field(default_factory=ExternalLinks)
    pagination: Switch = field(default_factory=Switch)
    api_playground: Switch = field(default_factory=Switch)
    agent_calls: Off = field(default_factory=Off)
    trademark: Off = field(default_factory=Off)
    privacy_policy: UrlOnly = field(default_factory=UrlOnly)
    social_preview: UrlOnly = field(default_factory=UrlOnly)
    insights: Insights = field(default_factory=Insights)
    social_accounts: SocialAccounts = []
    announcement: Announcement | UnsetType = UNSET
    title: SiteTitle | UnsetType = UNSET


class Customization(CustomizationSettings, rename="camel"):
    """Complete customization of a site, with defaults for unchanged settings."""

    themes: Themes = field(default_factory=Themes)
    pdf: Switch = field(default_factory=Switch)
    git: Git = field(default_factory=Git)
    page_actions: PageActions = field(default_factory=PageActions)

    def __post_init__(self) -> None:
        """Keep the list of page actions consistent with the switches, also where a site space overrides one."""
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
    themes: PutThemes = field(default_factory=PutThemes)
    pdf: Switch | UnsetType = UNSET
    git: Git | UnsetType = UNSET
    page_actions: PutPageActions = field(default_factory=PutPageActions)


class SidebarOverride(Struct, rename="camel"):
    background: SidebarBackground | None | UnsetType = UNSET
    list: SidebarList | None | UnsetType = UNSET


class StylingOverride(Struct, rename="camel"):
    theme: Theme | None | UnsetType = UNSET
    primary_color: ThemedColor | None | UnsetType = UNSET
    info_color: ThemedColor | None | UnsetType = UNSET
    success_color: ThemedColor | None | UnsetType = UNSET
    warning_color: ThemedColor | None | UnsetType = UNSET
    danger_color: ThemedColor | None | UnsetType = UNSET
    tint: Tint | None | UnsetType = UNSET
    corners: Corners | None | UnsetType = UNSET
    depth: Depth | None | UnsetType = UNSET
    links: LinksStyle | None | UnsetType = UNSET
    icons: IconsStyle | None | UnsetType = UNSET
    sidebar: SidebarOverride | UnsetType = UNSET
    search: SearchStyle | None | UnsetType = UNSET
    code_theme: CodeTheme | None | UnsetType = UNSET
    background: Background | None | UnsetType = UNSET


class InternationalizationOverride(Struct, rename="camel"):
    locale: Locale | None


class HeaderOverride(Struct, rename="camel"):
    preset: HeaderPreset | None | UnsetType = UNSET
    logo: ThemedUrl | None | UnsetType = UNSET
    background_color: ThemedColor | None | UnsetType = UNSET
    link_color: ThemedColor | None | UnsetType = UNSET
    links: HeaderItems | None | UnsetType = UNSET


class FooterOverride(Struct, rename="camel"):
    logo: ThemedUrl | None | UnsetType = UNSET
    groups: FooterGroups | None | UnsetType = UNSET
    copyright: Copyright | None | UnsetType = UNSET


class ThemesOverride(Struct, rename="camel"):
    default: Mode | None | UnsetType = UNSET
    toggeable: bool | None | UnsetType = UNSET


class SwitchOverride(Struct, rename="camel"):
    enabled: bool | None


class GitOverride(Struct, rename="camel"):
    show_edit_link: bool | None


class ExternalLinksOverride(Struct, rename="camel"):
    target: LinkTarget | None


class UrlOverride(Struct, rename="camel"):
    url: Url | None | UnsetType = UNSET


class Override(Struct, rename="camel"):
    title: SiteTitle | None | UnsetType = UNSET
    styling: StylingOverride | UnsetType = UNSET
    internationalization: InternationalizationOverride | UnsetType = UNSET
    favicon: Favicon | None | UnsetType = UNSET
    announcement: Announcement | None | UnsetType = UNSET
    header: HeaderOverride | UnsetType = UNSET
    footer: FooterOverride | UnsetType = UNSET
    themes: ThemesOverride | UnsetType = UNSET
    pdf: SwitchOverride | UnsetType = UNSET
    feedback: SwitchOverride | UnsetType = UNSET
    git: GitOverride | UnsetType = UNSET
    external_links: ExternalLinksOverride | UnsetType = UNSET
    pagination: SwitchOverride | UnsetType = UNSET
    api_playground: SwitchOverride | UnsetType = UNSET
    trademark: SwitchOverride | UnsetType = UNSET
    privacy_policy: UrlOverride | UnsetType = UNSET
    social_preview: UrlOverride | UnsetType = UNSET
