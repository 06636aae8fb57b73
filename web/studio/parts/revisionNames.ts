/** The names of revisions in lists. */
import type { Schemas } from "../../shared/client.ts";
import { n, t } from "../../shared/words.ts";

export function nameOf(one: Schemas["RevisionItem"]): string {
  const { mergedFrom, message, pages = 1, pageTitle } = one;
  if (mergedFrom) {
    return t("mergedNumberSubject", {
      number: mergedFrom.number,
      subject: mergedFrom.subject || t("noSubject"),
    });
  }
  const said = message?.split("\n")[0];
  if (said) return said;
  if (one.type === "edits" && pageTitle) {
    return pages > 1
      ? n("editedTitleAndMore", pages - 1, { title: pageTitle })
      : t("editedTitle", { title: pageTitle });
  }
  return {
    edits: t("edits"),
    merge: t("merge"),
    rollback: t("rolledBack"),
    update: t("update"),
    computed: t("computed"),
  }[one.type];
}
