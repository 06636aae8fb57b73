import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { fetchTogether, forgetResponses, listenToResponses } from "./batching.ts";

const ORIGIN = "http://localhost";
const read = (path: string, init: RequestInit = {}) =>
  fetchTogether(new Request(`${ORIGIN}/v1${path}`, init));
const sent = vi.fn<(request: Request | string, init?: RequestInit) => Promise<Response>>();
const lines = (...parts: [head: object, body: unknown][]) =>
  new Response(
    parts.map(([head, body]) =>
      `${JSON.stringify(head)}\n${body === undefined ? "" : JSON.stringify(body)}\n`
    )
      .join(""),
  );
const partsOf = (call: number) => JSON.parse(String(sent.mock.calls[call]![1]!.body)).parts;

beforeEach(() => vi.stubGlobal("fetch", sent));
afterEach(() => {
  sent.mockReset();
  forgetResponses();
  listenToResponses({ keep: () => {}, find: () => Promise.resolve(undefined) });
});

test("reads of one task are one request, and each gets its own answer", async () => {
  sent.mockResolvedValueOnce(lines(
    [{ status: 200, etag: "a" }, { id: 1 }],
    [{ status: 404 }, { error: { message: "No" } }],
    [{ status: 429, retryAfter: "7" }, {}],
  ));
  const [one, two, three] = await Promise.all([read("/user"), read("/spaces/x?a=1"), read("/orgs")]);
  expect(sent).toHaveBeenCalledTimes(1);
  expect(partsOf(0).map(({ path }: { path: string }) => path)).toEqual(["/user", "/spaces/x?a=1", "/orgs"]);
  expect([one!.status, await one!.json()]).toEqual([200, { id: 1 }]);
  expect(two!.status).toBe(404);
  expect(three!.headers.get("retry-after")).toBe("7");
});

test("one read and changes are sent by themselves", async () => {
  sent.mockImplementation(() => Promise.resolve(new Response("{}")));
  await read("/user");
  await Promise.all([read("/user", { method: "PUT" }), read("/orgs", { method: "POST" })]);
  expect(sent.mock.calls.map(([request]) => (request as Request).method)).toEqual(["GET", "PUT", "POST"]);
});

test("known responses aren't sent again", async () => {
  sent.mockResolvedValueOnce(lines([{ etag: "a" }, { id: 1 }], [{ etag: "b" }, {}]));
  await Promise.all([read("/user"), read("/orgs")]);
  sent.mockResolvedValueOnce(lines([{ status: 304, etag: "a" }, undefined], [{ etag: "c" }, { n: 2 }]));
  const [one, two] = await Promise.all([read("/user"), read("/orgs")]);
  expect(partsOf(1).map(({ etag }: { etag: string }) => etag)).toEqual(["a", "b"]);
  expect([await one!.json(), await two!.json()]).toEqual([{ id: 1 }, { n: 2 }]);
});

test("parts that the server doesn't answer are requested alone", async () => {
  sent.mockResolvedValueOnce(lines([{ alone: true }, undefined], [{}, { id: 2 }]));
  sent.mockResolvedValueOnce(new Response("[1]"));
  const [one, two] = await Promise.all([read("/spaces/x/archive"), read("/orgs")]);
  expect([await one!.json(), await two!.json()]).toEqual([[1], { id: 2 }]);
});

test("a server without batches gets each read alone", async () => {
  sent.mockResolvedValueOnce(new Response("", { status: 404 }));
  sent.mockImplementation(() => Promise.resolve(new Response("1")));
  const found = await Promise.all([read("/user"), read("/orgs")]);
  expect(found.map(({ status }) => status)).toEqual([200, 200]);
});

test("a server in trouble isn't asked for each part", async () => {
  const refused = { status: 503, headers: { "retry-after": "5" } };
  sent.mockResolvedValueOnce(new Response('{"error":{}}', refused));
  const found = await Promise.all([read("/user"), read("/orgs")]);
  expect(sent).toHaveBeenCalledTimes(1);
  expect(found.map((one) => [one.status, one.headers.get("retry-after")])).toEqual([[503, "5"], [503, "5"]]);
});

test("without a connection, kept responses are found", async () => {
  const find = (path: string) => Promise.resolve(path === "/user" ? '{"id":1}' : undefined);
  listenToResponses({ keep: () => {}, find });
  sent.mockImplementation(() => Promise.reject(new TypeError("offline")));
  const [one, two] = await Promise.allSettled([read("/user"), read("/orgs")]);
  expect(one).toMatchObject({ status: "fulfilled" });
  expect(two).toMatchObject({ status: "rejected" });
  expect(await (await read("/user")).json()).toEqual({ id: 1 });
});
