import { t } from "../../shared/words.ts";

const WORDS: Record<string, string> = {
  "docs:read": t("reads"),
  "docs:draft": t("draftsInline"),
  "docs:comment": t("commentsInline"),
  "docs:review": t("reviews"),
  "docs:gaps": t("viewsCommonQuestions"),
  "docs:merge": t("merges"),
};

/** Return the person who caused an event, with the app or agent that acted for them, if any. */
export const sayWho = (name: string, agent: string | undefined) =>
  agent ? t("nameViaAgent", { name, agent }) : name;

/** Return the permissions of an agent as text. For an app that uses the API, these are the names of its scopes. */
export const sayWork = (agent: { scopes: string[] }) =>
  agent.scopes.map((scope) => WORDS[scope] ?? scope).join(", ");
