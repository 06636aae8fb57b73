/** Actions of the palette that every screen offers. */
import { t } from "../../shared/words.ts";
import { frame } from "../state/frame.svelte.ts";
import type { Action } from "../state/keys.ts";
import { session } from "../state/session.svelte.ts";
import { themes } from "../state/theme.svelte.ts";

const creating = () => import("./creating.ts");

/** Return the actions. `space`: the displayed space. */
export function appActions(space: string | undefined): Action[] {
  const organization = session.organization?.id;
  return [
    {
      text: themes.isDark ? t("lightTheme") : t("darkTheme"),
      icon: themes.isDark ? "sun" : "moon",
      run: () => themes.choose(themes.isDark ? "light" : "dark"),
    },
    { text: t("newSpace"), icon: "plus", run: () => creating().then((it) => it.createSpace()) },
    { text: t("newCollection"), icon: "folder", run: () => creating().then((it) => it.createCollection()) },
    { text: t("newSite"), icon: "globe", run: () => creating().then((it) => it.createSite()) },
    {
      text: t("startFromTemplate"),
      icon: "template",
      run: () => frame.open(() => import("./TemplateDialog.svelte"), {}),
    },
    { text: t("importDocs"), icon: "file-import", run: () => creating().then((it) => it.importDocs(space)) },
    ...(organization
      ? [{
        text: t("askDocumentation"),
        icon: "question" as const,
        run: () => creating().then((it) => it.askAbout(organization)),
      }]
      : []),
  ];
}
