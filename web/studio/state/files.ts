import { t } from "../../shared/words.ts";

/** Return the text of a selected file. Browsers can't read files that were changed or moved after they were
 * selected. */
export async function readText(file: File): Promise<string> {
  try {
    return await file.text();
  } catch {
    throw new Error(t("hasBeenChangedOrMoved", { name: file.name }));
  }
}
