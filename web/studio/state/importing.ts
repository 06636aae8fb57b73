/** Imports. Files are uploaded first. Then a job reads them, which continues without the browser. */
import type { Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { address } from "../addresses.ts";
import { checkImportSource, getImportRun, startImportRun } from "../api/imports.ts";
import type { IconName } from "../parts/Icon.svelte";
import { resource } from "./resource.svelte.ts";

export type ImportRun = Schemas["ImportRun"];

export interface Problem {
  path: string;
  line: number;
  code: string;
  message: string;
}

export const IMPORTED_FILES = ".md,.markdown,.html,.htm,.docx,.odt,.fodt,.aspx,.zip,.txt";
export const IMPORTED = t("markdownHtmlWordOpenDocument");

export const isOver = (run: ImportRun) => run.status !== "pending" && run.status !== "in-progress";
export const problemsOf = (run: ImportRun) => (run.problems ?? []) as unknown as Problem[];

/** Import methods: name, icon, label, and description. */
export type Way = "files" | "website" | "git" | "api";
export const WAYS: [Way, IconName, string, string][] = [
  ["files", "file-zipper", t("filesOrArchive"), IMPORTED],
  ["website", "globe", t("website"), t("importedPageByPage")],
  ["git", "git", t("gitRepository"), t("staysInSyncWithSpace")],
  [
    "api",
    "cloud",
    t("anotherPlatform"),
    t("confluenceReadMeGitBookOrAnother"),
  ],
];

/** The URL of another platform, and the credentials. */
export type Elsewhere = Required<Pick<Schemas["CheckImportSource"], "service" | "url" | "user" | "token">>;
export const ELSEWHERE: Elsewhere = { service: "octavo", url: "", user: "", token: "" };
export const README = "https://api.readme.com/v2";

/** Return the URL and the credentials in the format of the API. */
export const accessOf = ({ service, url, user, token }: Elsewhere): Schemas["CheckImportSource"] => ({
  service,
  url: url.trim(),
  token: token.trim(),
  ...(service === "confluence" && user.trim() ? { user: user.trim() } : {}),
});

export interface Source {
  type: string;
  url?: string;
  /** The name of the source, for content imported with the command-line tool. */
  name?: string;
  files?: string[];
  kind?: Kind;
}
export type Kind = Exclude<Schemas["FileSource"]["kind"], undefined>;
/** The names of sources: product names, and our own names for the rest. */
export const SOURCE_KINDS: Record<Kind, string> = {
  markdown: t("markdownFolder"),
  html: t("htmlFolder"),
  octavo: t("repositoryWithSummaryMd"),
  antora: "Antora",
  asciidoc: "AsciiDoc",
  bookstack: "BookStack",
  confluence: "Confluence",
  "confluence-xml": "Confluence XML",
  docmost: "Docmost",
  docusaurus: "Docusaurus",
  fumadocs: "Fumadocs",
  "github-wiki": "GitHub Wiki",
  hugo: "Hugo",
  jekyll: "Jekyll",
  mintlify: "Mintlify",
  mkdocs: "MkDocs",
  nextra: "Nextra",
  notion: "Notion",
  obsidian: "Obsidian",
  outline: "Outline",
  readme: "ReadMe",
  sphinx: "Sphinx",
  starlight: "Starlight",
  vitepress: "VitePress",
  wikijs: "Wiki.js",
};
export const sourceOf = (run: ImportRun) => run.source as unknown as Source;

export const startImport = (
  organization: string,
  source: Schemas["StartImport"]["source"],
  target: Schemas["ImportTarget"],
  more: Pick<Schemas["StartImport"], "preview" | "update" | "variants"> = {},
) => startImportRun({ organizationId: organization }, { source, target, ...more });

/** Load the spaces that a token can access on another server. */
export const checkSource = (organization: string, given: Schemas["CheckImportSource"]) =>
  checkImportSource({ organizationId: organization }, given);

export const readImport = (organization: string, importRunId: string) =>
  getImportRun({ organizationId: organization, importRunId });

export const importOf = (organization: string, run: string) =>
  resource(`org/${organization}/import/${run}`, () => readImport(organization, run));

/** Return the URL of the screen that connects a space with a repository. Its form previews the changes. */
export const gitAddress = (space: string, repository = "") =>
  address.space(space, "settings/git") +
  (repository && `?repository=${encodeURIComponent(repository)}`);

/** Return the name of a repository from the end of its URL. */
export const repositoryName = (url: string) =>
  url.trim().replace(/\/+$/, "").replace(/\.git$/, "").split(/[/:]/).at(-1) ?? "";

/** Return the URL of the form that updates an earlier import. */
export const updateAddress = (space: string, run: string) =>
  `${address.space(space, "import")}?update=${encodeURIComponent(run)}`;

export const importAddress = (space: string, run: string) => address.space(space, `import/${run}`);
