/** The rule that says who can see a page. */
import type { Schemas } from "../../shared/client.ts";
import { getPageAccess } from "../api/content.ts";
import { resource } from "../state/resource.svelte.ts";
import { t } from "../../shared/words.ts";
import type { Picked } from "./PeoplePicker.svelte";
import { type Role, roleName } from "./roles.ts";

export type Grant = NonNullable<Schemas["DocumentPage"]["visibleTo"]>[number];
export type NamedGrant = Extract<Grant, { kind: "user" | "team" }>;
export type Level = NamedGrant["level"];

export const accessOf = (spaceId: string, pageId: string) =>
  resource(`space/${spaceId}/page/${pageId}/access`, () => getPageAccess({ spaceId, pageId }));

export const isNamed = (grant: Grant): grant is NamedGrant => grant.kind === "user" || grant.kind === "team";

export const levelNames = (): [Level, string][] =>
  (["read", "comment", "edit"] satisfies Role[]).map((level) => [level, roleName(level)]);

/** Return a grant as text. The names of people and teams are in the dialog. */
export function sayGrant(grant: Grant): string {
  if (grant.kind === "administrators") return roleName("admin");
  const who = grant.kind === "role" ? roleName(grant.role) : grant.kind === "user" ? t("person") : t("team");
  return `${who} (${roleName(grant.level)})`;
}

/** Return the rule for these people and teams. Access by role stays as it was before. */
export function sentGrants(
  chosen: readonly Picked[],
  levels: Readonly<Record<string, Level>>,
  before: readonly Grant[],
): Grant[] {
  const named = chosen.map(({ kind, id }): Grant => {
    const level = levels[id] ?? "read";
    return kind === "user" ? { kind, user: id, level } : { kind, team: id, level };
  });
  const all = [...named, ...before.filter((one) => one.kind === "role")];
  return all.length ? all : [{ kind: "administrators" }];
}
