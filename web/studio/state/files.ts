import { t } from "../../shared/words.ts";

/** The text of a file that somebody chose. A browser refuses one that was changed or moved since. */
export async function readText(file: File): Promise<string> {
  try {
    return await file.text();
  } catch {
    throw new Error(t("hasBeenChangedOrMoved", { name: file.name }));
  }
}
