import { t } from "../../shared/words.ts";

const WORDS: Record<string, string> = {
  "docs:read": t("reads"),
  "docs:draft": t("drafts"),
  "docs:comment": t("comments"),
  "docs:review": t("reviews"),
  "docs:gaps": t("sees what is asked"),
  "docs:merge": t("merges"),
};

/** What an agent may do, in words. */
export const sayWork = (agent: { scopes: string[] }) =>
  agent.scopes.map((scope) => WORDS[scope] ?? scope).join(", ");
