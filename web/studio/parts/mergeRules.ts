/** The merge rules of change requests: API names and labels. */
import type { Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";

export type MergeRule = Schemas["MergeRule"];
export type RuleName = MergeRule["rule"];

/** `users`: whether the rule lists people. `levels`: whether it has a level. */
export const RULES: { rule: RuleName; text: string; hint?: string; users?: true; levels?: true }[] = [
  {
    rule: "require_at_least_one_review",
    text: t("latestVersionHasBeenReviewed"),
    hint: t("editingAfterReviewRequiresNew"),
  },
  {
    rule: "require_at_least_one_approved_review",
    text: t("latestVersionHasBeenApproved"),
    hint: t("editingAfterReviewRequiresNew"),
  },
  { rule: "require_all_reviews_approved", text: t("noReviewRequestsChanges") },
  { rule: "require_specific_reviewers", text: t("allOfThesePeople"), users: true },
  { rule: "require_one_of_specific_reviewers", text: t("oneOfThesePeople"), users: true },
  { rule: "require_up_to_date_change_request", text: t("isUpToDate") },
  { rule: "require_change_request_subject", text: t("hasSubject") },
  { rule: "require_change_request_description", text: t("hasDescription") },
  { rule: "require_author_to_merge", text: t("authorMerges") },
  {
    rule: "require_style_guide",
    text: t("newTextFollowsStyleGuide"),
    hint: t("styleGuideRuleHint"),
    levels: true,
  },
  { rule: "allow_bypass", text: t("thesePeopleCanBypassRules"), users: true },
];
