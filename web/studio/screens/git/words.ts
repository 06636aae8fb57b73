/** The texts of Git sync for spaces, collections, and sites. */
import type { Schemas } from "../../../shared/client.ts";
import { t } from "../../../shared/words.ts";
import type { Kind } from "./calls.ts";

export type First = "import" | "export";

export const HOSTERS = [
  ["github", "GitHub"],
  ["gitlab", "GitLab"],
  ["gitea", "Gitea, Forgejo"],
  ["bitbucket", "Bitbucket"],
  ["other", t("other")],
] as const;
export const DIRECTIONS = [
  ["both", t("bothDirections")],
  ["import", t("fromRepositoryOnly")],
  ["export", t("toRepositoryChangesThereBecome")],
] as const;
/** The style and label of each state. */
export const STATES: Record<string, [string, string]> = {
  waiting: ["", t("waitingForFirstSync")],
  running: ["primary", t("syncing")],
  synced: ["success", t("inSync")],
  failed: ["warning", t("failedRetrying")],
  stopped: ["danger", t("needsYourAttention")],
};

export const credentialOf = (username: string, secret: string): Schemas["GitCredential"] =>
  username ? { type: "password", username, secret } : { type: "token", secret };

interface Words {
  /** A text about the effect of connecting. */
  intro: string;
  folderHint: string;
  /** The choices for the first sync: a label and its explanation. */
  sides: Record<First, [string, string]>;
  /** The label of the other choice, if a sync is waiting for one. */
  commit: string;
  commitAsked: string;
  commits: string;
  follows: string;
  leaves: string;
  left: string;
}

const TOGETHER = {
  commit: t("commitContentOfSpaces"),
  commitAsked: t("commitContentOfSpacesQuestion"),
  commits: t("allContentOfSpaces"),
  follows: t("spacesAreUpdatedToLatest"),
  leaves: t("syncingStopsSpacesAndRepository"),
  left: t("repositoryDisconnectedSpacesAndRepository"),
};
/** Texts for a site that waits for a choice about its structure. */
export const OF_STRUCTURE = {
  commit: t("writeSiteStructure"),
  commitAsked: t("writeSiteStructureQuestion"),
  commits: t("fileDocsYamlIsOverwritten"),
  follows: t("siteStructureIsReplaced"),
};
const OUT: [string, string] = [
  t("replaceFoldersWithContent"),
  t("asCommitsOnTop"),
];

export const WORDS: Record<Kind, Words> = {
  space: {
    intro: t("developersWorkInTheirRepository"),
    folderHint: t("repositoryFolderThatCorresponds"),
    sides: {
      import: [
        t("replaceSpaceWithRepositoryContent"),
        t("previousContentStaysInSpaces"),
      ],
      export: [
        t("replaceFolderWithSpaceContent"),
        t("asOneCommitOnTop"),
      ],
    },
    commit: t("commitSpaceContent"),
    commitAsked: t("commitSpaceContentQuestion"),
    commits: t("allContentOfSpace"),
    follows: t("spaceIsUpdatedToLatest"),
    leaves: t("syncingStopsSpaceAndRepository"),
    left: t("repositoryDisconnectedSpaceAndRepository"),
  },
  collection: {
    ...TOGETHER,
    intro: t("eachSpaceDirectly"),
    folderHint: t("folderThatContainsFolders"),
    sides: {
      import: [
        t("replaceSpacesWithContent"),
        t("previousContentStaysInHistory"),
      ],
      export: OUT,
    },
  },
  site: {
    ...TOGETHER,
    intro: t("siteStructureIsKept"),
    folderHint: t("folderWithDocsYaml"),
    sides: {
      import: [
        t("replaceSiteStructureWithOne"),
        t("previousContentStaysInHistory"),
      ],
      export: OUT,
    },
  },
};

/** A problem: its place and explanation. */
export interface Problem {
  path: string;
  line: number;
  message: string;
}
