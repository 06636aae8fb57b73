/** The rule that determines who can see a page. */
import type { Schemas } from "../../shared/client.ts";
import { getPageAccess, listPeopleWithPageAccess } from "../api/content.ts";
import { resource } from "../state/resource.svelte.ts";
import { t } from "../../shared/words.ts";
import type { Picked } from "./PeoplePicker.svelte";
import { type Role, roleName, ROLES } from "./roles.ts";

export type Grant = NonNullable<Schemas["DocumentPage"]["visibleTo"]>[number];
export type NamedGrant = Exclude<Grant, { kind: "administrators" | "sites" }>;
export type Level = NamedGrant["level"];

export const accessOf = (spaceId: string, pageId: string) =>
  resource(`space/${spaceId}/page/${pageId}/access`, () => getPageAccess({ spaceId, pageId }));

export const peopleAt = (spaceId: string, pageId: string) =>
  resource(
    `space/${spaceId}/page/${pageId}/access/people`,
    () => listPeopleWithPageAccess({ spaceId, pageId }, { limit: 100 }),
  );

export const isNamed = (grant: Grant): grant is NamedGrant =>
  grant.kind !== "administrators" && grant.kind !== "sites";

/** Return the ID of the person or team, or the role. */
export const idOf = (grant: NamedGrant): string =>
  grant.kind === "user" ? grant.user : grant.kind === "team" ? grant.team : grant.role;

type Granted = Schemas["PageAccessGrant"];

/** Return a grant in the form in which the rules of a page list it. */
export const asGranted = (grant: Grant): Granted =>
  isNamed(grant) ? { kind: grant.kind, id: idOf(grant), level: grant.level } : { kind: grant.kind };

/** Return a text that is the same for the same grants. */
export const sayGrants = (grants: readonly Granted[]): string =>
  grants.map(({ kind, id = "", level = "" }) => `${kind} ${id} ${level}`).sort().join();

const pickedRole = (role: string): Picked => ({
  kind: "role",
  id: role,
  title: t("roleOrHigher", { role: roleName(role) }),
});

/** Return the roles that a rule can name. Administrators of the space aren't among them, because they can see every
 * page. */
export const pickableRoles = (): Picked[] =>
  ROLES.flatMap(([role]) => role === "create" || role === "admin" ? [] : [pickedRole(role)]);

/** Return the subject of a grant. `name`: the name of the person or team, if it is known. */
export const pickedOf = (grant: NamedGrant, name: string | undefined): Picked =>
  grant.kind === "role"
    ? pickedRole(grant.role)
    : { kind: grant.kind, id: idOf(grant), title: name || t("formerPersonOrTeam") };

export const levelNames = (): [Level, string][] =>
  (["read", "comment", "edit"] satisfies Role[]).map((level) => [level, roleName(level)]);

/** Return a grant as text. The names of people and teams are only in the dialog. */
export function sayGrant(grant: Grant): string {
  if (grant.kind === "administrators") return roleName("admin");
  if (grant.kind === "sites") return t("sites");
  const who = grant.kind === "role" ? roleName(grant.role) : grant.kind === "user" ? t("person") : t("team");
  return `${who} (${roleName(grant.level)})`;
}

/** Return the rule for these people, teams, and roles. `onSites`: whether sites show the page. */
export function sentGrants(
  chosen: readonly Picked[],
  levels: Readonly<Record<string, Level>>,
  onSites: boolean,
): Grant[] {
  const named = chosen.map(({ kind, id }): Grant => {
    const level = levels[id] ?? "read";
    if (kind === "role") return { kind, role: id as Role, level };
    return kind === "user" ? { kind, user: id, level } : { kind, team: id, level };
  });
  const all: Grant[] = named.length ? named : [{ kind: "administrators" }];
  return onSites ? [...all, { kind: "sites" }] : all;
}
