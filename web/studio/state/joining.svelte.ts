/** Organizations that the person can join because of the domain of their email address. */
import type { Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { address } from "../addresses.ts";
import { getOrganizationsForEmailDomain, joinOrganization } from "../api/organizations.ts";
import { notices } from "./notices.svelte.ts";
import { router } from "./router.svelte.ts";
import { session } from "./session.svelte.ts";

class Joining {
  open = $state.raw<Schemas["Organization"][]>([]);
  #asked = false;

  /** Load the organizations, once. */
  async find(): Promise<void> {
    const domain = session.user.value?.email?.split("@")[1];
    if (this.#asked || !domain) return;
    this.#asked = true;
    try {
      const found = await getOrganizationsForEmailDomain({ emailDomain: domain });
      const own = new Set(session.organizations.value?.items.map(({ id }) => id));
      this.open = found.organizations.filter(({ id }) => !own.has(id));
    } catch {
      this.#asked = false;
    }
  }

  async join(one: Schemas["Organization"]): Promise<void> {
    await notices.attempt(async () => {
      await joinOrganization({ organizationId: one.id });
      this.open = this.open.filter(({ id }) => id !== one.id);
      await session.organizations.refresh({ force: true });
      session.choose(one.id);
      notices.say(t("youJoinedTitle", { title: one.title }));
      await router.go(address.work);
    });
  }
}

export const joining = new Joining();
