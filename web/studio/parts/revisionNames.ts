/** The names of revisions in lists. */
import type { Schemas } from "../../shared/client.ts";
import { formatNames, n, t } from "../../shared/words.ts";
import { sayWho } from "./agents.ts";

/** Return the people whose work a revision contains: its author first, then everyone else who wrote it. */
export function peopleOf({ author, contributors = [] }: Schemas["RevisionItem"]): Schemas["User"][] {
  return author ? [author, ...contributors.filter(({ id }) => id !== author.id)] : contributors;
}

/** Return the names of these people. `short`: only their first names. */
export function namePeople(one: Schemas["RevisionItem"], short = false): string {
  const nameOne = (person: Schemas["User"]): string => {
    const name = short ? person.displayName.split(" ")[0]! : person.displayName;
    return person.id === one.author?.id ? sayWho(name, one.agent) : name;
  };
  return formatNames(peopleOf(one).map(nameOne)) || t("server");
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
