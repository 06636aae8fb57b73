import { operation } from "../../shared/client.ts";
import { resource } from "../state/resource.svelte.ts";

export const getOwnNotificationSettings = operation.GET("/user/notification-settings");
export const updateOwnNotificationSettings = operation.PATCH("/user/notification-settings");
export const listOwnNotifications = operation.GET("/user/notifications");
export const countOwnNotifications = operation.GET("/user/notifications/counts");
export const updateOwnNotifications = operation.POST("/user/notifications/update");
export const updateOwnNotification = operation.PATCH("/user/notifications/{notificationId}");
export const listOwnWatches = operation.GET("/user/watches");
export const setPageWatch = operation.PUT("/spaces/{spaceId}/content/page/{pageId}/watch");
export const endPageWatch = operation.DELETE("/spaces/{spaceId}/content/page/{pageId}/watch");
export const setSpaceWatch = operation.PUT("/spaces/{spaceId}/watch");
export const endSpaceWatch = operation.DELETE("/spaces/{spaceId}/watch");

export const unread = () => resource("inbox/unread", () => listOwnNotifications({}, { status: "unread" }));

export const settingsOfInbox = () => resource("inbox/settings", () => getOwnNotificationSettings({}));
