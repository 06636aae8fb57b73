import { askAll, operation } from "../../shared/client.ts";
import { resource } from "../state/resource.svelte.ts";

export const getOrganizationsForEmailDomain = operation.GET("/email-domains/{emailDomain}/orgs");
export const listOrganizationsForAuthenticatedUser = operation.GET("/orgs");
export const createOrganization = operation.POST("/orgs");
export const updateOrganizationById = operation.PATCH("/orgs/{organizationId}");
export const listEmailDomains = operation.GET("/orgs/{organizationId}/email-domains");
export const verifyEmailDomain = operation.POST("/orgs/{organizationId}/email-domains/{emailDomain}/verify");
export const joinOrganization = operation.POST("/orgs/{organizationId}/join");
export const listMembersInOrganizationById = operation.GET("/orgs/{organizationId}/members");
export const removeMemberFromOrganizationById = operation.DELETE("/orgs/{organizationId}/members/{userId}");
export const getMemberInOrganizationById = operation.GET("/orgs/{organizationId}/members/{userId}");
export const updateMemberInOrganizationById = operation.PATCH("/orgs/{organizationId}/members/{userId}");
export const setUserAsSSOMemberForOrganization = operation.POST(
  "/orgs/{organizationId}/members/{userId}/sso",
);
export const listTeamsForOrganizationMember = operation.GET("/orgs/{organizationId}/members/{userId}/teams");
export const tryMergeRulesInOrganization = operation.POST("/orgs/{organizationId}/merge-rules/try");
export const updateOrganizationMemberLastSeenAt = operation.POST("/orgs/{organizationId}/ping");
export const listTeamsInOrganizationById = operation.GET("/orgs/{organizationId}/teams");
export const createOrganizationTeam = operation.PUT("/orgs/{organizationId}/teams");
export const removeTeamFromOrganizationById = operation.DELETE("/orgs/{organizationId}/teams/{teamId}");
export const getTeamInOrganizationById = operation.GET("/orgs/{organizationId}/teams/{teamId}");
export const updateTeamInOrganizationById = operation.PATCH("/orgs/{organizationId}/teams/{teamId}");
export const listTeamMembersInOrganizationById = operation.GET(
  "/orgs/{organizationId}/teams/{teamId}/members",
);
export const updateMembersInOrganizationTeam = operation.PUT("/orgs/{organizationId}/teams/{teamId}/members");
export const deleteMemberFromOrganizationTeamById = operation.DELETE(
  "/orgs/{organizationId}/teams/{teamId}/members/{userId}",
);
export const setTeamPicture = operation.PUT("/orgs/{organizationId}/teams/{teamId}/picture");
export const removeTeamPicture = operation.DELETE("/orgs/{organizationId}/teams/{teamId}/picture");
export const addMemberToOrganizationTeamById = operation.PUT(
  "/orgs/{organizationId}/teams/{teamId}/members/{userId}",
);
export const purgeSpace = operation.DELETE("/orgs/{organizationId}/trash/spaces/{spaceId}");
export const listPresenceInSpace = operation.GET("/spaces/{spaceId}/presence");

export const teamsWith = (organization: string, user: string) =>
  resource(
    `org/${organization}/member/${user}/teams`,
    () =>
      askAll((query) =>
        listTeamsForOrganizationMember({ organizationId: organization, userId: user }, query)
      ),
  );

export const domainsOf = (organization: string) =>
  resource(`org/${organization}/email-domains`, () => listEmailDomains({ organizationId: organization }));

export const teamOf = (organization: string, team: string) =>
  resource(
    `org/${organization}/team/${team}`,
    () => getTeamInOrganizationById({ organizationId: organization, teamId: team }),
  );
