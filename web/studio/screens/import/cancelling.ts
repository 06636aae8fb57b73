import { api, ask } from "../../../shared/client.ts";
import { t } from "../../../shared/words.ts";
import { importOf } from "../../state/importing.ts";
import { notices } from "../../state/notices.svelte.ts";

/** Stops a run; nothing of it comes into the space. */
export async function cancel(organization: string, run: string): Promise<void> {
  try {
    await ask(api.POST("/org/{organizationId}/imports/{importRunId}/cancel", {
      params: { path: { organizationId: organization, importRunId: run } },
    }));
    notices.say(t("importCanceledSpaceWasntChanged"));
  } catch (problem) {
    notices.fail(problem);
  }
  await importOf(organization, run).refresh({ force: true }).catch(() => {});
}
