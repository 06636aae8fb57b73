"""Access beyond the area of an operation is declared and requires token scopes: a token for Git is not valid for
content."""

from __future__ import annotations

import re
from typing import Any

import pytest

from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import PUBLIC, TABLE, Operation
from octavo.operations.installation import load_packages
from octavo.organization.access.tokens import create_token
from world import World

from .samples import asks_for_session, sample_of, send

load_packages()

CONTENT = {"content", "changes", "comments"}
"""Areas whose operations are about content: a change request holds that of its space, comments are about it."""
ACTING = {"agents", "ask", "gitsync", "imports", "integrations", "translations", "webhooks"}
"""Areas whose operations have others act: jobs, scripts, receivers of events, programs."""
NOTHING_BEYOND = {
    "configurations, which hold no content": {
        "updateIntegrationSpaceInstallation",
        "updateIntegrationSiteInstallation",
    },
    "they take away": {
        "deleteLegacyGitInstallation",
        "disconnectGitSync",
        "disconnectCollectionGitSync",
        "disconnectSiteGitSync",
        "disableIntegrationDevelopmentMode",
        "uninstallIntegration",
        "uninstallIntegrationFromSpace",
        "uninstallIntegrationFromSite",
        "unpublishIntegration",
        "cancelImportRun",
        "deleteTranslation",
        "cancelTranslation",
        "deleteWebhook",
        "disconnectAgent",
        "disconnectAgentInOrganization",
        "deleteOpenAPISpecBySlug",
        "uninstallGitSyncInstallation",
        "deleteSiteChannelById",
        "deleteSiteContextConnectionById",
        "deleteSiteTopicFindings",
        "deleteOrganizationAgentConversation",
        "deleteChangeRequestConversation",
    },
    "a connection without a repository": {
        "installGitSyncProviderOnTarget",
        "beginGitAuthorization",
        "finishGitAuthorization",
    },
    "how a topic is used": {"updateSiteTopicById"},
    "counts of findings, without those on restricted pages": {"listSiteTopics", "getSiteTopicById"},
    "names of conversations": {
        "provisionOrganizationAgentConversation",
        "updateOrganizationAgentConversation",
        "updateChangeRequestConversation",
    },
    "an event is sent once more to where it went": {"redeliverIntegrationEvent", "replayWebhookDelivery"},
    "for scripts, whose own scopes count": {"queueIntegrationTask"},
    "events name things by their ids": {
        "createWebhook",
        "updateWebhook",
        "rotateWebhookSecret",
        "testWebhook",
    },
    "bytes and sources that the caller gives": {"generateStorageUploadURL", "checkImportSource"},
    "records of other services, which are no content": {
        "createSiteContextConnection",
        "updateSiteContextConnectionById",
        "syncSiteContextConnection",
        "testSiteContextConnection",
        "upsertSiteContextRecords",
    },
    "words for later runs": {"updateGlossaryEntries", "updateOrganizationAgentInstructions"},
    "a note of what is to be done": {"createAgentTask"},
    "counts of pages and bytes, for administrators": {
        "getOrganizationLimits",
        "setOrganizationLimits",
        "getOrganizationUsage",
    },
    "agents have scopes of their own, which their person grants in a session": {"connectAgent"},
    "each act is undone by its own operation, which asks for its scope": {"undoAgentActs"},
    "whether a page is there, and which": {
        "sayPresenceInSpace",
        "sayPresenceInChangeRequest",
        "setPageWatch",
        "getSpaceWatch",
    },
    "files of specifications are kept where texts are": {
        "createOpenAPISpec",
        "getLatestOpenAPISpecVersionContent",
        "getLatestOpenAPISpecVersionContentRaw",
        "getOpenAPISpecVersionContentById",
        "getPublishedOpenAPISpec",
    },
    "counts of comments, without those on restricted pages": {
        "getSpaceById",
        "listSpacesInOrganizationById",
        "listSpacesForOrganizationMember",
        "updateSpaceById",
        "restoreSpace",
        "moveSpace",
        "createOrganizationInvite",
    },
    "whether reviewers can see the changed pages": {"tryMergeRulesInSpace"},
    "which pages are restricted, to leave them out": {
        "listOwnWatches",
        "listTranslations",
        "getTranslation",
        "listImportRuns",
    },
    "whether a space is empty, as sites show it": {
        "getIntegrationSiteInstallation",
        "getSiteGitSync",
        "listSiteGitSyncInstallations",
        "createSiteChannel",
        "updateSiteChannelById",
    },
}
"""Operations of those areas that write, and operations that look into content, by why their area is enough."""
ENOUGH = {id for ids in NOTHING_BEYOND.values() for id in ids}
_TABLES = re.compile(r"\b(?:bodies|page_versions|item_versions)\b")
_NEEDING = [operation for operation in TABLE.values() if operation.yields]


def test_indirect_access_beyond_the_area_is_declared() -> None:
    missing = {
        operation.id
        for operation in TABLE.values()
        if operation.area in ACTING and operation.method != "GET" and operation.needs is not PUBLIC
        if not operation.yields and operation.id not in ENOUGH
    }
    assert not missing, "say `yields` where they are declared, or why not in NOTHING_BEYOND"
    assert not {id for id in ENOUGH if TABLE[id].yields}, "these say so where they are declared"


@pytest.mark.parametrize(
    "operation",
    [
        operation
        for operation in TABLE.values()
        if operation.area not in {*CONTENT, "sites"} and operation.needs is not PUBLIC
    ],
    ids=lambda operation: operation.id,
)
def test_operations_that_read_content_require_its_scope(
    sqlite_world: World, operation: Operation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for sites, which show whether their spaces have pages."""
    world, looked = sqlite_world, []
    sample = sample_of(operation)
    if sample.before is not None:
        sample.before(world, world.home)

    def noting(method: Any) -> Any:
        def note(tx: Transaction, sql: str, *rest: Any, **parameters: Any) -> Any:
            looked.extend(_TABLES.findall(sql))
            return method(tx, sql, *rest, **parameters)

        return note

    for name in ("one", "all", "value", "run", "run_many"):
        monkeypatch.setattr(Transaction, name, noting(getattr(Transaction, name)))
    headers = world.session("admin") if asks_for_session(operation) else {}
    send(world, "admin", operation, world.home, headers=headers)
    declared = any(needed.startswith("content:") for needed in operation.yields)
    assert declared or not looked or operation.id in ENOUGH, sorted(set(looked))


@pytest.mark.sqlite_first
@pytest.mark.parametrize("operation", _NEEDING, ids=lambda operation: operation.id)
def test_a_token_with_only_the_scope_of_the_area_is_refused(world: World, operation: Operation) -> None:
    sample = sample_of(operation)
    if sample.before is not None:
        sample.before(world, world.home)
    area, *beyond = operation.scopes
    with world.context.db.write() as tx:
        secret = create_token(tx, world.users["admin"], name="narrow", scopes=[f"{operation.area}:write"])
        enough = create_token(tx, world.users["admin"], name="enough", scopes=[area, *beyond])
    if all(needed.startswith(f"{operation.area}:") for needed in beyond):
        return
    before = world.written()
    headers = {"authorization": f"Bearer {secret}"}
    answer = send(world, "admin", operation, world.home, headers=headers)
    assert answer.status_code == 403 and "` scope. Create a token" in answer.text, answer.text
    assert world.written() == before
    answer = send(world, "admin", operation, world.home, headers={"authorization": f"Bearer {enough}"})
    assert "` scope. Create a token" not in answer.text
