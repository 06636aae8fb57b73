import { t } from "../../../shared/words.ts";
import { cancelImportRun } from "../../api/imports.ts";
import { importOf } from "../../state/importing.ts";
import { notices } from "../../state/notices.svelte.ts";

/** Cancel an import. None of its content is added to the space. */
export async function cancel(organization: string, run: string): Promise<void> {
  await notices.attempt(async () => {
    await cancelImportRun({ organizationId: organization, importRunId: run });
    notices.say(t("importCanceledSpaceWasntChanged"));
  });
  await importOf(organization, run).refresh({ force: true }).catch(() => {});
}
