import { operation } from "../../shared/client.ts";
import { resource } from "../state/resource.svelte.ts";

export const listConversations = operation.GET("/orgs/{organizationId}/conversations");
export const ingestConversation = operation.POST("/orgs/{organizationId}/conversations");
export const listConversationsIssuesClusters = operation.GET("/orgs/{organizationId}/conversations-clusters");
export const getConversationsIssuesCluster = operation.GET(
  "/orgs/{organizationId}/conversations-clusters/{clusterId}",
);
export const listPagesForConversationsIssuesCluster = operation.GET(
  "/orgs/{organizationId}/conversations-clusters/{clusterId}/pages",
);
export const listConversationsIssues = operation.GET("/orgs/{organizationId}/conversations-issues");
export const getConversationById = operation.GET("/orgs/{organizationId}/conversations/{conversationId}");

export const conversationOf = (organization: string, id: string) =>
  resource(
    `org/${organization}/conversations/${id}`,
    () => getConversationById({ organizationId: organization, conversationId: id }),
  );

export const clusterOf = (path: { organizationId: string; clusterId: string }) =>
  resource(
    `org/${path.organizationId}/clusters/${path.clusterId}`,
    () => getConversationsIssuesCluster(path),
  );

export const pagesOf = (path: { organizationId: string; clusterId: string }) =>
  resource(
    `org/${path.organizationId}/clusters/${path.clusterId}/pages`,
    () => listPagesForConversationsIssuesCluster(path),
  );
