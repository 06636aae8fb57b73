/** The rules that a change request must fulfil before it can be merged, as the API names them and as they are said. */
import type { Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";

export type MergeRule = Schemas["MergeRule"];
export type RuleName = MergeRule["rule"];

/** `users`: the rule names people. */
export const RULES: { rule: RuleName; text: string; hint?: string; users?: true }[] = [
  {
    rule: "require_at_least_one_review",
    text: t("Somebody reviewed what is there now"),
    hint: t("Edits after a review ask for another one."),
  },
  { rule: "require_all_reviews_approved", text: t("No review asks for changes") },
  { rule: "require_specific_reviewers", text: t("Each of these people reviewed"), users: true },
  { rule: "require_one_of_specific_reviewers", text: t("One of these people reviewed"), users: true },
  { rule: "require_up_to_date_change_request", text: t("It has everything that the space has") },
  { rule: "require_change_request_subject", text: t("It has a subject") },
  { rule: "require_change_request_description", text: t("It has a description") },
  { rule: "allow_bypass", text: t("These people merge without the rules"), users: true },
];
