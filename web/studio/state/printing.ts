/** Prints of spaces and change requests. */

/** Opens a PDF in a window of its own: the server makes it when its address is opened, which takes a moment. */
export async function openPdf(link: Promise<{ url: string }>): Promise<void> {
  const anchor = document.createElement("a");
  Object.assign(anchor, { href: (await link).url, target: "_blank", rel: "noopener" });
  anchor.click();
}
