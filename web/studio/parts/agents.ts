import { t } from "../../shared/words.ts";
import { address } from "../addresses.ts";
import { notices } from "../state/notices.svelte.ts";
import { changeOf } from "../state/pages.svelte.ts";
import { router } from "../state/router.svelte.ts";

const WORDS: Record<string, string> = {
  "docs:read": t("reads"),
  "docs:draft": t("draftsInline"),
  "docs:comment": t("commentsInline"),
  "docs:review": t("reviews"),
  "docs:gaps": t("viewsCommonQuestions"),
  "docs:merge": t("merges"),
};

/** Return the person who caused an event, with the app or agent that acted for them, if any. */
export const sayWho = (name: string, agent: string | undefined) =>
  agent ? t("nameViaAgent", { name, agent }) : name;

/** Return the permissions of an agent as text. For an app that uses the API, these are the names of its scopes. */
export const sayWork = (agent: { scopes: string[] }) =>
  agent.scopes.map((scope) => WORDS[scope] ?? scope).join(", ");

/** Say how many changes of an agent were undone. `revert`: a change request that reverts a merged one. */
export function sayUndone(undone: number, stays: number, revert?: { space: string; change: string }) {
  const review = ({ space, change }: { space: string; change: string }) =>
    notices.attempt(async () => {
      const { number } = await changeOf(space, change).refresh();
      await router.go(address.change(space, number, "review"));
    });
  notices.say(
    t("revertedAndUnchanged", { undone, stays }),
    // A merged change is undone by merging its reversal.
    revert ? { action: { text: t("review"), run: () => review(revert) } } : {},
  );
}
