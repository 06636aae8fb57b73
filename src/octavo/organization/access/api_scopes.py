"""Scopes that a person can grant to an app that requests API access through OAuth, and the operations that each scope
allows.

The scopes have the same names as in the public API. Apps can't call operations that aren't covered by a scope.
Such operations change accounts, tokens, sign-in, or entire organizations, or are specific to Octavo."""

from __future__ import annotations

from collections import defaultdict
from typing import Literal, get_args

ApiScope = Literal[
    "user:read",
    "organization:read",
    "organization:write",
    "organization:members:read",
    "organization:members:write",
    "organization:ask",
    "organization:search",
    "space:read",
    "space:write",
    "space:permissions:read",
    "space:permissions:write",
    "change-request:merge",
    "site:read",
    "site:write",
    "site:publish",
    "site:permissions:read",
    "site:permissions:write",
    "site:auth:read",
    "site:auth:write",
    "site:insights:read",
    "site:ask",
    "site:search",
    "integration:read",
    "integration:installations:read",
    "integration:installations:write",
    "integration:publish",
    "integration:delete",
    "openapi:read",
    "openapi:write",
]
API_SCOPES: tuple[ApiScope, ...] = get_args(ApiScope)

_OPERATIONS: dict[ApiScope, str] = {
    "user:read": "getAuthenticatedUser",
    "organization:read": "getOrganizationById listOrganizationsForAuthenticatedUser",
    "organization:write": "createOrganization updateOrganizationById",
    "organization:members:read": """
        getMemberInOrganizationById getOrganizationInviteLink getTeamInOrganizationById
        listMembersInOrganizationById listOrganizationInviteLinks listSpacesForOrganizationMember
        listTeamMembersInOrganizationById listTeamsForOrganizationMember listTeamsInOrganizationById
    """,
    "organization:members:write": """
        addMemberToOrganizationTeamById createOrganizationInvite createOrganizationTeam
        deleteMemberFromOrganizationTeamById deleteOrganizationInviteById getOrganizationInviteLink
        inviteUsersToOrganization joinOrganizationWithInvite listOrganizationInviteLinks
        removeMemberFromOrganizationById removeTeamFromOrganizationById updateMemberInOrganizationById
        updateMembersInOrganizationTeam updateOrganizationInviteById updateTeamInOrganizationById
    """,
    "organization:ask": """
        askInOrganization getRecommendedQuestionsInOrganization streamAskInOrganization
        streamRecommendedQuestionsInOrganization
    """,
    "organization:search": "searchOrganizationContent",
    "space:read": """
        addSectionToSite addSpaceToSite createSite exportToGitRepository getChangeRequestById
        getChangeRequestChanges getChangeRequestPDF getChangeRequestReviewById getCollectionById
        getCommentInChangeRequest getCommentInSpace getCommentReplyInChangeRequest getCommentReplyInSpace
        getComputedDocument getComputedRevision getContributorsByChangeRequestId getCurrentRevision
        getDocumentById getEmbedByUrlInSpace getFileById getFileInChangeRequestById getFileInRevisionById
        getImportRun getPageById getPageByPath getPageDocumentInRevisionById getPageInChangeRequestById
        getPageInChangeRequestByPath getPageInRevisionById getPageInRevisionByPath
        getRequestedReviewersByChangeRequestId getReusableContentById
        getReusableContentDocumentInRevisionById getReusableContentInChangeRequestById
        getReusableContentInRevisionById getReviewsByChangeRequestId getRevisionById
        getRevisionOfChangeRequestById getRevisionSemanticChanges getSitePublishingPreviewById getSpaceById
        getSpaceGitInfo getSpacePDF importGitRepository listChangeRequestPageMetaLinks
        listChangeRequestsForOrganization listChangeRequestsForSpace listCollectionsInOrganizationById
        listCommentRepliesInChangeRequest listCommentRepliesInSpace listCommentersInChangeRequest
        listCommentersInSpace listCommentsInChangeRequest listCommentsInSpace listFiles
        listFilesInChangeRequestById listFilesInRevisionById listImportRuns listPages
        listPagesInChangeRequest listPagesInRevisionById listRevisionPageMetaLinks listSpaceIntegrations
        listSpacePageMetaLinks listSpacesInCollectionById listSpacesInOrganizationById searchSpaceContent
    """,
    "space:write": """
        applyTemplateToSpace createChangeRequest createCollection createSpace deleteCollectionById
        deleteCommentInChangeRequest deleteCommentInSpace deleteCommentReplyInChangeRequest
        deleteCommentReplyInSpace deleteSpaceById duplicateSiteSpace duplicateSpace exportToGitRepository
        applyTemplateToSite importGitRepository
        moveCollection moveSpace postCommentInChangeRequest postCommentInSpace postCommentReplyInChangeRequest
        postCommentReplyInSpace removeRequestedReviewerFromChangeRequest requestReviewersForChangeRequest
        restoreSpace startImportRun submitChangeRequestReview transferCollection updateChangeRequest
        updateChangeRequestById updateChangeRequestContent updateCollectionById updateCommentInChangeRequest
        updateCommentInSpace updateCommentReplyInChangeRequest updateCommentReplyInSpace updateSpaceById
    """,
    "space:permissions:read": """
        listPermissionsAggregateInCollection listPermissionsAggregateInSpace listTeamPermissionsInCollection
        listTeamPermissionsInSpace listUserPermissionsInCollection listUserPermissionsInSpace
    """,
    "space:permissions:write": """
        inviteToCollection inviteToSpace removeTeamFromCollection removeTeamFromSpace removeUserFromCollection
        removeUserFromSpace updateTeamPermissionInCollection updateTeamPermissionInSpace
        updateUserPermissionInCollection updateUserPermissionInSpace
    """,
    "change-request:merge": "mergeChangeRequest",
    "site:read": """
        getPublishedContentSite getSiteAdaptiveSchema getSiteById getSiteCustomizationById getSiteMcpServerById
        getSitePublishingPreviewById getSiteRedirectBySource getSiteSpaceCustomizationById getSiteStructure
        listSiteIntegrationScripts listSiteIntegrations listSiteMcpServers listSiteRedirects
        listSiteSectionGroups listSiteSections listSiteSpaces listSites
    """,
    "site:write": """
        addExternalLinkToSite addSectionGroupToSite addSectionToSite addSpaceToSite bulkUpsertSiteRedirects createSite
        createSiteMcpServer createSiteRedirect
        deleteSiteById deleteSiteExternalLinkById deleteSiteMcpServerById deleteSiteRedirectById deleteSiteSectionById
        deleteSiteSectionGroupById deleteSiteSpaceById deleteSiteSpaceCustomizationById getSiteMcpServerById
        listSiteMcpServers moveSiteSection moveSiteSectionGroup moveSiteSpace overrideSiteSpaceCustomizationById
        sortSiteStructure updateSiteAdaptiveSchema updateSiteAdsById updateSiteById updateSiteCustomizationById
        applyTemplateToSite duplicateSiteSpace submitAgentFeedbackToSite updateSiteExternalLinkById
        updateSiteMcpServerById updateSiteRedirectById updateSiteSectionById updateSiteSectionGroupById
        updateSiteSpaceById
    """,
    "site:publish": "publishSite unpublishSite",
    "site:permissions:read": """
        listPermissionsAggregateInSite listTeamPermissionsInSite listUserPermissionsInSite
    """,
    "site:permissions:write": """
        inviteToSite removeTeamFromSite removeUserFromSite updateTeamPermissionInSite updateUserPermissionInSite
    """,
    "site:auth:read": "getSitePublishingAuthById listSiteShareLinks",
    "site:auth:write": """
        createSiteShareLink deleteSiteShareLinkById regenerateSitePublishingAuthById
        updateSitePublishingAuthById updateSiteShareLinkById
    """,
    "site:insights:read": """
        aggregateSiteEvents getSiteQuestionAnswerById getSiteQuestionAnswerThreadById getSiteQuestionById
        getSiteQuestionStats listSiteQuestionAnswers listSiteQuestionAnswerSources listSiteQuestions
        listSiteQuestionSources
    """,
    "site:ask": "streamAIResponseInSite streamAskInSite streamRecommendedQuestionsInSite",
    "site:search": "prewarmSiteSearch searchSiteContent",
    "integration:read": """
        getOrganizationIntegrationStatus listOrganizationIntegrations listOrganizationIntegrationsStatus
    """,
    "integration:installations:read": """
        getIntegrationInstallationById getIntegrationSiteInstallation getIntegrationSpaceInstallation
        listIntegrationInstallationSites listIntegrationInstallationSpaces
    """,
    "integration:installations:write": """
        installIntegration installIntegrationOnSite installIntegrationOnSpace updateIntegrationInstallation
        updateIntegrationSiteInstallation updateIntegrationSpaceInstallation
    """,
    "integration:publish": """
        disableIntegrationDevelopmentMode publishIntegration setIntegrationDevelopmentMode
    """,
    "integration:delete": "unpublishIntegration",
    "openapi:read": """
        getLatestOpenAPISpecVersion getLatestOpenAPISpecVersionContent
        getLatestOpenAPISpecVersionContentRaw getOpenAPISpecBySlug
        getOpenAPISpecVersionById getOpenAPISpecVersionContentById listOpenAPISpecVersions listOpenAPISpecs
    """,
    "openapi:write": """
        createOpenAPISpec createOrUpdateOpenAPISpecBySlug deleteOpenAPISpecBySlug updateOpenAPISpecBySlug
    """,
}
"""Operations by scope. An operation with two scopes requires both, because its response also reveals data that the
second scope covers."""


def _scopes_by_operation() -> dict[str, frozenset[ApiScope]]:
    needed: dict[str, set[ApiScope]] = defaultdict(set)
    for scope, ids in _OPERATIONS.items():
        for operation_id in ids.split():
            needed[operation_id].add(scope)
    return {operation_id: frozenset(scopes) for operation_id, scopes in needed.items()}


API_SCOPES_NEEDED = _scopes_by_operation()
"""Scopes that an app must have to call an operation. All of them are required."""
