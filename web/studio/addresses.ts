/** Parses and builds URLs of the app. The server builds them, too: `core/app_urls.py`. */
import type { Base } from "./editor/base.ts";

export const CHANGE_VIEWS = ["edit", "review", "conflicts", "talk", "preview"] as const;
export type ChangeView = typeof CHANGE_VIEWS[number];

/** Texts by position; null if a translation is missing. */
export type Place =
  | { screen: "work" }
  | { screen: "inbox" }
  | { screen: "account"; view: string }
  | { screen: "installation"; view: string }
  | { screen: "first" }
  | { screen: "git-authorized" }
  | { screen: "organization"; organization: string; view: string; rest: string[] }
  | { screen: "collection"; collection: string; view: string }
  | { screen: "site"; organization: string; site: string; view: string }
  | { screen: "page"; space: string; base: Base; path: string }
  | { screen: "change"; space: string; number: number; view: Exclude<ChangeView, "edit">; path: string }
  | { screen: "space"; space: string; view: string; rest: string[] }
  | { screen: "nowhere" };

const encodePath = (path: string) => path.split("/").map(encodeURIComponent).join("/");
const below = (path: string) => path && `/${encodePath(path)}`;

export const MAIN: Base = { kind: "main" };
/** Main, in a space whose pages are edited directly. */
export const EDITED_MAIN: Base = { kind: "main", edits: true };

/** The sections of an organization's settings in order. Each has its own URL, and the API uses some of the names. */
export const SETTINGS = [
  "general",
  "openapi",
  "translations",
  "conversations",
  "models",
  "imports",
  "webhooks",
  "tokens",
  "audit",
  "usage",
  "trash",
] as const;
export type SettingsSection = typeof SETTINGS[number];

export const address = {
  work: "/",
  inbox: "/~/inbox",
  account: "/~/account",
  installation: (view = "") => `/~/installation${view && `/${view}`}`,
  organization: (id: string, view = "") => `/o/${id}${view && `/~/${view}`}`,
  settings: (organization: string, section: SettingsSection, ...rest: string[]) =>
    address.organization(
      organization,
      [section === "general" ? "settings" : section, ...rest].map(encodeURIComponent).join("/"),
    ),
  site: (organization: string, site: string, view = "") =>
    `/o/${organization}/sites/${site}${view && `/~/${view}`}`,
  collection: (id: string, view = "") => `/c/${id}${view && `/~/${view}`}`,
  space: (id: string, view = "") => `/s/${id}${view && `/~/${view}`}`,
  page(space: string, path: string, base: Base = MAIN): string {
    const view = base.kind === "change"
      ? `/~/changes/${base.number}`
      : base.kind === "revision"
      ? `/~/revisions/${base.id}`
      : base.edits
      ? "/~/edit"
      : "";
    return `/s/${space}${view}${below(path)}`;
  },
  /** A comment thread in a space: next to its page, or on its own if there is no page path. */
  thread: (space: string, comment: string, path?: string) =>
    path ? `${address.page(space, path)}?comment=${comment}` : address.space(space, `comments/${comment}`),
  /** The history of a page: one revision, or a comparison of the second with the first. */
  pageHistory: (space: string, page: string, ...revisions: string[]) =>
    address.space(space, ["history", "page", page, ...revisions].join("/")),
  change(space: string, number: number, view: ChangeView = "edit", path = ""): string {
    return `/s/${space}/~/changes/${number}${view === "edit" ? "" : `/~/${view}`}${below(path)}`;
  },
};

/** Parse the path of a URL. */
export function readAddress(pathname: string): Place {
  let parts: string[];
  try {
    parts = pathname.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    return { screen: "nowhere" };
  }
  const [kind, id, ...rest] = parts;
  if (!kind) return { screen: "work" };
  if (kind === "~" && id === "inbox") return { screen: "inbox" };
  if (kind === "~" && id === "account") return { screen: "account", view: rest[0] ?? "" };
  if (kind === "~" && id === "installation") return { screen: "installation", view: rest[0] ?? "" };
  if (kind === "~" && id === "first") return { screen: "first" };
  // GitHub and GitLab redirect to it after a sign-in.
  if (kind === "~" && id === "git" && rest[0] === "authorized") return { screen: "git-authorized" };
  // The URL contains the organization, because an integration can be installed in several.
  if (kind === "~" && id === "integrations") {
    return { screen: "organization", organization: "", view: id, rest };
  }
  if (kind === "c" && id) {
    return { screen: "collection", collection: id, view: rest[0] === "~" ? rest[1] ?? "" : "" };
  }
  if (kind === "o" && id) {
    if (rest[0] === "sites" && rest[1]) {
      return { screen: "site", organization: id, site: rest[1], view: rest[2] === "~" ? rest[3] ?? "" : "" };
    }
    const [view = "", ...more] = rest[0] === "~" ? rest.slice(1) : [];
    return { screen: "organization", organization: id, view, rest: more };
  }
  if (kind === "s" && id) return readSpace(id, rest);
  return { screen: "nowhere" };
}

/** Return the section of the settings for a view of an organization, and its parameter. Tasks belong to
 * conversations. */
export function readSettings(view: string, rest: string[]): [SettingsSection, string[]] | undefined {
  const [named = "general", ...below] = view === "settings" ? rest : [view, ...rest];
  if (named === "tasks") return ["conversations", ["tasks", ...below]];
  return SETTINGS.some((one) => one === named) && !(named === "general" && view !== "settings")
    ? [named as SettingsSection, below]
    : undefined;
}

/** Return the object whose history is shown at a URL below `history`, and the revisions. */
export function readHistory(rest: string[]): { page?: string; revisions: string[] } {
  return rest[0] === "page" && rest[1] ? { page: rest[1], revisions: rest.slice(2) } : { revisions: rest };
}

function readSpace(space: string, rest: string[]): Place {
  if (rest[0] !== "~") return { screen: "page", space, base: MAIN, path: rest.join("/") };
  const [view = "", which = "", ...path] = rest.slice(1);
  if (view === "edit") {
    return { screen: "page", space, base: EDITED_MAIN, path: rest.slice(2).join("/") };
  }
  const number = Number(which);
  if (view === "changes" && Number.isSafeInteger(number) && number > 0) {
    const named = path[0] === "~" && CHANGE_VIEWS.find((one) => one === path[1]);
    if (named && named !== "edit") {
      return { screen: "change", space, number, view: named, path: path.slice(2).join("/") };
    }
    return { screen: "page", space, base: { kind: "change", number }, path: path.join("/") };
  }
  if (view === "revisions" && which) {
    return { screen: "page", space, base: { kind: "revision", id: which }, path: path.join("/") };
  }
  return { screen: "space", space, view, rest: which ? [which, ...path] : [] };
}
