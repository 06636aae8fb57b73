from octavo.operations.admin.verification import verify_domain
from octavo.organization.access.roles import ORGANIZATION, Can
from world import Place, World

from . import Sample
from .access import PHOTO


def _domain(world: World, place: Place) -> None:
    path = place.path("/orgs/{organizationId}")
    answer = world.call(place.admin, "PATCH", path, json={"emailDomains": ["example.org"]})
    assert answer.status_code == 200, answer.text
    verify_domain(world.context, place["organizationId"], "example.org")


# A person who is only in this organization.
_MEMBER = {"userId": "scimUserId"}

# Teams are managed by their owners and by administrators; the cast owns none.
_TEAMS = {"like": (ORGANIZATION, Can.OWN_TEAM)}

SAMPLES = {
    "getApiInformation": Sample(),
    "listOrganizationsForAuthenticatedUser": Sample(),
    "createOrganization": Sample(
        query={"withDefaultSite": "true"}, body={"title": "Acme", "emailDomains": ["example.org"]}
    ),
    "getOrganizationById": Sample(),
    "updateOrganizationById": Sample(
        body=lambda place: {
            "title": "Renamed",
            "emailDomains": ["example.org"],
            "defaultRole": "edit",
            "defaultContent": {"type": "site", "site": place["siteId"]},
            "logo": "https://example.org/logo.png",
            "ai": False,
            "inviteLinks": True,
            "mergeRules": {
                "type": "rules",
                "rules": [{"rule": "allow_bypass", "users": [place["scimUserId"]]}],
            },
        }
    ),
    "listEmailDomains": Sample(before=_domain),
    "verifyEmailDomain": Sample(before=_domain),
    "joinOrganization": Sample(before=_domain),
    "getOrganizationsForEmailDomain": Sample(),
    "listMembersInOrganizationById": Sample(),
    "getMemberInOrganizationById": Sample(path=_MEMBER),
    "updateMemberInOrganizationById": Sample(path=_MEMBER, body={"role": "review"}),
    "removeMemberFromOrganizationById": Sample(path=_MEMBER, like=(ORGANIZATION, Can.ADMIN)),
    "setUserAsSSOMemberForOrganization": Sample(path=_MEMBER),
    "updateOrganizationMemberLastSeenAt": Sample(),
    "listTeamsForOrganizationMember": Sample(path=_MEMBER),
    "listTeamsInOrganizationById": Sample(),
    "createOrganizationTeam": Sample(body=lambda place: {"title": "Team", "members": [place["scimUserId"]]}),
    "getTeamInOrganizationById": Sample(),
    "updateTeamInOrganizationById": Sample(body={"title": "Authors"}, **_TEAMS),
    "removeTeamFromOrganizationById": Sample(**_TEAMS),
    "setTeamPicture": Sample(body={"image": PHOTO}, **_TEAMS),
    "removeTeamPicture": Sample(**_TEAMS),
    "listTeamMembersInOrganizationById": Sample(),
    "updateMembersInOrganizationTeam": Sample(body=lambda place: {"add": [place["scimUserId"]]}, **_TEAMS),
    "addMemberToOrganizationTeamById": Sample(path=_MEMBER, body={"role": "owner"}, **_TEAMS),
    "deleteMemberFromOrganizationTeamById": Sample(path=_MEMBER, **_TEAMS),
}
