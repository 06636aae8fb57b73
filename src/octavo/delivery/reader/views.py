"""Views: the content of a published page as plain values. The reader creates the views, and the templates only arrange
their values.

All text is plain text, which templates escape; ``Markup`` is HTML rendered by Octavo. Every ``href`` is
used unchanged, so it must either come from the reader or have passed ``core.document.urls.safe_url``."""

from __future__ import annotations

from typing import Literal

from markupsafe import Markup
from msgspec import Struct

from octavo.core.document.html_context import Asset, BlockLabels, OutlineHeading

Sign = Markup | None


class FrameLabels(BlockLabels, frozen=True, kw_only=True):
    """Labels of a page's frame, in the page's language. The labels of blocks are inherited."""

    skip: str = "Skip to content"
    menu: str = "Menu"
    navigation: str = "Pages"
    sections: str = "Sections"
    variants: str = "Version"
    language: str = "Language"
    breadcrumb: str = "Breadcrumb"
    outline: str = "On this page"
    search: str = "Search"
    ask: str = "Ask"
    ask_placeholder: str = "Search or ask…"
    ask_this: str = "Ask “{query}”"
    ask_more: str = "Ask another question…"
    ask_questions: str = "Suggested questions"
    ask_answer: str = "Answer"
    ask_waiting: str = "Writing the answer…"
    ask_sources: str = "Sources"
    ask_back: str = "Back to search"
    ask_failed: str = "No answer is available right now. Try again in a moment."
    ask_written: str = "A language model wrote this answer from these pages. It may contain mistakes."
    ask_helpful: str = "Was this answer helpful?"
    ask_no_model: str = "No language model is configured, so there is no summary."
    ask_no_reply: str = "The language model didn't respond, so there is no summary."
    ask_fits: str = "These passages from the documentation best match your question."
    ask_near: str = "No exact answer was found. These passages from the documentation come closest."
    ask_nothing: str = "Nothing in the documentation you can access answers this question."
    ask_about: str = "What should I know about “{title}”?"
    search_placeholder: str = "Search…"
    no_results: str = "No results for “{query}”"
    did_you_mean: str = "Did you mean"
    recent: str = "Recent searches"
    results: str = "Pages found: {count}"
    previous: str = "Previous"
    next: str = "Next"
    turn: str = "Previous and next page"
    updated: str = "Last updated"
    verified: str = "Verified"
    helpful: str = "Was this page helpful?"
    thanks: str = "Thanks for your feedback."
    rate_bad: str = "No"
    rate_ok: str = "Partly"
    rate_good: str = "Yes"
    theme: str = "Theme"
    theme_light: str = "Light"
    theme_dark: str = "Dark"
    theme_system: str = "System"
    actions: str = "Page actions"
    markdown: str = "View as Markdown"
    copy_page: str = "Copy page as Markdown"
    copy_mcp: str = "Copy MCP server URL"
    read_this: str = "Read {url} so that I can ask you questions about it."
    edit: str = "Edit this page"
    pdf: str = "Print or save as PDF"
    not_found: str = "Page not found"
    not_found_text: str = "The page you're looking for doesn't exist. It may have been moved."
    gone: str = "Removed in {name}."
    gone_instead: str = "Use instead:"
    no_pages: str = "No pages yet"
    no_pages_text: str = "There are no pages here yet."
    perhaps: str = "You might be looking for"
    home: str = "Back to home page"
    toggle: str = "Pages under {title}"
    feed: str = "Updates feed"
    dismiss: str = "Dismiss"
    footer: str = "Footer"
    privacy: str = "Privacy policy"
    powered: str = "Powered by {name}"
    inert: str = "Not available on published pages"
    cookies: str = "Cookies"
    cookies_text: str = "This site would like to load third-party services that may set cookies."
    accept: str = "Accept"
    refuse: str = "Decline"
    not_done: str = "Something went wrong. Try again."
    embedded: str = "Documentation"
    try_form_server: str = "Server"
    try_form_authentication: str = "Authentication"
    try_form_way: str = "Method"
    try_form_user: str = "Username"
    try_form_password: str = "Password"  # noqa: S105 - a label
    try_form_content: str = "Content"
    try_form_type: str = "Type"
    try_form_required: str = "required"
    try_form_number: str = "number"
    try_form_boolean: str = "true or false"
    try_form_list: str = "one per line"
    try_form_file: str = "file"
    try_form_send: str = "Send"
    try_form_sending: str = "Sending…"
    try_form_indirect: str = "sent through this site"
    try_form_through: str = "Send through this site"
    try_form_save: str = "Save response body"
    try_form_answer: str = "Response"
    try_form_failed: str = "The request couldn't be sent."
    try_form_unavailable: str = "This isn't available right now. Reload the page."
    try_form_unreachable: str = (
        "The server couldn't be reached, or it doesn't allow this page to read its response."
    )
    try_form_blocked: str = (
        "Your browser couldn't read a response. The server can't be reached, or it doesn't allow this page "
        "to read its responses. The request may still have been processed."
    )
    found_operations: str = "Operations"
    found_fields: str = "Fields"
    found_models: str = "Models"
    all_kinds: str = "All"
    changes_from: str = "From"
    changes_to: str = "to"
    try_form_keep: str = "Keep in this tab"
    try_form_show: str = "Show"
    try_form_earlier: str = "Earlier"
    try_form_form: str = "Form"
    try_form_sent: str = "Sent"
    try_form_described: str = "As described"
    try_form_differs: str = "Not as described"
    try_form_silent: str = "No response"
    try_form_add: str = "Add"
    try_form_remove: str = "Remove"
    try_form_can_add: str = "Fields you can add:"
    try_form_line: str = "Line {line}: {text}"
    try_form_wrong_type: str = "{name} must be {wanted}, not {given}."
    try_form_missing: str = "{name} is missing."
    try_form_unknown: str = "{name} isn't a known field."
    try_form_not_one: str = "{name} must be one of {wanted}."
    try_form_limit: str = "{name} is out of range: {wanted}."
    try_form_no_json: str = "This isn't valid JSON."
    try_form_stop: str = "Stop"
    try_form_more: str = "{count} more"
    try_form_code: str = "Code"
    signed_in: str = "You can close this window and go back to the page you came from."
    try_form_your_access: str = "Your access"
    try_form_forget: str = "Forget"
    try_form_forget_all: str = "Forget all"
    try_form_get_token: str = "Get a token"  # noqa: S105 - a label
    try_form_sign_in: str = "Sign in"
    try_form_client_id: str = "Client ID"
    try_form_client_secret: str = "Client secret"  # noqa: S105 - a label
    try_form_if_given: str = "if you have one"
    try_form_scopes: str = "Scopes"
    try_form_redirect: str = "Redirect to"
    try_form_waiting: str = "Sign in using the other window."
    try_form_ready: str = "Ready to try"
    try_form_left: str = "{time} left"
    try_form_ended: str = "no longer valid"
    try_form_refused: str = "The provider didn't issue a token: {text}"
    try_form_no_tokens: str = (
        "The provider can't be reached, or it doesn't issue tokens to web pages. Get a token from the "
        "provider and enter it manually."
    )
    try_form_certificate: str = (
        "{name} is a client certificate (mutual TLS). Your browser sends it if it has one for this "
        "server. Requests sent through this site don't include it."
    )
    try_form_computed: str = (
        "{scheme} needs a value computed for each request, which this page can't do. Enter a value "
        "computed by your own code, or call the operation from your code."
    )
    try_form_no_window: str = "Your browser blocked the window. Allow pop-ups for this page and try again."
    expand_all: str = "Expand all"
    fold_all: str = "Collapse all"
    find_field: str = "Find a field"
    filter_operations: str = "Filter operations"
    operations_found: str = "Operations found: {found} of {all}"
    find_model: str = "Find a model or field"
    models_sent: str = "Sent"
    models_answered: str = "Returned"
    models_events: str = "Events"
    found_inside: str = "Names that contain the text"
    found_field: str = "With a matching field"
    find_operation: str = "Filter by name, path, or method"
    by_resource: str = "By resource"
    by_path: str = "By path"
    as_written: str = "As written"
    connect_app: str = "Connect {app}?"
    connect_text: str = (
        "This app will be able to read this site as you see it until your sign-in expires. Apps choose their "
        "own names, so continue only if you started this yourself."
    )
    connect_source: str = "The app is described at {host}."
    connect_place: str = "Your browser will then open:"
    connect_local: str = "This URL is on your own computer, where any app could use this name."
    connect: str = "Connect"
    cancel: str = "Cancel"


