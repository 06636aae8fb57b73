/** PDFs of spaces and change requests. */

/** Open a PDF in a new window. The server creates the PDF when its URL is opened, which takes a moment. */
export async function openPdf(link: Promise<{ url: string }>): Promise<void> {
  const anchor = document.createElement("a");
  Object.assign(anchor, { href: (await link).url, target: "_blank", rel: "noopener" });
  anchor.click();
}
