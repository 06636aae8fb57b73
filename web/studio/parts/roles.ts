/** The roles of people, lowest first: API names and labels. */
import { t } from "../../shared/words.ts";

export type Role = "admin" | "comment" | "create" | "edit" | "read" | "review";

export const ROLES: [Role, string, string][] = [
  ["read", t("reader"), t("canRead")],
  ["comment", t("commenter"), t("canReadAndComment")],
  ["edit", t("editor"), t("canEditInChangeRequests")],
  ["review", t("reviewer"), t("canAlsoReviewAndMerge")],
  ["create", t("creator"), t("canAlsoCreateSpaces")],
  ["admin", t("administrator"), t("canAlsoManagePeople")],
];

/** The roles on a site, where they apply to the site itself and not to its spaces. */
export const SITE_ROLES: typeof ROLES = ROLES.map(([role, text], at) => [
  role,
  text,
  [t("canSeeSiteAndInsights"), t("canAlsoEditSiteDrafts"), t("canAlsoManageSite")][Math.floor(at / 2)]!,
]);
export const GUEST = t("guest");

export const roleName = (role: string | null | undefined): string =>
  ROLES.find(([name]) => name === role)?.[1] ?? GUEST;

/** The roles as options of fields, with guests at the end. */
export const ROLE_OPTIONS: [string, string][] = [
  ...ROLES.map(([name, text]): [string, string] => [name, text]),
  ["", GUEST],
];
/** Return what people with a role can do, in one line. */
export const roleNote = (value: string): string =>
  ROLES.find(([name]) => name === value)?.[2] ?? t("guestsSeeOnlySpacesTheyre");
export const roleOf = (value: string): Role | null => (value || null) as Role | null;
