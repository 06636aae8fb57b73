import { n, t } from "../../../shared/words.ts";
import { type ImportRun, problemsOf, sourceOf } from "../../state/importing.ts";

export const sayProblems = (run: ImportRun): string => {
  const count = problemsOf(run).length;
  return count ? n("noteCount", count) : t("noNotes");
};

/** Return the source of an import: the host of a website or API, the source of `octavo import`, or the number of files. */
export function saySource(run: ImportRun): string {
  const source = sourceOf(run);
  if (source.name) return source.name;
  if (!source.url) {
    return n("fileCount", source.files?.length ?? 1);
  }
  return URL.canParse(source.url ?? "") ? new URL(source.url!).host : source.url ?? t("website");
}
