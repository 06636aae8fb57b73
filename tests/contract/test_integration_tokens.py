"""Integration tokens can call exactly the operations that the public description allows."""

from __future__ import annotations

import pytest

from octavo.kit.http.operation import TABLE
from octavo.operations.installation import load_packages
from octavo.organization.access.scopes import INTEGRATION_SCOPES
from octavo.organization.access.tokens import create_integration_token
from tools import PublicApi
from world import NOBODY, World

from .samples import sample_of, send, succeeded

load_packages()

ITSELF, INSTALLATION = "integration", "integration-installation"
"""The two tokens, as the description calls them."""
REFUSED = {
    "adsListSites": "for whoever runs the advertising, which there is none of here",
    "adsUpdateSite": "for whoever runs the advertising, which there is none of here",
    "installIntegrationOnSpace": "who installed it says where",
    "installIntegrationOnSite": "who installed it says where",
    f"listIntegrationEvents {INSTALLATION}": "these are also the events of other installations",
    f"getIntegrationEvent {INSTALLATION}": "these are also the events of other installations",
    **{
        f"{id} {ITSELF}": "an integration is in many organizations and a member of none: its installation asks"
        for id in (
            "listSpaceIntegrationsBlocks",
            "renderIntegrationUIWithGet",
            "renderIntegrationUIWithPost",
            "listOrganizationIntegrations",
            "listOrganizationInstallations",
            "listOrganizationIntegrationsStatus",
            "listSSOProviderLoginsInOrganization",
            "listSiteAdaptiveTemplateConditions",
            "listSiteVisitorSegments",
            "getOrganizationById",
        )
    },
}
"""What the description has integrations call that we refuse (an operation, or an operation with one of the tokens), and
why."""
ASKING = [
    "askInOrganization",
    "streamAskInOrganization",
    "getRecommendedQuestionsInOrganization",
    "streamRecommendedQuestionsInOrganization",
    "streamAskInSite",
    "streamRecommendedQuestionsInSite",
    "streamAIResponseInSite",
    "searchSiteContent",
    "searchOrganizationContent",
    "getCurrentRevision",
]


SCRIPT = """export default { async fetch() {
  const element = { type: "block", children: [] };
  return Response.json({ type: "element", element, state: {}, props: {} });
} };"""


def _agree(world: World, scopes: list[str]) -> None:
    """Have the integration of home request these scopes, and home grant them."""
    publish = TABLE["publishIntegration"]
    body = {**sample_of(publish).body_for(world.home), "scopes": scopes, "script": SCRIPT}
    world.post("admin", world.home.path(publish.path), body)
    install = TABLE["installIntegration"]
    world.post("admin", world.home.path(install.path), {"organization": world.home["organizationId"]})


def _headers(world: World, *, installation: bool) -> dict[str, str]:
    with world.context.db.read() as tx:
        id = tx.value("SELECT id FROM integrations WHERE name = :name", name=world.home["integrationName"])
    secret = create_integration_token(
        world.context.signer, id, world.home["installationId"] if installation else ""
    )
    return {"authorization": f"Bearer {secret}"}


def test_integration_tokens_can_call_the_documented_operations(world: World, public_api: PublicApi) -> None:
    _agree(world, list(INTEGRATION_SCOPES))
    everywhere = public_api.description["security"]
    wrong, refused = [], set()
    for id, public in public_api.operations.items():
        kinds = {kind for each in public.get("security", everywhere) for kind in each}
        for kind in sorted(kinds & {ITSELF, INSTALLATION}):
            operation = TABLE[id]
            if (before := sample_of(operation).before) is not None:
                before(world, world.home)
            headers = _headers(world, installation=kind == INSTALLATION)
            answer = send(world, NOBODY, operation, world.home, headers=headers)
            reasons = {id, f"{id} {kind}"} & set(REFUSED)
            refused |= reasons
            if succeeded(operation, answer) == bool(reasons):
                wrong.append(f"{id} with a token of the {kind}: {answer.status_code} {answer.text[:150]}")
    assert not wrong, "\n".join(wrong)
    assert refused == set(REFUSED)


@pytest.mark.parametrize("operation_id", ASKING)
def test_chat_bots_ask_questions_as_their_installation(sqlite_world: World, operation_id: str) -> None:
    """They have the scope to read content and no other."""
    world = sqlite_world
    _agree(world, ["space:content:read"])
    headers, operation = _headers(world, installation=True), TABLE[operation_id]
    answer = send(world, NOBODY, operation, world.home, headers=headers)
    assert succeeded(operation, answer), answer.text
    _agree(world, ["space:metadata:read"])
    assert send(world, NOBODY, operation, world.home, headers=headers).status_code == 403


def test_an_integration_for_git_syncs_content_and_writes_none_itself(sqlite_world: World) -> None:
    world = sqlite_world
    _agree(world, ["space:git:sync"])
    headers = _headers(world, installation=True)
    for operation_id, refused in (("importGitRepository", False), ("updateSpaceContent", True)):
        answer = send(world, NOBODY, TABLE[operation_id], world.home, headers=headers)
        assert ("This integration doesn't have a scope" in answer.text) == refused, answer.text
