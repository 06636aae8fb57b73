/** Files in changes of content. */
import type { Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { spaceOf } from "./session.svelte.ts";

/** The maximum size of a file that is sent within a change. */
const INLINE = 1024 * 1024;

/** Return a file for a change of content. Large files are uploaded first. */
export async function readBytes(space: string, file: File, name = file.name): Promise<Schemas["FileInput"]> {
  if (file.size > INLINE) {
    const [{ organization }, { sendFile }] = await Promise.all([
      spaceOf(space).refresh(),
      import("./sending.ts"),
    ]);
    return { name, upload: await sendFile(organization, file, "page_file") };
  }
  return { name, base64: await readBase64(file), contentType: file.type || "application/octet-stream" };
}

export async function readBase64(file: File): Promise<string> {
  const url = await new Promise<string>((done, fail) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result as string);
    reader.onerror = () => fail(new Error(t("couldntBeRead", { name: file.name })));
    reader.readAsDataURL(file);
  });
  return url.slice(url.indexOf(",") + 1);
}