class LinkView(Struct, frozen=True, kw_only=True):
    """Link in the header or footer. ``children``: the links in a menu (one level). ``href``: the target,
    which can be None for a menu."""

    title: str
    href: str | None = None
    style: Literal["link", "button-primary", "button-secondary"] = "link"
    external: bool = False
    new_tab: bool = False
    children: tuple[LinkView, ...] = ()


class ThemedImage(Struct, frozen=True, kw_only=True):
    """Image for the light theme, with an optional one for the dark theme."""

    light: str
    dark: str | None = None


class Image(Struct, frozen=True, kw_only=True):
    """Image served by Octavo, with its absolute URL and its size in pixels."""

    url: str
    width: int
    height: int


class Tab(Struct, frozen=True, kw_only=True):
    """Site section, link to another website (``external``), or group of sections and links (``children``; a group's
    ``href`` can be None)."""

    title: str
    href: str | None = None
    current: bool = False
    icon: Sign = None
    description: str | None = None
    external: bool = False
    children: tuple[Tab, ...] = ()


class VariantView(Struct, frozen=True, kw_only=True):
    """Version or language of the content. ``href``: the URL of the same page in the variant (``same``), or of
    the variant's start page."""

    title: str
    href: str
    current: bool = False
    same: bool = False
    language: str | None = None


