/** The names of revisions in lists. */
import type { Schemas } from "../../shared/client.ts";
import { formatNames, n, t } from "../../shared/words.ts";
import { sayWho } from "./agents.ts";

/** Return the people whose work the revisions contain: for each revision, its author first, then everyone else who
 * contributed. */
export function peopleOf(...revisions: Schemas["RevisionItem"][]): Schemas["User"][] {
  const people = revisions.flatMap(({ author, contributors = [] }) =>
    author ? [author, ...contributors] : contributors
  );
  return [...new Map(people.map((person) => [person.id, person])).values()];
}

/** Return the names of these people. `short`: only their first names. */
export function namePeople(revisions: Schemas["RevisionItem"][], short = false): string {
  const names = new Map<string, string>();
  for (const one of revisions) {
    for (const person of peopleOf(one)) {
      const name = short ? person.displayName.split(" ")[0]! : person.displayName;
      const agent = person.id === one.author?.id ? one.agent : undefined;
      names.set(`${person.id} ${agent ?? ""}`, sayWho(name, agent));
    }
  }
  return formatNames([...names.values()]) || t("server");
}

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
