/** The requirements for a merge as sentences, as the server checked them. */
import type { Schemas } from "../../shared/client.ts";
import { n, t } from "../../shared/words.ts";

type Check = Schemas["MergeCheck"];

export interface CheckLine {
  check: Check["check"];
  text: string;
  holds: boolean;
  /** The missing requirement, as a sentence. */
  missing: string;
  /** The people who must act to meet the requirement. */
  people: Schemas["User"][];
}

const names = (one: Check) => (one.missing ?? []).map((person) => person.displayName).join(", ");
const done = (one: Check) => (one.users?.length ?? 0) - (one.missing?.length ?? 0);

/** Return the text of each check: the requirement, and what is missing if it isn't met. */
const SENTENCES: Record<Check["check"], (one: Check, conflicts: number) => [string, string]> = {
  status: () => [t("itsOpen"), t("itIsAlreadyMerged")],
  permission: () => [t("roleThatCanMerge"), t("mergingRequiresHigherRole")],
  conflicts: (_, conflicts) => [
    t("noOpenConflicts"),
    n("conflictsHaveToBeResolved", conflicts),
  ],
  require_at_least_one_review: () => [
    t("latestVersionReviewed"),
    t("latestVersionHasntBeenReviewed"),
  ],
  require_at_least_one_approved_review: () => [
    t("latestVersionHasBeenApproved"),
    t("latestVersionHasntBeenApproved"),
  ],
  require_author_to_merge: () => [t("authorMerges"), t("onlyAuthorCanMerge")],
  require_style_guide: (one) => [
    t("newTextFollowsStyleGuide"),
    one.violations
      ? t("newTextBreaksStyleGuide", {
        list: one.violations.map(({ title, rule, message }) => `${title} (${rule}: ${message})`).join("; "),
      })
      : one.reason ?? "",
  ],
  require_all_reviews_approved: (one) => [
    t("allReviewsApproved"),
    one.missing ? t("namesRequestedChanges", { names: names(one) }) : t("changesRequested"),
  ],
  require_specific_reviewers: (one) => [
    t("reviewedByRequiredReviewers", { done: done(one), count: one.users?.length ?? 0 }),
    t("reviewsRequiredFrom", { names: names(one) }),
  ],
  require_one_of_specific_reviewers: (one) => [
    t("reviewedByOneOfRequired", { count: one.users?.length ?? 0 }),
    t("reviewByOneOfThese", { names: names(one) }),
  ],
  require_agent_review: () => [t("reviewedByAgent"), t("noAgentReviewsChangeRequests")],
  require_up_to_date_change_request: () => [
    t("upToDateWithSpace"),
    t("spaceHasChanged"),
  ],
  require_change_request_subject: () => [t("hasSubject"), t("addSubjectHint")],
  require_change_request_description: () => [t("hasDescription"), t("addDescriptionHint")],
  allow_bypass: () => ["", ""],
  custom: (
    one,
  ) => [one.expression ?? "", one.message ?? t("conditionNotMetColon", { condition: one.expression ?? "" })],
  unknown: (one) => [t("ruleNotSupported"), one.reason ?? ""],
};

/** Return a line for each check. `conflicts`: the number of open conflicts. */
export function describeChecks(checks: Check[], conflicts = 0): CheckLine[] {
  return checks.map((one) => {
    const [text, missing] = SENTENCES[one.check](one, conflicts);
    return {
      check: one.check,
      text,
      holds: one.passes,
      missing: one.partial ? t("reviewersCantSeeAllPages") : missing,
      people: one.missing ?? [],
    };
  });
}
