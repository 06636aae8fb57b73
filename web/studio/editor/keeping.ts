/** What is not saved yet, kept in this browser: it is there after a crash, a lost network, an ended session. */
import { api, ask } from "../../shared/client.ts";
import type { KeptPage } from "./kept.ts";
import { newId } from "../state/ids.ts";
import { session } from "../state/session.svelte.ts";

export interface Draft {
  /** Who wrote it: whoever signs in to this browser after them does not take it up. */
  user?: string;
  /** Of the tab that writes it. */
  tab: string;
  space: string;
  change: number;
  page: string;
  fields: { title?: string; description?: string };
  /** What was written of the text. */
  live?: KeptPage;
  /** The page's whole Markdown, where that was written, and the revision that it was changed in. */
  source?: string;
  revision?: string;
  at: number;
}

const NAME = "octavo";
const STORE = "drafts";
const NAME_TAB = "octavo-tab";

let opened: Promise<IDBDatabase> | undefined;

function open(): Promise<IDBDatabase> {
  opened ??= new Promise((resolve, reject) => {
    const asked = indexedDB.open(NAME, 1);
    asked.onupgradeneeded = () =>
      asked.result.createObjectStore(STORE, { keyPath: ["space", "change", "page", "tab"] });
    asked.onsuccess = () => {
      // Another tab with a newer version of the app waits for this one.
      asked.result.onversionchange = () => {
        asked.result.close();
        opened = undefined;
      };
      resolve(asked.result);
    };
    asked.onerror = () => reject(asked.error);
  });
  opened.catch(() => (opened = undefined));
  return opened;
}

async function run<T>(mode: IDBTransactionMode, make: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const transaction = (await open()).transaction(STORE, mode);
  const asked = make(transaction.objectStore(STORE));
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(asked.result);
    transaction.onerror = transaction.onabort = () => reject(transaction.error ?? asked.error);
  });
}

/** Rejects where the browser has no room or allows none: then the text is in this tab alone. */
export function keepDraft(draft: Draft): Promise<unknown> {
  return run("readwrite", (store) => store.put({ ...draft, user: session.user.value?.id }));
}

/** Those of whoever is signed in. */
async function ownDrafts(range?: IDBKeyRange): Promise<Draft[]> {
  const found = (await run("readonly", (store) => store.getAll(range))) as Draft[];
  return found.filter(({ user }) => user === session.user.value?.id);
}

export function dropDraft(
  { space, change, page, tab }: Pick<Draft, "space" | "change" | "page" | "tab">,
): Promise<unknown> {
  return run("readwrite", (store) => store.delete([space, change, page, tab]));
}

/** What other tabs left of a page, those that still run aside; the oldest first. */
export async function leftDrafts(space: string, change: number, page: string): Promise<Draft[]> {
  const range = IDBKeyRange.bound([space, change, page], [space, change, page, []]);
  const found = await ownDrafts(range);
  if (!found.length) return found;
  const alive = await runningTabs();
  return found.filter((draft) => !alive.has(lockName(draft.tab))).sort((one, other) => one.at - other.at);
}

/** What is kept becomes what is not saved of the same page in another change request. */
export async function moveDraft(draft: Draft, change: number): Promise<void> {
  await keepDraft({ ...draft, tab: newId(), change, at: Date.now() });
  await dropDraft(draft);
}

/** The text of a draft as Markdown, for wherever it cannot be saved any more. */
export async function readDraft({ space, source, live, fields }: Draft): Promise<string> {
  if (source !== undefined) return source;
  if (!live) return Object.values(fields).join("\n\n");
  const nodes = (await import("./kept.ts")).blocksOf(live);
  const body = { document: { object: "document", nodes } as never };
  return (await ask(api.POST("/spaces/{spaceId}/content/convert", {
    params: { path: { spaceId: space } },
    body,
  }))).markdown;
}

/** How many pages have text here that the server does not have. */
export async function countDrafts(): Promise<number> {
  const found = await ownDrafts();
  return new Set(found.map(({ space, change, page }) => `${space}/${change}/${page}`)).size;
}

/** Everything that somebody has kept here goes: for signing out. */
export async function forgetDrafts(): Promise<void> {
  for (const draft of await ownDrafts()) await dropDraft(draft);
}

/** The lock names of the tabs that run now. Without TLS there are no locks: then each tab answers who asks. */
async function runningTabs(): Promise<Set<string | undefined>> {
  if (navigator.locks) return new Set((await navigator.locks.query()).held?.map((lock) => lock.name));
  const found = new Set<string>();
  const channel = new BroadcastChannel(NAME_TAB);
  channel.onmessage = ({ data }) => found.add(data);
  channel.postMessage("");
  await new Promise((resolve) => setTimeout(resolve, 200));
  channel.close();
  return found;
}

function lockName(tab: string): string {
  return `${NAME_TAB}-${tab}`;
}

/** The name of this view of a page, which others see as running until the tab ends or `end` is called. */
export function nameTab(): { tab: string; end: () => void } {
  const tab = newId();
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  if (navigator.locks) navigator.locks.request(lockName(tab), () => ended).catch(() => {});
  else {
    const channel = new BroadcastChannel(NAME_TAB);
    channel.onmessage = ({ data }) => data || channel.postMessage(lockName(tab));
    void ended.then(() => channel.close());
  }
  return { tab, end };
}
