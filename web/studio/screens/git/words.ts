/** What Git sync is called, of a space as of a collection or a site. */
import type { Schemas } from "../../../shared/client.ts";
import { t } from "../../../shared/words.ts";

export type First = "import" | "export";

export const HOSTERS = [
  ["github", "GitHub"],
  ["gitlab", "GitLab"],
  ["gitea", "Gitea, Forgejo"],
  ["bitbucket", "Bitbucket"],
  ["other", t("Another one")],
] as const;
export const DIRECTIONS = [
  ["both", t("Both ways")],
  ["import", t("From the repository alone")],
  ["export", t("Into the repository; its own changes become change requests")],
] as const;
/** The look of each state, and its name. */
export const STATES: Record<string, [string, string]> = {
  waiting: ["", t("Waits for its first sync")],
  running: ["primary", t("Syncing")],
  synced: ["success", t("In step")],
  failed: ["warning", t("Failed, and tried again")],
  stopped: ["danger", t("Waits for you")],
};

export const credentialOf = (username: string, secret: string): Schemas["GitCredential"] =>
  username ? { type: "password", username, secret } : { type: "token", secret };
