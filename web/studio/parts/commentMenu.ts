/** The actions for a comment or a reply. */
import type { Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { frame } from "../state/frame.svelte.ts";
import { notices } from "../state/notices.svelte.ts";
import type { Talk } from "../state/threads.ts";
import { copyText } from "./copying.ts";
import type { MenuEntry } from "./Menu.svelte";

interface About {
  talk: Talk;
  /** The ID of the thread. */
  thread: string;
  /** The comment or reply. `replies`: the number of replies that are deleted with it. */
  said: Schemas["Comment"] | Schemas["CommentReply"];
  replies?: number;
  edit: () => unknown;
}

export function commentMenu({ talk, thread, said, replies, edit }: About): MenuEntry[] {
  const reply = said.id === thread ? undefined : said.id;
  const entries: MenuEntry[] = [
    {
      text: t("copyLink"),
      icon: "link",
      run: () =>
        copyText(said.urls.app).then(
          () => notices.say(t("linkCopied")),
          notices.fail,
        ),
    },
  ];
  if (said.permissions.edit) entries.push({ text: t("editText"), icon: "edit", run: edit });
  if (said.permissions.delete) {
    entries.push("line", {
      text: t("delete"),
      icon: "trash",
      danger: true,
      run: () =>
        frame.open(() => import("./Confirm.svelte"), {
          title: reply ? t("deleteThisReply") : t("deleteThisThread"),
          text: replies ? t("threadAndAllItsReplies") : t("itsDeletedForEveryone"),
          verb: t("delete"),
          run: () => talk.remove(thread, reply),
        }),
    });
  }
  return entries;
}