class NavItem(Struct, frozen=True, kw_only=True):
    """Entry of the side navigation. An entry without ``href`` is the heading of a group. ``open``: whether its
    children are shown; true for the current page and all its ancestors. ``emoji``: the characters of the emoji.
    ``icon``: an inline SVG. ``method``: the method of the API operation that the page shows, in lowercase.
    ``count``: the number of operations under it that the tree doesn't show."""

    title: str
    href: str | None = None
    emoji: str | None = None
    icon: Sign = None
    current: bool = False
    open: bool = False
    external: bool = False
    method: str | None = None
    count: int = 0
    children: tuple[NavItem, ...] = ()


class Crumb(Struct, frozen=True, kw_only=True):
    title: str
    href: str | None = None


class AnnouncementView(Struct, frozen=True, kw_only=True):
    """Announcement above the header. ``key``: the key that identifies the announcement, so that a visitor's
    dismissal is remembered until the announcement changes. Announcements in the danger style can't be dismissed."""

    message: str
    key: str
    style: Literal["info", "success", "warning", "danger"] = "info"
    link: LinkView | None = None


class Feedback(Struct, frozen=True, kw_only=True):
    """Target for page ratings: a form with ``rating`` (good, ok, bad) and ``page``."""

    action: str
    page: str


class ScriptView(Struct, frozen=True):
    """Integration script. ``waits``: whether it loads only after the visitor has consented."""

    src: str
    waits: bool


