"""Every operation x every one of the cast x both organizations: what the tables of roles say is what happens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from octavo.content.changes.authorization import ChangeAccess, WrittenChange
from octavo.content.comments.authorization import Discussion
from octavo.content.events.authorization import FollowedPlace
from octavo.content.live.authorization import LiveAccess
from octavo.content.revisions.authorization import ReadState, WrittenState
from octavo.extensions.integrations.authorization import (
    INSTALLATION,
    INTEGRATION,
    InstallationAccess,
    IntegrationAccess,
    SiteInstallationAccess,
    SpaceInstallationAccess,
)
from octavo.interchange.gitsync.authorization import SyncAccess
from octavo.interchange.transfer.authorization import RunAccess
from octavo.kit.http.operation import PUBLIC, TABLE, Operation
from octavo.operations.admin.authorization import OperatorAccess
from octavo.operations.installation import load_packages
from octavo.organization.access.authorization import (
    CollectionAccess,
    KeptSpaceAccess,
    OrgAccess,
    SignedIn,
    SiteAccess,
    SpaceAccess,
)
from octavo.organization.access.rights.authorization import ObjectAccess
from octavo.organization.access.roles import COLLECTION, ORGANIZATION, SITE, SPACE, Abilities, Can, at_least
from octavo.sites.openapi.authorization import OPENAPI, SpecsAccess
from world import CAST, NOBODY, STRANGER, Place, World

from .samples import SAMPLES, TOLD_ELSEWHERE, Sample, sample_of, send, succeeded

load_packages()

ABILITIES = {
    ChangeAccess: SPACE,
    OrgAccess: ORGANIZATION,
    CollectionAccess: COLLECTION,
    SpaceAccess: SPACE,
    Discussion: SPACE,
    FollowedPlace: SPACE,
    LiveAccess: SPACE,
    KeptSpaceAccess: SPACE,
    ReadState: SPACE,
    WrittenState: SPACE,
    WrittenChange: SPACE,
    SiteAccess: SITE,
    RunAccess: SPACE,
    IntegrationAccess: INTEGRATION,
    InstallationAccess: INSTALLATION,
    SpaceInstallationAccess: SPACE,
    SiteInstallationAccess: SITE,
    SpecsAccess: OPENAPI,
}
"""What each kind of proof is checked against. A role in an organization is one in all that it holds."""


def abilities_of(operation: Operation) -> Abilities:
    if operation.proof_type in (ObjectAccess, SyncAccess):
        of = operation.entered_by
        return SPACE if "spaceId" in of else SITE if "siteId" in of else COLLECTION
    return ABILITIES[operation.proof_type]


SUCCESS = 200

TESTS = Path(__file__).parents[1]


def expected(operation: Operation, sample: Sample, place: Place, who: str) -> int:
    """SUCCESS, 204, 401, 403 or 404, or what the tables of samples say."""
    if operation.id in TOLD_ELSEWHERE and (operation.needs is PUBLIC or who != NOBODY):
        return TOLD_ELSEWHERE[operation.id].status
    if operation.needs is PUBLIC:
        return SUCCESS
    if who == NOBODY:
        return 401
    if sample.like is not None:
        abilities, needs = sample.like
    elif operation.proof_type is SignedIn:
        return SUCCESS
    elif operation.proof_type is OperatorAccess:
        # The settings of the world name its administrator as who runs it.
        return SUCCESS if who == "admin" else 403
    else:
        abilities, needs = abilities_of(operation), operation.needs
    # Deleting an invisible object looks like deleting a missing one.
    unseen = 204 if operation.deletes_what_is_entered else 404
    if who not in place.roles:
        return unseen
    role = place.roles[who]
    if (role or "guest") in sample.outcomes:
        return sample.outcomes[role or "guest"]
    if not at_least(role, abilities[Can.VIEW]):
        return unseen
    return SUCCESS if at_least(role, abilities[needs]) else 403


OPERATIONS = pytest.mark.parametrize("operation", TABLE.values(), ids=lambda operation: operation.id)


@pytest.mark.sqlite_first
@OPERATIONS
def test_each_role_gets_the_expected_status(world: World, operation: Operation) -> None:
    require_allowed(world, operation, CAST, [world.home, world.away])


@pytest.mark.parametrize("world", ["postgresql"], indirect=True)
@OPERATIONS
def test_administrators_get_the_permissions_of_their_role(world: World, operation: Operation) -> None:
    """Each of an organization of their own: every operation runs on PostgreSQL as well, and refuses. The other
    organization has the same content, so one of them is enough."""
    require_allowed(world, operation, (world.home.admin, STRANGER), [world.home])


def require_allowed(
    world: World, operation: Operation, cast: tuple[str, ...], places: Sequence[Place]
) -> None:
    """Require that each person of the cast gets the status in the tables of roles, in each organization."""
    sample = sample_of(operation)
    wrong = []
    # Where there is no id there is no place: the same call twice.
    has_ids = "{" in operation.path or sample.names_in_body()
    for place in places if has_ids else places[:1]:
        prepared = -1
        for who in cast:
            # A refused or reading call leaves everything unchanged for the next one.
            if world.commits != prepared:
                world.renew()
                if sample.before is not None:
                    sample.before(world, place)
                prepared = world.commits
            wanted = expected(operation, sample, place, who)
            answer = send(world, who, operation, place)
            if answer.status_code != wanted and not (wanted == SUCCESS and succeeded(operation, answer)):
                wrong.append(
                    f"{who} in {place}: expected {wanted}, got {answer.status_code} {answer.text[:200]}"
                )
    assert not wrong, "\n".join([operation.source, *wrong])


def test_every_sample_belongs_to_an_operation() -> None:
    assert set(SAMPLES) <= set(TABLE)


def test_operations_tested_elsewhere_have_a_test_and_depend_on_no_role() -> None:
    for operation_id, elsewhere in TOLD_ELSEWHERE.items():
        assert TABLE[operation_id].needs in (PUBLIC, Can.SIGN_IN, Can.OWN_ACCOUNT, Can.CHANGE_SIGN_IN)
        path, _, test = elsewhere.test.partition("::")
        assert f"\ndef {test}(" in (TESTS / path).read_text(), elsewhere.test
