/** The events that webhooks send, by subject: the API's names and their labels. */
import type { Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";

export type EventName = Schemas["CreateWebhook"]["events"][number];

export const EVENTS: { about: string; events: [EventName, string][] }[] = [
  {
    about: t("spaces"),
    events: [
      ["space_content_updated", t("spaceContentUpdated")],
      ["space_duplicated", t("spaceDuplicated")],
      ["space_transferred", t("spaceTransferred")],
      ["space_deleted", t("spaceDeleted")],
      ["space_restored", t("spaceRestored")],
      ["space_purged", t("spacePermanentlyDeleted")],
    ],
  },
  {
    about: t("changeRequests"),
    events: [
      ["change_request_created", t("changeRequestCreated")],
      ["change_request_updated", t("changeRequestSubjectOrDescription")],
      ["change_request_content_updated", t("changeRequestContentUpdated")],
      ["change_request_status_updated", t("changeRequestOpenedArchived")],
      ["change_request_review_requested", t("reviewRequested")],
      ["change_request_review_submitted", t("changeRequestReviewed")],
      ["change_request_merged", t("changeRequestMerged")],
    ],
  },
  {
    about: t("comments"),
    events: [
      ["comment_created", t("commentPosted")],
      ["comment_updated", t("commentEdited")],
      ["comment_deleted", t("commentDeleted")],
      ["comment_reply_created", t("replyPosted")],
      ["comment_reply_updated", t("replyEdited")],
      ["comment_reply_deleted", t("replyDeleted")],
    ],
  },
];
const NAMES = new Map<string, string>(EVENTS.flatMap((group) => group.events));

export const sayEvent = (type: string): string =>
  type === "webhook_test" ? t("testMessage") : NAMES.get(type) ?? type;