class SiteView(Struct, frozen=True, kw_only=True):
    """Values shared by all pages of a site.

    ``base``: the site's path with a slash at both ends. ``assets``: the path of static files, without a trailing
    slash (for their names, see ``drawing.find_asset``). ``theme_css``: the site's own style (colors and fonts).
    ``drawing.content_security_policy`` returns the header that allows this style and the only inline script.
    ``look``: the classes that customization sets. ``font_file``: the font file to preload.

    ``language``: a BCP 47 tag. ``theme``: the theme until a visitor chooses another. ``search`` and
    ``search_json``: the URLs of ``~search`` and ``~search.json``; None on sites without search. ``ask``: the URL
    of ``~ask``; None if the site doesn't answer questions. ``assistant``: whether the header has a button for the
    assistant. ``greeting``: the assistant's first message, if any.

    ``home``: the URL of the start page. ``brand``: the URL that the title and the logo link to.

    ``feed``: the URL of the feed of updated pages; None on sites that aren't public. ``seen``: the URL for
    reports from a page's script; None if visits aren't counted. ``variants_by_language``: whether variants are
    languages. ``scripts``: the scripts of integrations. ``sources``: the sources that the policy of the pages
    allows for them, by directive.
    """

    title: str
    home: str
    brand: str
    base: str
    assets: str
    language: str = "en"
    direction: Literal["ltr", "rtl"] = "ltr"
    labels: FrameLabels = FrameLabels()
    theme_css: Markup = Markup("")
    look: tuple[str, ...] = ()
    font_file: str | None = None
    theme: Literal["system", "light", "dark"] = "system"
    theme_toggle: bool = True
    logo: ThemedImage | None = None
    icon: ThemedImage | None = None
    emoji: str | None = None
    sections: tuple[Tab, ...] = ()
    variants: tuple[VariantView, ...] = ()
    variants_by_language: bool = False
    links: tuple[LinkView, ...] = ()
    search: str | None = None
    search_json: str | None = None
    seen: str | None = None
    ask: str | None = None
    assistant: bool = False
    greeting: str | None = None
    announcement: AnnouncementView | None = None
    footer_logo: ThemedImage | None = None
    footer_links: tuple[LinkView, ...] = ()
    copyright: str | None = None
    privacy: str | None = None
    powered: bool = False
    social_image: str | None = None
    no_index: bool = False
    feed: str | None = None
    scripts: tuple[ScriptView, ...] = ()
    sources: tuple[tuple[str, tuple[str, ...]], ...] = ()


class LayoutView(Struct, frozen=True, kw_only=True):
    """Visible parts of a page. ``landing``: whether the page has no side columns. ``navigation``: whether the tree is
    shown on all screens; otherwise, it is shown only in the menu on narrow screens, where there is no other
    navigation."""

    width: Literal["default", "wide", "landing"] = "default"
    title: bool = True
    description: bool = True
    navigation: bool = True
    outline: bool = True
    pagination: bool = True
    updated: bool = True


