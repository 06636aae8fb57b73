/** What has to hold before a change request is merged, in sentences. The server has the last word when it merges. */
import type { Schemas } from "../../shared/client.ts";
import { n, t } from "../../shared/words.ts";

interface Rule {
  rule: string;
  users?: string[];
  expression?: string;
}

export interface Told {
  text: string;
  /** Undefined: only the server can tell. */
  holds: boolean | undefined;
  /** What is missing, as a sentence. */
  missing: string;
}

interface Standing {
  change: Schemas["ChangeRequest"];
  /** The rules of the space, or those of its organization where it inherits them. */
  space: unknown;
  organization: unknown;
  reviews: Schemas["Review"][];
  user: string | undefined;
  hasDescription: boolean;
}

export function rulesOf({ change, space, organization, reviews, user, hasDescription }: Standing): Told[] {
  const found: Told[] = [{
    text: t("No open conflicts"),
    holds: change.conflicts === 0,
    missing: n("One conflict has to be settled.", "{count} conflicts have to be settled.", change.conflicts),
  }];
  const own = space as { type?: string; rules?: Rule[] } | undefined;
  const rules = (own?.type === "inherit" ? (organization as typeof own)?.rules : own?.rules) ?? [];
  if (rules.some((one) => one.rule === "allow_bypass" && user && one.users?.includes(user))) return found;
  const latest = new Map<string, Schemas["Review"]>();
  for (const review of reviews) if (!latest.has(review.reviewer.id)) latest.set(review.reviewer.id, review);
  const current = new Set([...latest.values()].filter((one) => !one.outdated).map((one) => one.reviewer.id));
  const named = (users: string[] = []) => users.filter((id) => current.has(id)).length;
  for (const { rule, users, expression } of rules) {
    switch (rule) {
      case "require_at_least_one_review":
        found.push({
          text: t("A review of what is there now"),
          holds: current.size > 0,
          missing: t("It needs a review of what is there now."),
        });
        break;
      case "require_all_reviews_approved": {
        const against = [...latest.values()].filter((one) => one.status !== "approved");
        found.push({
          text: t("All reviews approve"),
          holds: !against.length,
          missing: t("{names} asked for changes.", {
            names: against.map((one) => one.reviewer.displayName).join(", "),
          }),
        });
        break;
      }
      case "require_specific_reviewers":
        found.push({
          text: t("Reviews by named people · {done} of {count}", {
            done: named(users),
            count: users?.length ?? 0,
          }),
          holds: named(users) === (users?.length ?? 0),
          missing: t("It waits for a review by people whom a rule names."),
        });
        break;
      case "require_one_of_specific_reviewers":
        found.push({
          text: t("A review by one of {count} named people", { count: users?.length ?? 0 }),
          holds: named(users) > 0,
          missing: t("It waits for a review by one of the people whom a rule names."),
        });
        break;
      case "require_up_to_date_change_request":
        found.push({
          text: t("Up to date with the space"),
          holds: !change.outdated,
          missing: t("The space changed since; bring that in first."),
        });
        break;
      case "require_change_request_subject":
        found.push({
          text: t("A subject"),
          holds: change.subject.trim() !== "",
          missing: t("It needs a subject."),
        });
        break;
      case "require_change_request_description":
        found.push({
          text: t("A description"),
          holds: hasDescription,
          missing: t("It needs a description."),
        });
        break;
      case "require_agent_review":
        found.push({
          text: t("A review by an agent"),
          holds: false,
          missing: t("No agent reviews change requests here."),
        });
        break;
      case "allow_bypass":
        break;
      default:
        found.push({ text: expression ?? rule, holds: undefined, missing: "" });
    }
  }
  return found;
}
