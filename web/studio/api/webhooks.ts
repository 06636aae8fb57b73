import { operation } from "../../shared/client.ts";
import { resource } from "../state/resource.svelte.ts";

export const listWebhooks = operation.GET("/orgs/{organizationId}/webhooks");
export const createWebhook = operation.POST("/orgs/{organizationId}/webhooks");
export const deleteWebhook = operation.DELETE("/orgs/{organizationId}/webhooks/{webhookId}");
export const getWebhook = operation.GET("/orgs/{organizationId}/webhooks/{webhookId}");
export const updateWebhook = operation.PATCH("/orgs/{organizationId}/webhooks/{webhookId}");
export const listWebhookDeliveries = operation.GET("/orgs/{organizationId}/webhooks/{webhookId}/deliveries");
export const replayWebhookDelivery = operation.POST(
  "/orgs/{organizationId}/webhooks/{webhookId}/deliveries/{deliveryId}/replay",
);
export const rotateWebhookSecret = operation.POST("/orgs/{organizationId}/webhooks/{webhookId}/secret");
export const testWebhook = operation.POST("/orgs/{organizationId}/webhooks/{webhookId}/test");

export const webhookOf = (organization: string, id: string) =>
  resource(
    `org/${organization}/webhooks/${id}`,
    () => getWebhook({ organizationId: organization, webhookId: id }),
  );
