import type { Schemas } from "../../../shared/client.ts";
import { n, t } from "../../../shared/words.ts";

type Run = Pick<Schemas["ImportRun"], "source" | "problems">;
/** Something of a source that could not be taken as it is; a line of 0 means the whole file. */
export interface ImportProblem {
  path: string;
  line: number;
  code: string;
  message: string;
}

export const problemsOf = (run: Run) => (run.problems ?? []) as ImportProblem[];

export const sayProblems = (run: Run): string => {
  const count = problemsOf(run).length;
  return count ? n("{count} note", "{count} notes", count) : t("No notes");
};

/** Where a run reads from: the host of a website, or how many files. */
export function saySource(run: Run): string {
  const source = run.source as { type?: string; url?: string; files?: string[] };
  if (source.type !== "website") {
    return n("{count} file", "{count} files", source.files?.length ?? 1);
  }
  return URL.canParse(source.url ?? "") ? new URL(source.url!).host : source.url ?? t("A website");
}
