/** Stores unsaved text in this browser, where it survives crashes, lost connections, and expired sessions. */
import { api, ask } from "../../shared/client.ts";
import type { KeptPage } from "./storedpage.ts";
import { newId } from "../state/ids.ts";
import { session } from "../state/session.svelte.ts";

export interface Draft {
  /** The author. Other people who sign in to this browser later don't get the draft. */
  user?: string;
  /** The ID of the tab that writes the draft. */
  tab: string;
  space: string;
  change: number;
  page: string;
  fields: { title?: string; description?: string };
  /** The changed blocks. */
  live?: KeptPage;
  /** The page's whole Markdown if that was edited, and the revision it was based on. */
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
      // Another tab with a newer version of the app waits for this one to close.
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

/** Store a draft. Rejects if the browser has no room or denies storage; in that case, the text is only in this tab. */
export function keepDraft(draft: Draft): Promise<unknown> {
  return run("readwrite", (store) => store.put({ ...draft, user: session.user.value?.id }));
}

/** Return the drafts of the person who is signed in. */
async function ownDrafts(range?: IDBKeyRange): Promise<Draft[]> {
  const found = (await run("readonly", (store) => store.getAll(range))) as Draft[];
  return found.filter(({ user }) => user === session.user.value?.id);
}

export function dropDraft(
  { space, change, page, tab }: Pick<Draft, "space" | "change" | "page" | "tab">,
): Promise<unknown> {
  return run("readwrite", (store) => store.delete([space, change, page, tab]));
}

/** Return drafts of a page from other tabs that are no longer running, oldest first. */
export async function leftDrafts(space: string, change: number, page: string): Promise<Draft[]> {
  const range = IDBKeyRange.bound([space, change, page], [space, change, page, []]);
  const found = await ownDrafts(range);
  if (!found.length) return found;
  const alive = await runningTabs();
  return found.filter((draft) => !alive.has(lockName(draft.tab))).sort((one, other) => one.at - other.at);
}

/** Move a draft to the same page in another change request. */
export async function moveDraft(draft: Draft, change: number): Promise<void> {
  await keepDraft({ ...draft, tab: newId(), change, at: Date.now() });
  await dropDraft(draft);
}

/** Return the text of a draft as Markdown, for use when it can no longer be saved. */
export async function readDraft({ space, source, live, fields }: Draft): Promise<string> {
  if (source !== undefined) return source;
  if (!live) return Object.values(fields).join("\n\n");
  const nodes = (await import("./storedpage.ts")).blocksOf(live);
  const body = { document: { object: "document", nodes } as never };
  return (await ask(api.POST("/spaces/{spaceId}/content/convert", {
    params: { path: { spaceId: space } },
    body,
  }))).markdown;
}

/** Return the number of pages with text that the server doesn't have. */
export async function countDrafts(): Promise<number> {
  const found = await ownDrafts();
  return new Set(found.map(({ space, change, page }) => `${space}/${change}/${page}`)).size;
}

/** Delete everything that a person stored here. Called when they sign out. */
export async function forgetDrafts(): Promise<void> {
  for (const draft of await ownDrafts()) await dropDraft(draft);
}

/** Return the lock names of running tabs. Without TLS, there are no locks, so each tab answers requests instead. */
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

/** Return the name of this view of a page. Other tabs see it as running until this tab closes or `end` is called. */
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
