from octavo.assistants.findings.agent_settings import fix_by_itself
from octavo.assistants.findings.scanning import scan_site
from octavo.assistants.findings.store import insert_scan
from world import Place, World

from . import Sample

_SITE = "/orgs/{organizationId}/sites/{siteId}"


def _scanned(world: World, place: Place) -> None:
    """Run a scan of the site, which finds a link to a missing section with a similar existing one."""
    path = place.path("/spaces/{spaceId}/content")
    text = "Read [the first step](#instal).\n\n## Install\n\nTODO: write this.\n"
    page = place["pageId"]
    body = {"changes": [{"operation": "update_page", "page": page, "document": {"markdown": text}}]}
    assert world.call(place.admin, "POST", path, json=body).status_code == 200
    with world.context.db.write() as tx:
        place.ids["siteScanId"] = insert_scan(tx, place["siteId"], "manual").id
    scan_site(world.context, place["siteId"], place["organizationId"], place["siteScanId"])
    found = world.get(place.admin, place.path(f"{_SITE}/findings?kind=broken-anchor"))["items"]
    place.ids["siteFindingId"] = found[0]["id"]


def _ignored(world: World, place: Place) -> None:
    """Ignore another finding on its page than the one that other samples fix."""
    _scanned(world, place)
    found = world.get(place.admin, place.path(f"{_SITE}/findings?kind=placeholder"))["items"]
    place.ids["siteFindingId"] = found[0]["id"]
    path = place.path(f"{_SITE}/findings/{{siteFindingId}}/ignored-pages/{{pageId}}")
    body = {"reason": "The section is added by a script."}
    assert world.call(place.admin, "PUT", path, json=body).status_code == 200


def _fixed(world: World, place: Place) -> None:
    _scanned(world, place)
    path = place.path(f"{_SITE}/findings/{{siteFindingId}}/change-requests")
    assert world.call(place.admin, "POST", path).status_code == 202


def _fixed_by_itself(world: World, place: Place) -> None:
    """Let the agent of the site fix what a scan found."""
    _scanned(world, place)
    settings = SAMPLES["updateSiteAgentSettingsById"].body
    assert (
        world.call(place.admin, "PUT", place.path(f"{_SITE}/agent-settings"), json=settings).status_code
        == 200
    )
    fix_by_itself(world.context, place["siteId"], place["organizationId"])


def _with_unanswered(world: World, place: Place) -> None:
    """Ask a question that no page answers, and run a scan, which finds it."""
    body = {"question": "Where do gherkins grow?", "scope": {"mode": "all"}}
    assert world.call(place.admin, "POST", place.path(f"{_SITE}/ask"), json=body).status_code == 200
    _scanned(world, place)
    found = world.get(place.admin, place.path(f"{_SITE}/findings?kind=unanswered-question"))["items"]
    place.ids["siteFindingId"] = found[0]["id"]


def _with_ticket(world: World, place: Place) -> None:
    """Ask a question that no page answers and that a ticket asks as well, and run a scan."""
    ticket = {
        "id": "T-1",
        "type": "ticket",
        "title": "Gherkins: where do they grow?",
        "body": "I can't find it.",
    }
    path = place.path(f"{_SITE}/context-records")
    assert world.call(place.admin, "PUT", path, json=[ticket]).status_code == 204
    _with_unanswered(world, place)


def _with_topic(world: World, place: Place) -> None:
    """Ask three questions about the same subject, which a scan makes a topic."""
    for asked in ("Where do gherkins grow?", "Which gherkins taste sour?", "Who sells gherkins cheaply?"):
        body = {"question": asked, "scope": {"mode": "all"}}
        assert world.call(place.admin, "POST", place.path(f"{_SITE}/ask"), json=body).status_code == 200
    _scanned(world, place)
    place.ids["siteTopicId"] = world.get(place.admin, place.path(f"{_SITE}/topics"))["items"][0]["id"]


