import { t } from "../../shared/words.ts";

/**
 * Puts a text on the clipboard. At an address without TLS, and where the clipboard is refused, browsers have only the old
 * way; the text lies in the dialog that is open, since nothing outside it can be selected.
 */
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
