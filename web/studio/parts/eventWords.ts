/** The events that webhooks tell, by what they are about: the API's name and words. */
import type { Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";

export type EventName = Schemas["CreateWebhook"]["events"][number];

export const EVENTS: { about: string; events: [EventName, string][] }[] = [
  {
    about: t("Spaces"),
    events: [
      ["space_content_updated", t("The content of a space changed")],
      ["space_duplicated", t("A space was copied")],
      ["space_transferred", t("A space was given away")],
      ["space_deleted", t("A space was deleted")],
      ["space_restored", t("A space was restored")],
      ["space_purged", t("A space was removed for good")],
    ],
  },
  {
    about: t("Change requests"),
    events: [
      ["change_request_created", t("A change request was made")],
      ["change_request_updated", t("The subject or description of a change request changed")],
      ["change_request_content_updated", t("The content of a change request changed")],
      ["change_request_status_updated", t("A change request was opened, archived or put back")],
      ["change_request_review_requested", t("A review was asked for")],
      ["change_request_review_submitted", t("A change request was reviewed")],
      ["change_request_merged", t("A change request was merged")],
    ],
  },
  {
    about: t("Comments"),
    events: [
      ["comment_created", t("A comment was made")],
      ["comment_updated", t("A comment changed")],
      ["comment_deleted", t("A comment was deleted")],
      ["comment_reply_created", t("Somebody replied")],
      ["comment_reply_updated", t("A reply changed")],
      ["comment_reply_deleted", t("A reply was deleted")],
    ],
  },
];
const NAMES = new Map<string, string>(EVENTS.flatMap((group) => group.events));

export const sayEvent = (type: string): string =>
  type === "webhook_test" ? t("Test message") : NAMES.get(type) ?? type;
