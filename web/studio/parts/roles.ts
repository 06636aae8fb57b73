/** The roles of people, least first, as the API names them and as they are said. */
import { t } from "../../shared/words.ts";

export type Role = "admin" | "comment" | "create" | "edit" | "read" | "review";

export const ROLES: [Role, string, string][] = [
  ["read", t("Reader"), t("Reads")],
  ["comment", t("Commenter"), t("Reads and comments")],
  ["edit", t("Editor"), t("Writes in change requests")],
  ["review", t("Reviewer"), t("Also reviews and merges")],
  ["create", t("Creator"), t("Also makes spaces and sites")],
  ["admin", t("Administrator"), t("Also manages people and settings")],
];
export const GUEST = t("Guest");

export const roleName = (role: string | null | undefined): string =>
  ROLES.find(([name]) => name === role)?.[1] ?? GUEST;

/** For fields: the roles, and guests at the end. */
export const ROLE_OPTIONS: [string, string][] = [
  ...ROLES.map(([name, text]): [string, string] => [name, text]),
  ["", GUEST],
];
export const roleOf = (value: string): Role | null => (value || null) as Role | null;
