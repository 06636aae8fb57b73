import { t } from "../../shared/words.ts";

/** Puts a text on the clipboard, also at an address without TLS, where browsers offer only the old way. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return await navigator.clipboard.writeText(text);
  const box = document.createElement("textarea");
  box.value = text;
  box.className = "hidden-text";
  const focused = document.activeElement;
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  if (focused instanceof HTMLElement) focused.focus();
  if (!done) throw new Error(t("This browser does not let pages copy."));
}
