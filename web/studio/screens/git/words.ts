/** What Git sync is called, of a space as of a collection or a site. */
import type { Schemas } from "../../../shared/client.ts";
import { t } from "../../../shared/words.ts";
import type { Kind } from "./calls.ts";

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

interface Words {
  /** What connecting it comes to. */
  intro: string;
  folderHint: string;
  /** What becomes of either side at the beginning: a line and its explanation. */
  sides: Record<First, [string, string]>;
  /** The other choice where a sync waits for one. */
  commit: string;
  commitAsked: string;
  commits: string;
  follows: string;
  leaves: string;
  left: string;
}

const TOGETHER = {
  commit: t("Commit what the spaces have"),
  commitAsked: t("Commit what the spaces have?"),
  commits: t(
    "All that the spaces have is committed on top of what the branch has now. Nothing is forced; its history stays.",
  ),
  follows: t(
    "The spaces become what the branch is now, merged with what is new in them since the last sync.",
  ),
  leaves: t("Nothing is synced any more. The spaces and the repository stay as they are."),
  left: t("The spaces and the repository stay as they are"),
};
/** Where what a site waits for is about its structure. */
export const OF_STRUCTURE = {
  commit: t("Write the structure of the site"),
  commitAsked: t("Write the structure of the site?"),
  commits: t("The file docs.yaml becomes what the structure of the site is. No page is touched by it."),
  follows: t("The structure of the site becomes what docs.yaml says. No page is touched by it."),
};
const OUT: [string, string] = [
  t("Folders become what the spaces are"),
  t("As commits on top of what the branch has."),
];

export const WORDS: Record<Kind, Words> = {
  space: {
    intro: t(
      "Developers write in their repository, others in the app, and both see the same text. What both change is merged; where they change the same words, a change request holds both.",
    ),
    folderHint: t("The one of the repository that the space is; empty for all of it."),
    sides: {
      import: [
        t("The space becomes what the repository is"),
        t("What the space was before stays in its history."),
      ],
      export: [
        t("The folder becomes what the space is"),
        t("As one commit on top of what the branch has."),
      ],
    },
    commit: t("Commit what the space has"),
    commitAsked: t("Commit what the space has?"),
    commits: t(
      "All that the space has is committed on top of what the branch has now. Nothing is forced; its history stays.",
    ),
    follows: t(
      "The space becomes what the branch is now, merged with what is new in the space since the last sync.",
    ),
    leaves: t("Nothing is synced any more. The space and the repository stay as they are."),
    left: t("The space and the repository stay as they are"),
  },
  collection: {
    ...TOGETHER,
    intro: t(
      "Each space that lies directly in this collection is kept in step with a folder of one repository. New folders become spaces, and new spaces get folders.",
    ),
    folderHint: t("The one that the folders of the spaces are in; empty for the repository itself."),
    sides: {
      import: [
        t("Spaces become what their folders are"),
        t("What a space was before stays in its history."),
      ],
      export: OUT,
    },
  },
  site: {
    ...TOGETHER,
    intro: t(
      "The structure of the site is kept in step with the file docs.yaml of one repository, and each of its spaces with the folder that is named there.",
    ),
    folderHint: t("The one that docs.yaml is in; empty for the repository itself."),
    sides: {
      import: [
        t("The site becomes what the repository says"),
        t("What a space was before stays in its history."),
      ],
      export: OUT,
    },
  },
};

/** Where something was left out or not understood, and what is to be known of it. */
export interface Problem {
  path: string;
  line: number;
  message: string;
}
