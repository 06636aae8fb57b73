from octavo.organization.access.roles import ORGANIZATION, Can
from octavo.organization.access.tokens import hash_token
from octavo.organization.invitations import store
from world import Place, World

from . import Sample

_SECRET = "a-secret-of-an-invitation"


def _link(world: World, place: Place) -> None:
    path = place.path("/orgs/{organizationId}/link-invites")
    answer = world.call(place.admin, "POST", path, json={"role": "read"})
    assert answer.status_code == 201, answer.text
    place.ids["inviteId"] = answer.json()["id"]


def _invitation(world: World, place: Place) -> None:
    path = place.path("/orgs/{organizationId}/invites")
    answer = world.call(place.admin, "POST", path, json={"emails": ["new@example.org"], "role": "read"})
    assert answer.status_code == 200, answer.text
    listed = world.call(place.admin, "GET", path).json()["items"]
    place.ids["inviteId"] = listed[0]["id"]


def _secret(world: World, place: Place) -> None:
    with world.context.db.write() as tx:
        store.put_invitation(
            tx,
            place["organizationId"],
            "invited@example.org",
            "read",
            sso=False,
            invited_by=place["userId"],
            hash=hash_token(_SECRET),
        )


# To the organization itself invite its administrators; to a space others too.
_ADMIN = {"like": (ORGANIZATION, Can.ADMIN)}

SAMPLES = {
    "inviteUsersToOrganization": Sample(
        body={"emails": ["one@example.org", {"email": "two@example.org", "role": "edit"}], "role": "read"}
    ),
    "listInvitations": Sample(before=_invitation),
    "deleteInvitation": Sample(before=_invitation),
    "joinOrganizationWithInvite": Sample(before=_link),
    "readInvitation": Sample(
        before=_secret,
        body={"secret": _SECRET},
    ),
    "acceptInvitation": Sample(
        before=_secret,
        body={"secret": _SECRET, "displayName": "Somebody New", "password": "correct horse battery"},
    ),
    "listOwnInvitations": Sample(),
    "declineInvitation": Sample(path={"invitationId": "inviteId"}, before=_invitation),
    "listOrganizationInviteLinks": Sample(before=_link),
    "createOrganizationInvite": Sample(
        body=lambda place: {"level": "read", "space": place["spaceId"]},
        like=(ORGANIZATION, Can.CREATE_CONTENT),
        outcomes={"guest": 404},
    ),
    "getOrganizationInviteLink": Sample(before=_link, **_ADMIN),
    "updateOrganizationInviteById": Sample(before=_link, body={"role": "comment"}, **_ADMIN),
    "deleteOrganizationInviteById": Sample(before=_link, **_ADMIN),
}
