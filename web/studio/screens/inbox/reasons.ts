/** Notifications in words. */
import { t } from "../../../shared/words.ts";
import type { IconName } from "../../parts/Icon.svelte";
import type { Notification } from "../../state/inbox.svelte.ts";

type Reason = Notification["reason"];

/** What somebody did, after their name. */
export function didOf(notification: Notification): string {
  switch (notification.reason) {
    case "mentioned":
      return t("mentioned you");
    case "replied":
      return t("replied");
    case "commented":
      return t("commented");
    case "reviewRequested":
      return t("asks for your review");
    case "reviewed":
      return notification.status === "accepted"
        ? t("accepted your suggestion")
        : notification.status === "declined"
        ? t("declined your suggestion")
        : notification.status === "approved"
        ? t("approved")
        : t("wants changes");
    case "merged":
      return t("merged");
    case "edited":
      return t("edited a page");
    case "statusChanged":
      return notification.status === "open"
        ? t("opened for review")
        : notification.status === "archived"
        ? t("archived")
        : t("made a draft again");
    default:
      return t("It failed");
  }
}

/** What it is about: the words said, or what was changed. */
export function whatOf({ comment, changeRequest, page, problem, space }: Notification): string {
  if (comment?.excerpt) return `“${comment.excerpt}”`;
  if (problem) return problem;
  if (changeRequest) return changeRequest.subject || t("No subject");
  return page?.title ?? space.title;
}

export function whereOf({ changeRequest, page, space }: Notification): string {
  if (changeRequest) return t("#{number} in {space}", { number: changeRequest.number, space: space.title });
  return page ? `${page.title} · ${space.title}` : space.title;
}

export const ICONS: Partial<Record<Reason, IconName>> = { failed: "problem" };

/** The reasons as somebody chooses how to be told of each. */
export const REASONS: [Reason, string][] = [
  ["mentioned", t("Somebody mentions me")],
  ["replied", t("Somebody replies where I spoke")],
  ["commented", t("Somebody comments on what I write or watch")],
  ["reviewRequested", t("My review is asked for")],
  ["reviewed", t("My change request is reviewed, or an edit I suggested is settled")],
  ["merged", t("What I wrote or watch is merged")],
  ["statusChanged", t("A change request of mine is opened or closed by somebody")],
  ["edited", t("What I watch is edited")],
  ["failed", t("An import, translation or Git sync of mine fails")],
];
