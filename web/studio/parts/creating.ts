/** What begins anywhere: spaces, which are there at once and are named afterwards, collections, sites, questions. */
import { t } from "../../shared/words.ts";
import { address } from "../addresses.ts";
import * as spaces from "../api/spaces.ts";
import { frame } from "../state/frame.svelte.ts";
import { notices } from "../state/notices.svelte.ts";
import { refresh } from "../state/resource.svelte.ts";
import { router } from "../state/router.svelte.ts";
import { session } from "../state/session.svelte.ts";

interface NewSpace {
  title?: string;
  template?: string;
  /** The collection that it is made in. */
  parent?: string;
}

/** Makes a space, opens it, and gives its id. */
export async function createSpace(
  { title = t("newSpace"), template, parent }: NewSpace = {},
): Promise<string | undefined> {
  const organization = session.organization;
  if (!organization) return;
  try {
    const made = await spaces.createSpace({ organizationId: organization.id }, {
      title,
      ...(template ? { template: { id: template } } : {}),
      ...(parent ? { parent } : {}),
    });
    refresh(`org/${organization.id}/spaces`);
    await router.go(address.space(made.id));
    return made.id;
  } catch (problem) {
    notices.fail(problem);
  }
}

/** Opens the import of a space; outside of one, of a new space. */
export async function importDocs(space?: string): Promise<void> {
  const to = space ?? await createSpace();
  if (to) await router.go(address.space(to, "import"));
}

/** Makes a collection and opens its settings, where it gets its name. */
export async function createCollection({ parent }: { parent?: string } = {}): Promise<void> {
  const organization = session.organization;
  if (!organization) return;
  await notices.attempt(async () => {
    const made = await spaces.createCollection({ organizationId: organization.id }, {
      title: t("newCollection"),
      ...(parent ? { parent } : {}),
    });
    refresh(`org/${organization.id}/collections`);
    await router.go(address.collection(made.id, "settings"));
  });
}

/** Opens the dialog that makes a site, with these spaces chosen. */
export function createSite(spaces: string[] = []): void {
  const organization = session.organization?.id;
  if (organization) frame.open(() => import("./SiteDialog.svelte"), { organization, chosen: spaces });
}

/** Opens the dialog that answers questions out of an organization's pages. */
export function askAbout(organization: string, question = ""): void {
  frame.open(() => import("./AskDialog.svelte"), { organization, question });
}
