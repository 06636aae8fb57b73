import { t } from "../../shared/words.ts";

const WORDS: Record<string, string> = {
  "docs:read": t("reads"),
  "docs:draft": t("draftsInline"),
  "docs:comment": t("commentsInline"),
  "docs:review": t("reviews"),
  "docs:gaps": t("viewsCommonQuestions"),
  "docs:merge": t("merges"),
};

/** Who did something, and the program by which they did, where it was one. */
export const sayWho = (name: string, agent: string | undefined) =>
  agent ? t("nameViaAgent", { name, agent }) : name;

/** What an agent may do, in words; of an app that uses the API the names of its scopes. */
export const sayWork = (agent: { scopes: string[] }) =>
  agent.scopes.map((scope) => WORDS[scope] ?? scope).join(", ");
