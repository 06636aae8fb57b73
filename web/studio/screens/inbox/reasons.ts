/** The texts of notifications. */
import { t } from "../../../shared/words.ts";
import type { Notification } from "../../state/inbox.svelte.ts";

type Reason = Notification["reason"];

/** Return the actor's action as text to show after their name. */
export function didOf(notification: Notification): string {
  switch (notification.reason) {
    case "mentioned":
      return t("mentionedYou");
    case "replied":
      return t("repliedInline");
    case "commented":
      return t("commentedInline");
    case "reviewRequested":
      return t("requestedYourReview");
    case "reviewed":
      return notification.status === "accepted"
        ? t("acceptedYourSuggestion")
        : notification.status === "declined"
        ? t("declinedYourSuggestion")
        : notification.status === "approved"
        ? t("approvedInline")
        : t("requestedChanges");
    case "merged":
      return t("mergedInline");
    case "edited":
      return t("editedPage");
    case "statusChanged":
      return notification.status === "open"
        ? t("openedForReview")
        : notification.status === "archived"
        ? t("archivedInline")
        : t("convertedBackToDraft");
    case "reviewDue":
      return t("pageIsDueForReview");
    case "assigned":
      return t("assignedAFindingToYou");
    default:
      return t("failed");
  }
}

/** Return the subject: the text of a comment, or the changed object. */
export function whatOf({ comment, changeRequest, page, problem, space }: Notification): string {
  if (comment?.excerpt) return `“${comment.excerpt}”`;
  if (problem) return problem;
  if (changeRequest) return changeRequest.subject || t("noSubject");
  return page?.title ?? space.title;
}

export function whereOf({ changeRequest, page, space, site, collection }: Notification): string {
  const whole = site ?? collection;
  if (whole) return whole.title;
  if (changeRequest) return t("numberInSpace", { number: changeRequest.number, space: space.title });
  return page ? `${page.title} · ${space.title}` : space.title;
}

/** The reasons, as labels of the notification settings. */
export const REASONS: [Reason, string][] = [
  ["mentioned", t("someoneMentionsMe")],
  ["replied", t("someoneRepliesInThreadI")],
  ["commented", t("someoneCommentsOnMyContent")],
  ["reviewRequested", t("myReviewIsRequested")],
  ["reviewed", t("myChangeRequestIsReviewed")],
  ["merged", t("somethingIWroteOrWatch")],
  ["statusChanged", t("someoneOpensOrClosesOne")],
  ["edited", t("somethingIWatchIsEdited")],
  ["reviewDue", t("pageIOwnIsDueForReview")],
  ["assigned", t("findingIsAssignedToMe")],
  ["failed", t("myImportsTranslationsOrGit")],
];
