import { operation } from "../../shared/client.ts";
import { resource } from "../state/resource.svelte.ts";

export const getOrganizationAgentInstructions = operation.GET("/orgs/{organizationId}/agent-instructions");
export const updateOrganizationAgentInstructions = operation.PUT("/orgs/{organizationId}/agent-instructions");
export const listAgentTasks = operation.GET("/orgs/{organizationId}/agent-tasks");
export const createAgentTask = operation.POST("/orgs/{organizationId}/agent-tasks");
export const updateAgentTask = operation.PATCH("/orgs/{organizationId}/agent-tasks/{agentTaskId}");
export const getAgentSetupState = operation.GET("/orgs/{organizationId}/agents-setup");
export const listOrganizationAgentConversations = operation.GET("/orgs/{organizationId}/agent/conversations");
export const getOrganizationAgentConversation = operation.GET(
  "/orgs/{organizationId}/agent/conversations/{conversationId}",
);
export const provisionOrganizationAgentConversation = operation.PUT(
  "/orgs/{organizationId}/agent/conversations/{conversationId}",
);
export const updateOrganizationAgentConversation = operation.PATCH(
  "/orgs/{organizationId}/agent/conversations/{conversationId}",
);
export const deleteOrganizationAgentConversation = operation.DELETE(
  "/orgs/{organizationId}/agent/conversations/{conversationId}",
);
export const listChangeRequestConversations = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/conversations",
);
export const askInOrganization = operation.POST("/orgs/{organizationId}/ask");
export const getRecommendedQuestionsInOrganization = operation.GET("/orgs/{organizationId}/ask/questions");
export const listModelCalls = operation.GET("/orgs/{organizationId}/model-calls");
export const searchChangeRequestContent = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/search",
);
export const searchOrganizationContent = operation.GET("/orgs/{organizationId}/search");
export const searchSpaceContent = operation.GET("/spaces/{spaceId}/search");

export const questionsOf = (organization: string) =>
  resource(
    `org/${organization}/questions`,
    () => getRecommendedQuestionsInOrganization({ organizationId: organization }),
  );

export const setupOf = (organization: string) =>
  resource(`org/${organization}/agents-setup`, () => getAgentSetupState({ organizationId: organization }));