class CoverView(Struct, frozen=True, kw_only=True):
    """Cover image of a page. ``hero``: whether it spans the full width of the page; otherwise, it is as wide as
    the text. ``behind``: whether it is behind the title. ``words`` and ``words_dark``: the colors of a title in
    front of the image, in the light and dark themes. ``fades``: whether its edges fade out. The height is in
    pixels. ``focus``: the vertical position of the image in percent."""

    light: Asset
    dark: Asset | None = None
    hero: bool = False
    behind: bool = False
    fades: bool = False
    words: str | None = None
    words_dark: str | None = None
    height: int = 240
    focus: int = 50

    def sizes(self, image: Asset) -> str:
        """Return the displayed width of an image that fills the screen at the cover's height."""
        high = -(-self.height * image.width // image.height) if image.width and image.height else 0
        return f"max(100vw, {high}px)"


class TagView(Struct, frozen=True, kw_only=True):
    """Tag of a page, with a link to the pages with that tag. ``color``: the name of its color, without
    `$`."""

    title: str
    href: str
    color: str = "default"
    emoji: str | None = None
    icon: Sign = None


class SitePageView(Struct, frozen=True, kw_only=True):
    """One page. ``about``: the description for search engines. ``body`` and ``outline``: the results of
    ``core.document.html.render``. ``updated``: an ISO date (YYYY-MM-DD). ``updated_text``: its localized
    form. ``verified``: the date when the page was verified. ``verified_text``: its localized form.
    ``verified_by``: the person who verified the page. ``tags``: the tags shown under the title.
    ``alternates``: the page in each language, including its own, with absolute URLs. ``index``: the URL of
    llms.txt.

    ``markdown``, ``edit``, and ``feed``: the URLs for the page's Markdown, editor, and feed; None to omit them.
    ``markdown_actions``: whether the page has buttons for its Markdown. ``assistants``: links that open the page in AI
    assistants. ``mcp``: the URL of the site's MCP server. ``printed``: whether the page has a print button.

    ``operations``: whether the page shows API operations, which scripts extend; these scripts can connect to
    the hosts in ``connect``. ``filter``: the URL of a list of all operations on the adjacent pages. ``models``:
    the URL of a list of all models, some of which the page shows. ``access``: the URL of the fields of an
    authentication page's form. ``changes``: whether the page shows an API's changelog. ``listing``: whether it
    lists models or tags as rows. ``heads``: whether it shows complete operations, so that there is no room for
    an outline. ``exports``: links to the complete specification in several formats. ``blocks``: the
    integrations whose blocks the page shows, which a script fetches. ``diagrams``: whether a script must draw
    diagrams from text. ``filtered``: whether a table has a search field. ``social_image``: the preview image
    for social networks; None if the site sets its own."""

    title: str
    body: Markup
    outline: tuple[OutlineHeading, ...] = ()
    description: str | None = None
    about: str | None = None
    emoji: str | None = None
    icon: Sign = None
    cover: CoverView | None = None
    tags: tuple[TagView, ...] = ()
    nav: tuple[NavItem, ...] = ()
    crumbs: tuple[Crumb, ...] = ()
    previous: Crumb | None = None
    next: Crumb | None = None
    updated: str | None = None
    updated_text: str | None = None
    verified: str | None = None
    verified_text: str | None = None
    verified_by: str | None = None
    canonical: str | None = None
    alternates: tuple[VariantView, ...] = ()
    social_image: Image | None = None
    layout: LayoutView = LayoutView()
    markdown: str | None = None
    index: str | None = None
    markdown_actions: bool = True
    edit: str | None = None
    printed: bool = False
    assistants: tuple[LinkView, ...] = ()
    mcp: str | None = None
    feed: str | None = None
    feedback: Feedback | None = None
    operations: bool = False
    together: bool = False
    filter: str | None = None
    models: str | None = None
    access: str | None = None
    changes: bool = False
    listing: bool = False
    heads: bool = False
    exports: tuple[LinkView, ...] = ()
    connect: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    diagrams: bool = False
    filtered: bool = False
    no_index: bool = False

    @property
    def note(self) -> Markup:
        """Return a note for agents that read the page. It is in English, like llms.txt."""
        return Markup(
            'For AI agents: <a href="{}" tabindex="-1">llms.txt</a> lists all pages of this documentation, and'
            ' <a href="{}" tabindex="-1">this page is also available as Markdown</a>.'
        ).format(self.index, self.markdown)


class ElementView(Struct, frozen=True, kw_only=True):
    """Element of an integration's block. ``html``: HTML rendered by Octavo. ``href`` and ``src``: URLs that have passed
    ``safe_url``. ``text`` and ``checked``: the text or state of a control. ``name``: the name of a form field. ``act``:
    the number of the action that the control triggers. ``confirm``: the question that the visitor must confirm first.
    ``shape``: the variant of the control. ``options``: the options, each with a value, a label, and whether it is
    selected. For a frame, ``text`` is JSON to pass to it, ``ratio`` is its width divided by its height, and ``shape``
    specifies who owns it. ``line``: whether it is a hint with several parts. ``lead``, ``tools``: the elements before
    and after the title of a card."""

    kind: Literal[
        "column",
        "row",
        "box",
        "card",
        "text",
        "hint",
        "link",
        "button",
        "image",
        "rule",
        "html",
        "field",
        "input",
        "select",
        "tick",
        "frame",
        "modal",
    ]
    text: str = ""
    title: str = ""
    hint: str = ""
    href: str | None = None
    src: str | None = None
    html: Markup | None = None
    checked: bool = False
    name: str = ""
    act: int | None = None
    confirm: str = ""
    shape: str = ""
    options: tuple[tuple[str, str, bool], ...] = ()
    ratio: float = 1.0
    icon: Markup | None = None
    icon_after: Markup | None = None
    line: tuple[ElementView | str, ...] = ()
    lead: tuple[ElementView | str, ...] = ()
    tools: tuple[ElementView | str, ...] = ()
    children: tuple[ElementView | str, ...] = ()


class MarkedText(Struct, frozen=True):
    """Run of text. ``marked``: whether it matched the query."""

    text: str
    marked: bool = False


class SectionHitView(Struct, frozen=True, kw_only=True):
    title: str
    href: str
    excerpt: tuple[MarkedText, ...] = ()


class SearchHit(Struct, frozen=True, kw_only=True):
    """Matching page with its best sections. ``crumbs``: the titles of its ancestors."""

    title: str
    href: str
    crumbs: tuple[str, ...] = ()
    excerpt: tuple[MarkedText, ...] = ()
    sections: tuple[SectionHitView, ...] = ()


class TaggedPage(Struct, frozen=True, kw_only=True):
    """Page in a list. ``crumbs``: the titles of its ancestors."""

    title: str
    href: str
    crumbs: tuple[str, ...]
    description: str | None


class ApiHit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """API search hit: an operation with its ``path``, a field with the title of its operation as ``path``, or
    a model."""

    title: str
    href: str
    method: str = ""
    path: str = ""
    about: str = ""


class SearchAnswer(Struct, frozen=True, kw_only=True):
    """Response of ``~search.json?q=``. The field names are also the JSON names. ``suggestions``: similar words, if
    there are no results."""

    query: str
    hits: tuple[SearchHit, ...] = ()
    suggestions: tuple[str, ...] = ()
    operations: tuple[ApiHit, ...] = ()
    fields: tuple[ApiHit, ...] = ()
    models: tuple[ApiHit, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.hits or self.operations or self.fields or self.models)


class SourceView(Struct, frozen=True, kw_only=True):
    """Section that an answer is based on."""

    title: str
    href: str


class AnsweredView(Struct, frozen=True, kw_only=True):
    """Question with its answer, which can be incomplete. ``before``: the questions so far, including this question.
    ``written``: whether a model wrote the answer, based on ``sources``. ``id``: the ID of a complete answer; it is
    needed to rate the answer and to ask another question."""

    question: str
    before: tuple[str, ...]
    body: Markup
    written: bool = False
    sources: tuple[SourceView, ...] = ()
    followups: tuple[str, ...] = ()
    id: str = ""


class GoneView(Struct, frozen=True, kw_only=True):
    """Operation that was removed from an API, with details. ``instead``: its replacement."""

    method: str
    path: str
    text: str
    instead: Crumb | None = None
    changes: Crumb | None = None


class Agreement(Struct, frozen=True, kw_only=True):
    """Page that asks a visitor to let an agent read a site. ``app``: the name that the agent claims. ``source``: the
    host of the document that identifies the agent, if there is one. ``place``: the URL that the browser is redirected
    to afterward. ``scheme``: the scheme of ``place``. ``own_machine``: whether ``place`` is on the visitor's own
    machine. ``asked``: the value that the form sends back. ``refusal``: the redirect URL for visitors who decline."""

    app: str
    source: str
    place: str
    scheme: str
    own_machine: bool
    asked: str
    refusal: str


class MessageView(Struct, frozen=True, kw_only=True):
    """Page that contains only a message: not found, no access, or an error. ``suggestions``: pages that the
    visitor may be looking for. ``reference``: the ID of an error."""

    title: str
    text: str
    nav: tuple[NavItem, ...] = ()
    suggestions: tuple[SearchHit, ...] = ()
    gone: GoneView | None = None
    reference: str | None = None
