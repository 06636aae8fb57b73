/** Stores recently opened pages for reading without a connection. They are stored for one person, and deleted when
 * that person signs out or another person signs in. When a connection is available, all of them are requested
 * again, and pages that the person can no longer see are deleted. */
import { forgetResponses, keptResponses, listenToResponses, readParts } from "../../shared/batching.ts";

const PAGES = "octavo-pages";
const OWNER = "octavo-pages-owner";
/** The maximum number of responses. The oldest are deleted. */
const MOST = 90;
/** The number of responses that are requested at a time. */
const PART = 30;

/** Responses that are needed to read a page: about the person and the space, the tree, and pages of main. */
const KEPT =
  /^\/(?:user$|user\/notifications\/counts$|installation\/notices$|orgs\?|orgs\/[^/]+\/(?:spaces|collections|sites)\?|spaces\/[^/?]+$|spaces\/[^/]+\/content\/(?:way|ways|children)\b|spaces\/[^/]+\/content\/(?:path|page)\/[^/?]+\?)/;

const isSupported = "caches" in globalThis;
let owner: string | undefined;
let work: Promise<unknown> = Promise.resolve();

/** Run changes of the stored pages one after another. */
function inTurn(change: (pages: Cache) => Promise<void>): void {
  work = work.then(async () => change(await caches.open(PAGES))).catch(() => {});
}

/** Delete all pages, because the person signs out. */
export async function forgetOffline(): Promise<void> {
  owner = undefined;
  localStorage.removeItem(OWNER);
  if (!isSupported) return;
  await work;
  await caches.delete(PAGES);
}

/** Store the pages that this person opens from now on. */
export async function keepFor(user: string): Promise<void> {
  if (!isSupported || owner === user) return;
  // Earlier responses may be another person's.
  if (owner) forgetResponses();
  if (localStorage.getItem(OWNER) !== user) await forgetOffline();
  localStorage.setItem(OWNER, user);
  const before = await listKept();
  owner = user;
  // The first responses arrived before the person was known.
  for (const [path, { etag, body }] of keptResponses()) void keep(path, 200, body, etag);
  if (navigator.onLine) void renew(before);
}

const addressOf = (path: string) => `/~offline${path}`;

async function keep(path: string, status: number, body: string, etag: string): Promise<void> {
  if (!owner || !KEPT.test(path)) return;
  if (status === 200) {
    inTurn(async (pages) => {
      await pages.delete(addressOf(path));
      await pages.put(addressOf(path), new Response(body, { headers: { etag } }));
      const all = await pages.keys();
      for (const old of all.slice(0, Math.max(0, all.length - MOST))) await pages.delete(old);
    });
  } else if (status === 401) await forgetOffline();
  else if (status === 403 || status === 404) {
    inTurn(async (pages) => void await pages.delete(addressOf(path)));
  }
}

interface Kept {
  path: string;
  etag: string;
}

async function listKept(): Promise<Kept[]> {
  const pages = await caches.open(PAGES);
  return await Promise.all((await pages.keys()).map(async (request) => {
    const { pathname, search } = new URL(request.url);
    const etag = (await pages.match(request))?.headers.get("etag") ?? "";
    return { path: pathname.slice(addressOf("").length) + search, etag };
  }));
}

/** Request everything again. If a request is rejected, its stored response is deleted. */
async function renew(known: Kept[]): Promise<void> {
  for (let at = 0; at < known.length; at += PART) {
    const parts = known.slice(at, at + PART);
    const found = await readParts(parts).catch(() => undefined);
    found?.forEach(({ head, body }, number) => {
      void keep(parts[number]!.path, head.status ?? 200, body, head.etag ?? "");
    });
  }
}

async function find(path: string): Promise<string | undefined> {
  if (!localStorage.getItem(OWNER)) return undefined;
  const found = await caches.match(addressOf(path), { cacheName: PAGES });
  return await found?.text();
}

/** Start storing pages, and finding them when the server can't be reached. Install the app's worker. */
export function startOffline(): void {
  if (!isSupported) return;
  listenToResponses({ keep, find });
  addEventListener("online", async () => {
    if (owner) await renew(await listKept());
  });
  if (!("serviceWorker" in navigator)) return;
  navigator.serviceWorker.register(workerAddress()).catch(() => {});
  navigator.serviceWorker.ready.then(({ active }) => {
    const files = performance.getEntriesByType("resource").map(({ name }) => name)
      .filter((name) => name.startsWith(`${location.origin}/assets/`));
    active?.postMessage({ files });
  });
}

/** Return the URL of the worker in the form that the content security policy requires. */
function workerAddress(): string {
  const address = "/service-worker.js";
  const { trustedTypes } = globalThis as {
    trustedTypes?: {
      createPolicy: (name: string, rules: { createScriptURL: () => string }) => {
        createScriptURL: (address: string) => string;
      };
    };
  };
  const policy = trustedTypes?.createPolicy("octavo-worker", { createScriptURL: () => address });
  return policy?.createScriptURL(address) ?? address;
}
