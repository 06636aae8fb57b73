import { n, t } from "../../../shared/words.ts";
import { type ImportRun, problemsOf, sourceOf } from "../../state/importing.ts";

export const sayProblems = (run: ImportRun): string => {
  const count = problemsOf(run).length;
  return count ? n("noteCount", count) : t("noNotes");
};

/** Where a run reads from: the host of a website or API, what the command imported, or how many files. */
export function saySource(run: ImportRun): string {
  const source = sourceOf(run);
  if (source.name) return source.name;
  if (!source.url) {
    return n("fileCount", source.files?.length ?? 1);
  }
  return URL.canParse(source.url ?? "") ? new URL(source.url!).host : source.url ?? t("website");
}
