/**
 * Stores the app's own files, so that the app opens without a connection. The texts of pages are stored by the app
 * instead (`state/offline.ts`), which knows who is signed in.
 */
const FILES = "octavo-files";
const SHELL = "/";
/** The maximum number of files; the oldest are removed. */
const MOST = 200;

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

async function keep(request, response) {
  const files = await caches.open(FILES);
  await files.put(request, response);
  const all = await files.keys();
  for (const old of all.slice(0, Math.max(0, all.length - MOST))) {
    if (new URL(old.url).pathname !== SHELL) await files.delete(old);
  }
}

/** Return a file. File names are derived from their content, so the files never change. */
async function findFile(request) {
  const known = await caches.match(request.url, { cacheName: FILES });
  if (known) return known;
  const found = await fetch(request);
  if (found.ok) await keep(request.url, found.clone());
  return found;
}

/** Return the document for a screen. All screens have the same document. */
async function findScreen(request) {
  try {
    const found = await fetch(request);
    const isApp = found.ok && !found.redirected &&
      /trusted-types/.test(found.headers.get("content-security-policy") ?? "");
    if (isApp) await keep(SHELL, found.clone());
    return found;
  } catch (problem) {
    const known = await caches.match(SHELL, { cacheName: FILES });
    if (known) return known;
    throw problem;
  }
}

const SCREENS = /^\/(?:$|[osc~]\/)/;

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  if (url.pathname.startsWith("/assets/")) event.respondWith(findFile(request));
  else if (request.mode === "navigate" && SCREENS.test(url.pathname)) event.respondWith(findScreen(request));
});

/** Store the files that were loaded before this worker was running. */
self.addEventListener("message", (event) => {
  const files = (event.data?.files ?? []).filter((file) => new URL(file).pathname.startsWith("/assets/"));
  const shell = new Request(SHELL, { headers: { accept: "text/html" } });
  event.waitUntil(
    Promise.allSettled([findScreen(shell), ...files.map((file) => findFile(new Request(file)))]),
  );
});
