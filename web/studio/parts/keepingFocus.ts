/** Keeps the focus for keyboard users when controls disappear. */

/** Move the focus from the button of a form to its field, because the button exists only while the field contains
 * text. */
export function focusField(event: Event): void {
  const form = (event.target as Element).closest("form");
  if (form?.querySelector("button:focus-visible")) {
    form.querySelector<HTMLElement>("input, textarea")?.focus();
  }
}

/** Run a function that can remove the thread of the pressed button. Then focus the next thread, or else the screen. */
export async function leaveThread(event: MouseEvent, run: () => unknown): Promise<void> {
  const threads = [...document.querySelectorAll<HTMLElement>('article[id^="thread-"]')];
  const at = threads.findIndex((one) => one.contains(event.currentTarget as Element));
  await run();
  // A click of a pointer has a count.
  if (event.detail || document.activeElement !== document.body) return;
  (threads[at + 1] ?? threads[at - 1] ?? document.getElementById("main"))?.focus();
}
