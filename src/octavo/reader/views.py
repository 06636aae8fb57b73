"""What a published page shows, as plain values: the reader fills these in, the templates only lay them out.

Every text here is plain text (templates escape it); ``Markup`` is HTML drawn by us. Every ``href`` is used as it
is, so it is either made by the reader or has passed ``core.document.urls.safe_url``.
"""

from __future__ import annotations

from typing import Literal

from markupsafe import Markup
from msgspec import Struct

from ..core.document.html import Asset, BlockLabels, Heading

Sign = Markup | None


class Labels(BlockLabels, frozen=True, kw_only=True):
    """The words of the page's frame, in the page's language; those of blocks are inherited."""

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
    ask_waiting: str = "The answer is being written…"
    ask_sources: str = "Sources"
    ask_back: str = "Back to search"
    ask_failed: str = "No answer is available right now. Try again in a moment."
    ask_written: str = "A language model wrote this answer from these pages. It may contain mistakes."
    ask_no_model: str = "No language model is configured here, so there is no summary."
    ask_no_reply: str = "The language model didn't respond, so there is no summary."
    ask_fits: str = "These passages of the documentation best match your question."
    ask_near: str = "Nothing answers this exact question. These passages of the documentation come closest."
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
        "The server couldn't be reached, or doesn't allow this page to read its response."
    )
    try_form_blocked: str = (
        "Your browser couldn't read a response. The server doesn't allow this page to do so, or it "
        "can't be reached. The request may still have been processed."
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
        "The provider can't be reached, or doesn't issue tokens to web pages. Get a token there "
        "and enter it manually."
    )
    try_form_certificate: str = (
        "{name} is a client certificate (mutual TLS). Your browser sends it if it has one for this "
        "server. Requests sent through this site don't include it."
    )
    try_form_computed: str = (
        "{scheme} needs a value that is computed for each request, which this page can't do. Enter "
        "a value from your own code, or call the operation from there."
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
    found_inside: str = "Elsewhere in the name"
    found_field: str = "With a matching field"
    find_operation: str = "Filter by name, path, or method"
    by_resource: str = "By resource"
    by_path: str = "By path"
    as_written: str = "As written"


class Link(Struct, frozen=True, kw_only=True):
    """A link of the header or footer. ``children`` make it a menu (one level); ``href`` may then be None."""

    title: str
    href: str | None = None
    style: Literal["link", "button-primary", "button-secondary"] = "link"
    external: bool = False
    new_tab: bool = False
    children: tuple[Link, ...] = ()


class Picture(Struct, frozen=True, kw_only=True):
    """A picture for the light theme, and another one for the dark theme where there is one."""

    light: str
    dark: str | None = None


class Image(Struct, frozen=True, kw_only=True):
    """An image of ours with its whole address and its size in pixels."""

    url: str
    width: int
    height: int


class Tab(Struct, frozen=True, kw_only=True):
    """A site section, or a group of sections (``children``, then ``href`` may be None)."""

    title: str
    href: str | None = None
    current: bool = False
    icon: Sign = None
    description: str | None = None
    children: tuple[Tab, ...] = ()


class Variant(Struct, frozen=True, kw_only=True):
    """A version or language of what is shown; ``href`` leads to the same page there (``same``), or to its start."""

    title: str
    href: str
    current: bool = False
    same: bool = False
    language: str | None = None


class NavItem(Struct, frozen=True, kw_only=True):
    """An entry of the tree at the side. ``href`` None makes it a heading (group). ``open``: its children show;
    true for the current page and all its ancestors. ``emoji`` is characters, ``icon`` an inline SVG. ``method``: of the
    operation of an API that the page shows, in lower case; ``count``: how many operations are below it that the tree
    does not show."""

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


class Announcement(Struct, frozen=True, kw_only=True):
    """A line above the header. ``key`` names it, so that a visitor's dismissal is remembered until it changes; one of
    the style danger cannot be dismissed."""

    message: str
    key: str
    style: Literal["info", "success", "warning", "danger"] = "info"
    link: Link | None = None


class Feedback(Struct, frozen=True, kw_only=True):
    """Where page ratings are posted: a form with ``rating`` (good, ok, bad) and ``page``."""

    action: str
    page: str


class Script(Struct, frozen=True):
    """A script of an integration. ``waits``: it is loaded only once the visitor has agreed."""

    src: str
    waits: bool


class SiteView(Struct, frozen=True, kw_only=True):
    """What all pages of a site share.

    ``base`` is the site's path with a slash at both ends; ``assets`` the path our static files are served under,
    without a slash at its end (files: ``drawing.asset``). ``theme_css`` is the site's own style: colours, fonts;
    the header that lets it and the one inline script through is ``drawing.content_security_policy``. ``look`` are
    the classes that customization sets. ``font_file`` is fetched before the style sheet asks for it.
    ``language`` is a BCP 47 tag. ``theme`` is what applies until a visitor chooses. ``search`` and
    ``search_json`` are the addresses of ``~search`` and ``~search.json``, None on sites without search; ``ask`` is that
    of ``~ask``, None where visitors ask nothing, and with ``assistant`` the header has a button for it.
    ``feed`` is the address of the feed of updated pages, None on sites that are not public.
    ``seen`` is where the script of a page says what was done there, None where nothing is counted.
    ``variants_by_language``: what tells the variants apart is their language. ``scripts`` are those of integrations;
    ``sources`` is what the policy of the pages lets through for them, by directive.
    """

    title: str
    home: str
    base: str
    assets: str
    language: str = "en"
    direction: Literal["ltr", "rtl"] = "ltr"
    labels: Labels = Labels()
    theme_css: Markup = Markup("")
    look: tuple[str, ...] = ()
    font_file: str | None = None
    theme: Literal["system", "light", "dark"] = "system"
    theme_toggle: bool = True
    logo: Picture | None = None
    icon: Picture | None = None
    emoji: str | None = None
    sections: tuple[Tab, ...] = ()
    variants: tuple[Variant, ...] = ()
    variants_by_language: bool = False
    links: tuple[Link, ...] = ()
    search: str | None = None
    search_json: str | None = None
    seen: str | None = None
    ask: str | None = None
    assistant: bool = False
    announcement: Announcement | None = None
    footer_logo: Picture | None = None
    footer_links: tuple[Link, ...] = ()
    copyright: str | None = None
    privacy: str | None = None
    powered: bool = False
    social_image: str | None = None
    no_index: bool = False
    feed: str | None = None
    scripts: tuple[Script, ...] = ()
    sources: tuple[tuple[str, tuple[str, ...]], ...] = ()


class Layout(Struct, frozen=True, kw_only=True):
    """Which parts of a page show; ``landing`` is a page without side columns. Without ``navigation`` the tree stays in
    the menu of a narrow screen, where there is no other way to the rest."""

    width: Literal["default", "wide", "landing"] = "default"
    title: bool = True
    description: bool = True
    navigation: bool = True
    outline: bool = True
    pagination: bool = True
    updated: bool = True


class CoverView(Struct, frozen=True, kw_only=True):
    """``hero`` runs over the whole width, otherwise it is as wide as the text; height in pixels."""

    light: Asset
    dark: Asset | None = None
    hero: bool = False
    height: int = 240

    def sizes(self, image: Asset) -> str:
        """How wide an image is shown: so that it fills the screen, and is as high as it is to be."""
        high = -(-self.height * image.width // image.height) if image.width and image.height else 0
        return f"max(100vw, {high}px)"


class PageView(Struct, frozen=True, kw_only=True):
    """One page. ``about`` is what search engines show of it. ``body`` and ``outline`` come from ``core.document.html.render``; ``updated`` is an ISO date
    (YYYY-MM-DD) and ``updated_text`` how it reads; ``tags`` are shown under the title. ``alternates`` are the same page in other languages and
    in its own, with whole addresses. ``index`` is the address of llms.txt, for programs. ``markdown``, ``edit``
    and ``feed`` are addresses of other forms of the page, None to leave them out; ``markdown_actions`` offers the
    first one to people as well. ``assistants`` open the page elsewhere, ``mcp`` is the address of the site's MCP
    server, ``printed`` offers to print the page. ``operations``: it shows operations of an API, to
    which scripts add; those may speak to the hosts in ``connect``. ``filter``: the address of a list of all operations
    that the pages beside it show, ``models`` that of a list of all models of which the page shows some, ``access`` that
    of what a page on authentication asks for, ``changes``: it shows what changed of an API, ``listing``: it lists models or tags
    of one as rows, ``heads``: it shows operations wholly, beside which there is no room for an outline. ``exports`` the whole specification in several forms. ``blocks``: the integrations that show blocks on the page, which a
    script asks for. ``diagrams``: a script draws diagrams of their text. ``social_image`` is what networks show where
    the site has no picture for that."""

    title: str
    body: Markup
    outline: tuple[Heading, ...] = ()
    description: str | None = None
    about: str | None = None
    emoji: str | None = None
    icon: Sign = None
    cover: CoverView | None = None
    tags: tuple[str, ...] = ()
    nav: tuple[NavItem, ...] = ()
    crumbs: tuple[Crumb, ...] = ()
    previous: Crumb | None = None
    next: Crumb | None = None
    updated: str | None = None
    updated_text: str | None = None
    canonical: str | None = None
    alternates: tuple[Variant, ...] = ()
    social_image: Image | None = None
    layout: Layout = Layout()
    markdown: str | None = None
    index: str | None = None
    markdown_actions: bool = True
    edit: str | None = None
    printed: bool = False
    assistants: tuple[Link, ...] = ()
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
    exports: tuple[Link, ...] = ()
    connect: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    diagrams: bool = False
    no_index: bool = False

    @property
    def note(self) -> Markup:
        """What programs that read the page are told; in English, as llms.txt is."""
        return Markup(
            'For AI agents: <a href="{}" tabindex="-1">llms.txt</a> lists all pages of this documentation, and'
            ' <a href="{}" tabindex="-1">this page is also there as Markdown</a>.'
        ).format(self.index, self.markdown)


class ElementView(Struct, frozen=True, kw_only=True):
    """An element of what a block of an integration shows. ``html`` is drawn by us; an ``href`` or ``src`` has passed
    ``safe_url``. Controls show their ``text`` or are ``checked``; one with a ``name`` can be filled in, and ``act`` is
    the number of the action that pressing or changing it does, after ``confirm`` was asked. ``shape`` says which
    control of its kind it is; ``options`` have a value, a label, and whether they are chosen. The ``text`` of a frame
    is JSON for it, ``ratio`` its width by its height, ``shape`` whose it is. ``line``: a hint of several parts; ``lead``
    and ``tools``: what stands before and behind the title of a card."""

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


class Part(Struct, frozen=True):
    """A run of text, ``marked`` where it matched what was looked for."""

    text: str
    marked: bool = False


class SectionHit(Struct, frozen=True, kw_only=True):
    title: str
    href: str
    excerpt: tuple[Part, ...] = ()


class SearchHit(Struct, frozen=True, kw_only=True):
    """A found page with its best sections; ``crumbs`` are the titles above it."""

    title: str
    href: str
    crumbs: tuple[str, ...] = ()
    excerpt: tuple[Part, ...] = ()
    sections: tuple[SectionHit, ...] = ()


class ApiHit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An operation of an API with its ``path``, a field with the title of its operation as ``path``, or a model."""

    title: str
    href: str
    method: str = ""
    path: str = ""
    about: str = ""


class SearchAnswer(Struct, frozen=True, kw_only=True):
    """What ``~search.json?q=`` answers, as JSON with these very names. ``suggestions`` are near words, given when
    nothing was found."""

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
    """A section that an answer is made of."""

    title: str
    href: str


class AnsweredView(Struct, frozen=True, kw_only=True):
    """A question with its answer, which may not be complete. ``before``: what the next question comes after, this one
    included. ``written``: by a model, out of ``sources``."""

    question: str
    before: tuple[str, ...]
    body: Markup
    written: bool = False
    sources: tuple[SourceView, ...] = ()
    followups: tuple[str, ...] = ()


class GoneView(Struct, frozen=True, kw_only=True):
    """An operation that an API has no more, with what is said of that. ``instead``: the one that is in its place."""

    method: str
    path: str
    text: str
    instead: Crumb | None = None
    changes: Crumb | None = None


class MessageView(Struct, frozen=True, kw_only=True):
    """A page that only says something: not found, no access, an error. ``suggestions`` are pages that may be meant,
    ``reference`` is an error's id."""

    title: str
    text: str
    nav: tuple[NavItem, ...] = ()
    suggestions: tuple[SearchHit, ...] = ()
    gone: GoneView | None = None
    reference: str | None = None
