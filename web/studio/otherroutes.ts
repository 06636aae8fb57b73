/** The screens that most people open less often than pages, by URL. */
import type { Component } from "svelte";
import { type Place, readSettings } from "./addresses.ts";

// deno-lint-ignore no-explicit-any -- each screen takes the parameters of its own URL
type Load = () => Promise<{ default: Component<any> }>;

const nowhere: Load = () => import("./screens/NotFoundScreen.svelte");
const changes: Load = () => import("./screens/ChangesScreen.svelte");

const work: Load = () => import("./screens/WorkScreen.svelte");

const ORGANIZATION: Record<string, Load> = {
  "": work,
  changes,
  members: () => import("./screens/MembersScreen.svelte"),
  integrations: () => import("./screens/IntegrationsScreen.svelte"),
};
const settings: Load = () => import("./screens/SettingsScreen.svelte");

const SPACE: Record<string, Load> = {
  changes,
  history: () => import("./screens/HistoryScreen.svelte"),
  comments: () => import("./screens/CommentsScreen.svelte"),
  files: () => import("./screens/FilesScreen.svelte"),
  reusable: () => import("./screens/ReusableScreen.svelte"),
  tags: () => import("./screens/TagsScreen.svelte"),
  variables: () => import("./screens/VariablesScreen.svelte"),
  links: () => import("./screens/LinksScreen.svelte"),
  import: () => import("./screens/ImportScreen.svelte"),
  settings: () => import("./screens/SpaceSettingsScreen.svelte"),
};

export function otherScreenOf(place: Place): Load {
  switch (place.screen) {
    case "work":
      return work;
    case "change":
      if (place.view === "review") return () => import("./screens/ReviewScreen.svelte");
      if (place.view === "preview") return () => import("./screens/PreviewScreen.svelte");
      if (place.view === "conflicts") return () => import("./screens/ConflictsScreen.svelte");
      return () => import("./screens/DiscussionScreen.svelte");
    case "collection":
      return () => import("./screens/CollectionScreen.svelte");
    case "account":
      return () => import("./screens/AccountScreen.svelte");
    case "installation":
      return () => import("./screens/InstallationScreen.svelte");
    case "inbox":
      return () => import("./screens/InboxScreen.svelte");
    case "site":
      return () => import("./screens/SiteScreen.svelte");
    case "first":
      return () => import("./screens/FirstSignIn.svelte");
    case "git-authorized":
      return () => import("./screens/git/Authorized.svelte");
    case "organization":
      return readSettings(place.view, place.rest) ? settings : ORGANIZATION[place.view] ?? nowhere;
    case "space":
      return SPACE[place.view] ?? nowhere;
    default:
      return nowhere;
  }
}