def _with_styleguide(world: World, place: Place) -> None:
    """Create a style guide of the site with rules, and a violation of them."""
    path = place.path("/spaces/{spaceId}/content")
    document = {"markdown": "You can simply utilize it.\n"}
    body = {"changes": [{"operation": "update_page", "page": place["pageId"], "document": document}]}
    assert world.call(place.admin, "POST", path, json=body).status_code == 200
    world.post(place.admin, place.path(f"{_SITE}/styleguide"), {"template": "plain-english"})


def _with_run(world: World, place: Place) -> None:
    _with_styleguide(world, place)
    world.post(place.admin, place.path(f"{_SITE}/styleguide/runs"), {"spaces": [place["spaceId"]]})


_EDITORS = {"comment": 403, "read": 403}

SAMPLES = {
    "listSiteScans": Sample(before=_scanned),
    "startSiteScan": Sample(),
    "getSiteScanById": Sample(before=_scanned),
    "getSiteHealth": Sample(before=_scanned),
    "getSiteFindingStats": Sample(before=_scanned),
    "listSiteFindings": Sample(before=_scanned, query={"orderBy": "severity", "status": "open"}),
    "fixSiteFindings": Sample(
        before=_scanned, body=lambda place: {"findings": [place["siteFindingId"]]}, outcomes=_EDITORS
    ),
    "getSiteFindingById": Sample(before=_scanned),
    "updateSiteFindingById": Sample(
        before=_scanned,
        body=lambda place: {
            "status": "canceled",
            "reason": "The section is added by a script.",
            "assignee": {"kind": "user", "user": place["userId"]},
        },
    ),
    "ignoreSiteFindingOnPage": Sample(before=_scanned, body={"reason": "The section is added by a script."}),
    "restoreSiteFindingOnPage": Sample(before=_ignored),
    "listPagesForSiteFinding": Sample(before=_ignored),
    "listQuestionsForSiteFinding": Sample(before=_with_unanswered),
    "listRecordsForSiteFinding": Sample(before=_with_ticket),
    "listChangeRequestsForSiteFinding": Sample(before=_fixed),
    "getSiteAgentSettingsById": Sample(),
    "updateSiteAgentSettingsById": Sample(
        body={
            "scans": {"topics": "auto"},
            "findings": {
                "changeRequests": "auto-fixable",
                "kinds": ["broken-link", "broken-anchor"],
                "changeRequestsPerDay": 3,
            },
            "editing": {"customInstructions": {"object": "document", "data": {}, "nodes": []}},
        }
    ),
    "undoSiteAgentFixes": Sample(before=_fixed_by_itself),
    "listSiteTopics": Sample(before=_with_topic),
    "getSiteTopicById": Sample(before=_with_topic),
    "updateSiteTopicById": Sample(before=_with_topic, body={"usageSettings": {"changeRequests": False}}),
    "deleteSiteTopicFindings": Sample(before=_with_topic),
    "listStyleguideTemplates": Sample(),
    "listOrganizationStyleguides": Sample(before=_with_styleguide),
    "createSiteStyleguideById": Sample(body={"template": "plain-english"}),
    "checkSiteTexts": Sample(
        before=_with_styleguide,
        query=lambda place: {"page": place["pageId"]},
        body={"texts": [{"text": "You can utilize it."}]},
    ),
    "createSiteStyleguideRun": Sample(
        before=_with_styleguide, body=lambda place: {"spaces": [place["spaceId"]]}, outcomes=_EDITORS
    ),
    "importSiteStyleguideRules": Sample(
        before=_with_styleguide,
        body={
            "files": [
                {
                    "path": "styles/Example/Very.yml",
                    "text": "extends: existence\nmessage: Leave out ‘%s’.\ntokens:\n  - very\n",
                }
            ]
        },
        outcomes=_EDITORS,
    ),
    "exportSiteStyleguideRules": Sample(before=_with_styleguide),
    "listSiteStyleguideRuns": Sample(before=_with_run),
    "triggerChangeRequestsForSiteFinding": Sample(before=_scanned, outcomes=_EDITORS),
}
