import { t } from "../../shared/words.ts";

/** Copy text to the clipboard. Without TLS, or if access is denied, browsers have only the old API, which copies
 * selected text. That text is placed in the open dialog, because nothing outside the dialog can be selected. */
export async function copyText(text: string): Promise<void> {
  try {
    return await navigator.clipboard.writeText(text);
  } catch {
    const box = document.createElement("textarea");
    box.value = text;
    box.className = "hidden-text";
    const focused = document.activeElement;
    (focused?.closest("dialog") ?? document.body).append(box);
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    if (focused instanceof HTMLElement) focused.focus();
    if (!done) throw new Error(t("thisBrowserDoesntAllowCopying"));
  }
}
