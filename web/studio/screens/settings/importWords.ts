import { n, t } from "../../../shared/words.ts";
import { type ImportRun, problemsOf, sourceOf } from "../../state/importing.ts";

export const sayProblems = (run: ImportRun): string => {
  const count = problemsOf(run).length;
  return count ? n("{count} note", "{count} notes", count) : t("No notes");
};

/** Where a run reads from: the host of a website, what the command imported, or how many files. */
export function saySource(run: ImportRun): string {
  const source = sourceOf(run);
  if (source.name) return source.name;
  if (source.type !== "website") {
    return n("{count} file", "{count} files", source.files?.length ?? 1);
  }
  return URL.canParse(source.url ?? "") ? new URL(source.url!).host : source.url ?? t("A website");
}
