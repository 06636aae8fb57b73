import { expect, test } from "vitest";
import { ApiError } from "../../shared/client.ts";
import { type Receiver, sendParts } from "./sending.ts";

const SIZE = 20 * 1024 * 1024;

/** Receives a file, and fails as specified. Each entry contains a status, and the number of bytes that were received
 * anyway. */
function receiving(failures: Record<number, [status: number, bytes: number]> = {}) {
  let sent = 0;
  const there = { came: 0, size: SIZE };
  const to: Receiver = {
    ask: () => Promise.resolve({ came: there.came, complete: there.came === there.size }),
    send(part, from) {
      expect(from).toBe(there.came);
      const failure = failures[sent++];
      there.came += failure ? failure[1] : part.size;
      return failure
        ? Promise.reject(new ApiError(failure[0], "It failed."))
        : Promise.resolve(there.came === there.size);
    },
  };
  return { there, to, times: () => sent };
}

test("a file is sent in parts", async () => {
  const { there, to, times } = receiving();
  await sendParts(new Blob([new Uint8Array(SIZE)]), to);
  expect([there.came, times()]).toEqual([SIZE, 3]);
});

test("an interrupted upload continues where it stopped", async () => {
  const { there, to } = receiving({ 0: [0, 1000], 1: [502, 0], 3: [0, 7], 4: [409, 0] });
  const waited: number[] = [];
  const wait = (milliseconds: number) => (waited.push(milliseconds), Promise.resolve());
  await sendParts(new Blob([new Uint8Array(SIZE)]), to, () => {}, wait);
  expect(there.came).toBe(SIZE);
  expect(waited).toEqual([1_000, 2_000, 1_000, 2_000]);
});

test("the response to the last part can get lost", async () => {
  const { to, times } = receiving({ 2: [0, 4 * 1024 * 1024] });
  await sendParts(new Blob([new Uint8Array(SIZE)]), to, () => {}, () => Promise.resolve());
  expect(times()).toBe(3);
});

test("refused uploads are not retried, and no upload is retried forever", async () => {
  const file = new Blob([new Uint8Array(SIZE)]);
  const refused = receiving({ 1: [404, 0] });
  await expect(sendParts(file, refused.to, () => {}, () => Promise.resolve())).rejects.toThrow("It failed.");
  expect(refused.times()).toBe(2);
  const gone = receiving(Object.fromEntries(Array.from({ length: 20 }, (_, n) => [n, [0, 0]])));
  await expect(sendParts(file, gone.to, () => {}, () => Promise.resolve())).rejects.toThrow("It failed.");
  expect(gone.times()).toBe(6);
});
