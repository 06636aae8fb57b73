/** Creates objects from any screen: spaces, which are named afterward, collections, sites, and questions. */
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
  /** The collection in which to create it. */
  parent?: string;
}

/** Create a space, open it, and return its id. */
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

/** Open the import of a space, or of a new space. */
export async function importDocs(space?: string): Promise<void> {
  const to = space ?? await createSpace();
  if (to) await router.go(address.space(to, "import"));
}

/** Create a collection and open its settings, where it gets its name. */
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

/** Open the dialog that creates a site, with these spaces selected. */
export function createSite(spaces: string[] = []): void {
  const organization = session.organization?.id;
  if (organization) frame.open(() => import("./SiteDialog.svelte"), { organization, chosen: spaces });
}

/** Open the dialog that answers questions from an organization's pages. */
export function askAbout(organization: string, question = ""): void {
  frame.open(() => import("./AskDialog.svelte"), { organization, question });
}
