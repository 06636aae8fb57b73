"""What people do with the API has its place in the app: every operation is called by a screen, or is listed
here as what programs alone call."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from octavo.kit.http.operation import TABLE
from octavo.operations.installation import load_packages

load_packages()

ROOT = Path(__file__).parents[2]
STUDIO, SHARED, PORTAL = (
    ROOT / "web/studio",
    ROOT / "web/shared",
    ROOT / "src/octavo/organization/portal/static/portal.js",
)

_CALL = re.compile(r"\.(GET|POST|PUT|PATCH|DELETE)\(\s*(?:\"([^\"]+)\"|`([^`]+)`|(\w+))")
_PORTAL_CALL = re.compile(r"call\(\"(\w+)\", (?:\"([^\"]+)\"|`([^`]+)`)")
_PATH = re.compile(r"\"(/(?:[\w-]+|\{\w+\})(?:/[\w{}-]+)*)\"")
_ADDRESS = re.compile(r"[\"`]/v1(/[^\"`?]*)")
_NAMED = re.compile(r"\$?\{[^}]*\}")


def _pattern(text: str) -> str:
    """Return a pattern for a path in a template, whose placeholders match anything."""
    return "".join(
        # An escaped value is one segment of the path.
        ("[^/]+" if "encodeURIComponent" in part else ".+") if _NAMED.fullmatch(part) else re.escape(part)
        for part in re.split(r"(\$\{[^}]*\})", text)
    )


@cache
def called() -> dict[str, frozenset[str]]:
    """Return the operations that the app and the portal call, each with its files."""
    asked: set[tuple[str, str, str]] = set()
    sources = [
        path for folder in (STUDIO, SHARED) for path in folder.rglob("*") if path.suffix in (".ts", ".svelte")
    ]
    for path in sources:
        if path.name.endswith(".test.ts"):
            continue
        text = path.read_text()
        for method, plain, template, variable in _CALL.findall(text):
            if variable:
                asked |= {(method, re.escape(one), path.name) for one in _PATH.findall(text)}
            else:
                asked.add((method, re.escape(plain) if plain else _pattern(template), path.name))
        # Streams, files, and data sent while a page closes use a URL.
        asked |= {
            ("[A-Z]+", _NAMED.sub("\0", one).replace("\0", ".+"), path.name) for one in _ADDRESS.findall(text)
        }
    for method, plain, template in _PORTAL_CALL.findall(PORTAL.read_text()):
        asked.add((method, _pattern((plain or template).partition("?")[0]), PORTAL.name))
    found: dict[str, set[str]] = {}
    for method, pattern, where in asked:
        for operation in TABLE.values():
            if re.fullmatch(method, operation.method) and re.fullmatch(pattern, operation.path):
                found.setdefault(operation.id, set()).add(where)
    return {id: frozenset(where) for id, where in found.items()}


PROGRAMS = {
    "programs that check sites, and follow single findings": (
        "listSiteScans|getSiteScanById|get(SiteFindingStats|SiteFindingById)|"
        "triggerChangeRequestsForSiteFinding|listSiteStyleguideRuns|getSiteQuestionById|"
        "(delete|get|update)SiteTopic\\w*|listQuestionsForSiteFinding|listSiteQuestionAnswerSources|getSiteQuestionAnswer(Thread)?ById"
    ),
    "programs that want a whole tree at once": "listPages(In\\w+)?",
    "directories": ".*Scim.*",
    "browsers on their way through an identity provider": (
        "(start|finish)(OpenId|Saml)SignIn|receiveSamlResponse|getSamlMetadata"
    ),
    "Git providers": (
        "receive(Collection|Site)?GitHook|receiveGitHubAppHook|deleteLegacyGitInstallation|getSpaceGitInfo"
    ),
    "mail programs, and whoever follows a mail": "getUnsubscribePage|unsubscribe|declineInvitation",
    "renderers, and what visitors of sites do": (
        "getPublishedContent.*|resolvePublishedContentByUrl|getPublishedOpenAPISpec|"
        "searchSiteContent|upsertSiteContextRecords|prewarmSiteSearch|submitAgentFeedbackToSite|submitSiteAgentFeedback|getSiteRedirectBySource"
        "|stream\\w*InSite|trackEventsInSiteById|listSiteIntegrationScripts|getEmbedByUrl|"
        "getContentByUrl|getSubdomain"
    ),
    "integrations, and those who write them": (
        "renderIntegrationUIWithGet|queueIntegrationTask|(set|disable)IntegrationDevelopmentMode"
        "|createIntegrationInstallationToken|listIntegrations|listIntegrationInstallations|getComputed\\w+"
        "|listSpaceIntegrations(Blocks)?|listIntegration(Space|Site)Installations"
        "|(list|get)Organization\\w*IntegrationsStatus|getOrganizationIntegrationStatus"
    ),
    "editors of translations, in which each sentence is written by hand": "findTranslationMatches",
    "advertising, which there is none of": "updateSiteAdsById|adsListSites|adsUpdateSite",
    "clients that draw pages themselves": "list\\w+PageMetaLinks",
    "programs that have an id: people see it in its list": (
        "get(AuditEvent|OwnNotification|CommentReply\\w+|ChangeRequestReviewById"
        "|OrganizationInviteLink|OrganizationSAMLProviderById|WebhookDelivery|AgentTask|"
        "GlossaryEntry|CustomFont|SiteMcpServerById|SiteChannelById|SiteContext(Connection|Record)ById"
        "|Integration(Space|Site)?Installation(ById)?|ConversationIssueById|ReusableContentInRevisionById"
        "|PageDocumentInRevisionById|LatestOpenAPISpecVersion(ContentRaw)?|OpenAPISpecVersion(Content)?ById|ApiInformation)"
    ),
    "programs: people do it by another operation": (
        "listUserPermissionsIn(Space|Collection|Site)|update(User|Team)PermissionIn(Space|Collection|Site)"
        "|movePageInChangeRequest|(update|delete)(File|ReusableContent)InChangeRequest|updateVariablesInChangeRequest"
        "|listFilesInRevisionById|listSpacesInCollectionById|moveSite(Section|SectionGroup|Space)"
        "|(add|remove)Section(To|From)Group|listSiteSection(Group)?s"
        "|getPageChangesIn(ChangeRequest|Revision)|getContributorsByChangeRequestId|"
        "listCommentersIn\\w+|streamEventsIn\\w+"
        "|listPresenceInChangeRequest|get(Space|Page)Watch|exportToGitRepository|listSSOProviderLoginsInOrganization"
        "|streamAskInOrganization|streamRecommendedQuestionsInOrganization"
        # Links are listed of a space and of what a change request breaks; a repository is connected.
        "|listPageLinksIn(Space|ChangeRequest)|importGitRepository"
        "|updateGitSyncInstallationById|get\\w+ForGitSyncInstallation|listSiteGitSyncInstallations"
        "|(update|delete)ChangeRequestConversation|listOrganizationAuditEventActions"
    ),
}
"""Callers of operations that no screen uses, by patterns of their ids."""


def _for_programs(operation_id: str) -> bool:
    return any(re.fullmatch(pattern, operation_id) for pattern in PROGRAMS.values())


def test_every_operation_is_used_or_listed() -> None:
    homeless = set(TABLE) - set(called())
    assert {id for id in homeless if not _for_programs(id)} == set()


def test_every_kind_of_client_uses_an_operation() -> None:
    for who, pattern in PROGRAMS.items():
        assert any(re.fullmatch(pattern, id) for id in TABLE), who
        placed = {id for id in called() if re.fullmatch(pattern, id)}
        assert placed == set(), f"{who}: screens call these as well"


def test_edits_of_content_are_sent_in_one_place() -> None:
    """Calls from elsewhere would skip the outcome of each change, which `changeContent` checks."""
    edits = ("updateSpaceContent", "updateChangeRequestContent")
    assert {place for id in edits for place in called()[id]} == {"changing.ts"}


_COMPONENTS = [path for path in STUDIO.rglob("*.svelte") if path.parent.name != "editor"]


def test_components_call_operations_through_named_functions() -> None:
    """Modules in `web/studio/api` know the URL of an operation; components only name it."""
    calling = {
        path.name for path in _COMPONENTS if re.search(r"\b(api|operation)\.[A-Z]+\(", path.read_text())
    }
    assert calling == set()


_LONGEST = 400
"""Maximum number of lines of a screen."""


def test_screens_are_short() -> None:
    lines = {path.name: path.read_text().count("\n") for path in (STUDIO / "screens").rglob("*.svelte")}
    assert {name: count for name, count in lines.items() if count > _LONGEST} == {}


_STYLE = re.compile(r"^<style>\n(.*?)^</style>", re.DOTALL | re.MULTILINE)
_RULE = re.compile(r"\{([^{}]*)\}")
_REPEATED = 4
"""Declarations from which a rule belongs into `base.css`, or into a component, when it is needed once more."""


def test_components_repeat_no_style() -> None:
    found: dict[frozenset[str], set[str]] = {}
    for path in _COMPONENTS:
        style = _STYLE.search(path.read_text())
        for rule in _RULE.findall(style[1]) if style else ():
            declarations = frozenset(" ".join(one.split()) for one in rule.split(";") if one.strip())
            if len(declarations) >= _REPEATED:
                found.setdefault(declarations, set()).add(path.name)
    assert [sorted(names) for names in found.values() if len(names) > 1] == []


_LIMIT = re.compile(r"\blimit: (\w+)")
_SHOWN_IN_PART = {
    ("client.ts", "PAGE"): "pages of `askAll`",
    ("parts.ts", "MOST"): "parts of a level that are followed to their end",
    ("Insights.svelte", "LIMIT"): "rows of a question that was made for as many",
    ("members.ts", "200"): "`Mention` says how many are not listed",
}
"""Long lists that are asked for in one page, with what keeps them from being cut short."""


def test_long_lists_are_loaded_completely() -> None:
    cut = set()
    for folder in (STUDIO, SHARED):
        for path in folder.rglob("*"):
            if path.suffix not in (".ts", ".svelte") or path.name.endswith(".test.ts"):
                continue
            text = path.read_text()
            constants = dict(re.findall(r"const (\w+) = ([\d_]+);", text))
            for limit in _LIMIT.findall(text):
                number = constants.get(limit, limit).replace("_", "")
                if number.isdecimal() and int(number) >= 200:
                    cut.add((path.name, limit))
    assert cut == set(_SHOWN_IN_PART), "use `askAll`, or a `Listing`"


_MODULE = re.compile(r"<script module.*?</script>", re.DOTALL)


def test_cached_resources_load_by_a_function_of_their_key() -> None:
    """A resource outlives the screen that created it. If its loader read the state of that screen, it would
    load the data of the last screen: the customization of one variant would appear as that of another, and be
    saved for it."""
    asking = {
        path.name
        for path in STUDIO.rglob("*.svelte")
        if re.search(r"\bresource\(", _MODULE.sub("", path.read_text()))
    }
    assert asking == set(), "put it into a function with parameters, in `<script module>` or below state/"
