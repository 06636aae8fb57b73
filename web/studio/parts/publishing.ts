/** Publishes a space. */
import type { Schemas } from "../../shared/client.ts";
import { address } from "../addresses.ts";
import { router } from "../state/router.svelte.ts";
import { session } from "../state/session.svelte.ts";

/** Return the action that publishes a space for someone who can: open its unpublished site, or create one. */
export function publishing(space: Schemas["Space"], site: string | undefined): (() => void) | undefined {
  if (!space.permissions.admin) return;
  if (site) return () => void router.go(address.site(space.organization, site));
  return session.organization?.permissions.createContent
    ? () => void import("./creating.ts").then((it) => it.createSite([space.id]))
    : undefined;
}
