/** Uploads files in parts, so that an interrupted upload can continue. */
import { ApiError, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { generateStorageUploadURL } from "../api/imports.ts";

const PART = 8 * 1024 * 1024;
/** The number of milliseconds before asking the server for its progress, which increases with each consecutive
 * failure. */
const PAUSES = [1_000, 2_000, 5_000, 10_000, 30_000];

/** A URL that receives one file. */
export interface Receiver {
  /** Return the number of bytes received, and whether that is the whole file. */
  ask(): Promise<{ came: number; complete: boolean }>;
  /** Send the bytes after an offset. Returns whether the file is complete. Throws `ApiError`. */
  send(part: Blob, from: number, onprogress: (bytes: number) => void): Promise<boolean>;
}

const pause = (milliseconds: number) => new Promise<void>((done) => setTimeout(done, milliseconds));
const mayPass = (status: number) => [0, 408, 409, 429].includes(status) || status >= 500;

/** Upload a file, retrying after connection failures. `onprogress`: called with the proportion sent, from 0 to 1. */
export async function sendParts(
  file: Blob,
  to: Receiver,
  onprogress: (part: number) => void = () => {},
  wait = pause,
): Promise<void> {
  let from = 0;
  let failures = 0;
  for (;;) {
    try {
      if (failures) {
        const there = await to.ask();
        if (there.complete) return;
        from = there.came;
      }
      const part = file.slice(from, from + PART);
      const complete = await to.send(part, from, (bytes) => onprogress((from + bytes) / (file.size || 1)));
      if (complete) return;
      if (!part.size) throw new ApiError(502, t("serverDidntReturnFileLocation"));
      from += part.size;
      failures = 0;
    } catch (problem) {
      const again = problem instanceof ApiError && mayPass(problem.status) && PAUSES[failures];
      if (!again) throw problem;
      failures += 1;
      await wait(again);
    }
  }
}

function receiver(url: string, name: string): Receiver {
  const { pathname } = new URL(url);
  const refused = (status: number) => new ApiError(status, t("couldntBeUploaded", { name }));
  return {
    async ask() {
      const answer = await fetch(pathname, { method: "HEAD" }).catch(() => undefined);
      if (!answer?.ok) throw refused(answer?.status ?? 0);
      return {
        came: Number(answer.headers.get("upload-offset")),
        complete: answer.headers.get("upload-complete") === "?1",
      };
    },
    // `fetch` doesn't report upload progress.
    send: (part, from, onprogress) =>
      new Promise((done, fail) => {
        const request = new XMLHttpRequest();
        request.open("PATCH", pathname);
        request.setRequestHeader("Upload-Offset", String(from));
        request.setRequestHeader("Content-Type", "application/partial-upload");
        request.upload.onprogress = (event) => onprogress(event.loaded);
        request.onload = () =>
          request.status < 300
            ? done(request.getResponseHeader("upload-complete") === "?1")
            : fail(refused(request.status));
        request.onerror = () => fail(refused(0));
        request.send(part);
      }),
  };
}

/** Upload a file to an organization. Returns the key that identifies it. */
export async function sendFile(
  organization: string,
  file: File,
  kind: Schemas["NewUpload"]["kind"],
  onprogress?: (part: number) => void,
): Promise<string> {
  const signed = await generateStorageUploadURL({ organizationId: organization }, {
    kind,
    file: { name: file.name, type: file.type || "application/octet-stream", size: file.size },
  });
  await sendParts(file, receiver(signed.url, file.name), onprogress);
  return signed.key;
}
