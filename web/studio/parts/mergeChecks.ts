/** What must hold before a merge, as the server found it, in sentences. */
import type { Schemas } from "../../shared/client.ts";
import { n, t } from "../../shared/words.ts";

type Check = Schemas["MergeCheck"];

export interface Told {
  check: Check["check"];
  text: string;
  holds: boolean;
  /** What is missing, as a sentence. */
  missing: string;
  /** Whom it waits for. */
  people: Schemas["User"][];
}

const names = (one: Check) => (one.missing ?? []).map((person) => person.displayName).join(", ");
const done = (one: Check) => (one.users?.length ?? 0) - (one.missing?.length ?? 0);

/** Of each check: what it asks for, and what is missing where it does not hold. */
const SENTENCES: Record<Check["check"], (one: Check, conflicts: number) => [string, string]> = {
  status: () => [t("It is open"), t("It is merged or archived already.")],
  permission: () => [t("A role that merges"), t("Who merges needs a higher role in this space.")],
  conflicts: (_, conflicts) => [
    t("No open conflicts"),
    n("One conflict has to be settled.", "{count} conflicts have to be settled.", conflicts),
  ],
  require_at_least_one_review: () => [
    t("A review of what is there now"),
    t("It needs a review of what is there now."),
  ],
  require_all_reviews_approved: (one) => [
    t("All reviews approve"),
    one.missing ? t("{names} asked for changes.", { names: names(one) }) : t("Somebody asks for changes"),
  ],
  require_specific_reviewers: (one) => [
    t("Reviews by named people · {done} of {count}", { done: done(one), count: one.users?.length ?? 0 }),
    t("It waits for a review by {names}.", { names: names(one) }),
  ],
  require_one_of_specific_reviewers: (one) => [
    t("A review by one of {count} named people", { count: one.users?.length ?? 0 }),
    t("It waits for a review by one of {names}.", { names: names(one) }),
  ],
  require_agent_review: () => [t("A review by an agent"), t("No agent reviews change requests here.")],
  require_up_to_date_change_request: () => [
    t("Up to date with the space"),
    t("The space changed since; bring that in first."),
  ],
  require_change_request_subject: () => [t("A subject"), t("It needs a subject.")],
  require_change_request_description: () => [t("A description"), t("It needs a description.")],
  allow_bypass: () => ["", ""],
  custom: (
    one,
  ) => [one.expression ?? "", t("This is not true yet: {condition}", { condition: one.expression ?? "" })],
  unknown: (one) => [t("A rule that this version does not know"), one.reason ?? ""],
};

/** `conflicts`: how many are open. */
export function told(checks: Check[], conflicts = 0): Told[] {
  return checks.map((one) => {
    const [text, missing] = SENTENCES[one.check](one, conflicts);
    return { check: one.check, text, holds: one.passes, missing, people: one.missing ?? [] };
  });
}
