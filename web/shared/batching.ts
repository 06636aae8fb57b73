/** Combines API reads that are requested at the same time into one request. */

const ADDRESS = "/~batch";
const API = "/v1";
/** The maximum number of parts that the server accepts. */
const MOST = 32;
/** The maximum number of cached responses, which the server doesn't have to send again, and their maximum length. */
const KEPT = 60;
const LONGEST = 200_000;

/** Statuses from a server of another version, which may not support batches, or only smaller ones. */
const OTHER_VERSION = [400, 404, 405, 413];

interface Waiting {
  request: Request;
  path: string;
  answer: (response: Response | Promise<Response>) => void;
}

/** The header line of a part. */
export interface Head {
  status?: number;
  etag?: string;
  retryAfter?: string;
  /** Whether the part must be requested separately, because the server doesn't include it in a batch. */
  alone?: boolean;
}

/** Stores responses to reads, and finds them when the server can't be reached. Paths are below `/v1`. */
export interface Keeper {
  keep: (path: string, status: number, body: string, etag: string) => void;
  find: (path: string) => Promise<string | undefined>;
}

let keeper: Keeper | undefined;
export const listenToResponses = (found: Keeper): void => void (keeper = found);

let waiting: Waiting[] = [];
const kept = new Map<string, { etag: string; body: string }>();

/** Works like `fetch`, but collects reads until the current task ends and then sends them together. */
export function fetchTogether(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  if (request.method !== "GET" || !pathname.startsWith(`${API}/`)) return fetch(request);
  return new Promise((answer, fail) => {
    request.signal.addEventListener("abort", () => fail(request.signal.reason), { once: true });
    if (!waiting.length) setTimeout(sendAll);
    waiting.push({ request, path: pathname.slice(API.length) + search, answer });
  });
}

/** Return the latest responses of batches, by path. */
export const keptResponses = (): ReadonlyMap<string, { etag: string; body: string }> => kept;

/** Discard the responses, because another person may sign in next. */
export const forgetResponses = (): void => kept.clear();

function sendAll(): void {
  const all = waiting.filter(({ request }) => !request.signal.aborted);
  waiting = [];
  for (let at = 0; at < all.length; at += MOST) {
    const some = all.slice(at, at + MOST);
    if (some.length > 1) void send(some);
    else alone(some[0]!);
  }
}

const alone = ({ request, path, answer }: Waiting): void =>
  answer(
    fetch(request).then(async (found) => {
      if (keeper) keeper.keep(path, found.status, await found.clone().text(), "");
      return found;
    }, (problem) => findKept(path, problem)),
  );

/** Return a response from before the connection was lost. Throws the problem if there is none. */
async function findKept(path: string, problem: unknown): Promise<Response> {
  const body = await keeper?.find(path).catch(() => undefined);
  if (body === undefined) throw problem;
  return new Response(body);
}

/** Request parts, and return the head and the body of each. If the server rejects the whole batch, all parts have
 * the same error. Returns undefined if the server doesn't support batches. */
export async function readParts(
  parts: { path: string; etag: string }[],
): Promise<{ head: Head; body: string }[] | undefined> {
  const found = await fetch(ADDRESS, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ parts }),
  });
  if (OTHER_VERSION.includes(found.status)) return undefined;
  const text = await found.text();
  if (!found.ok) {
    const head = { status: found.status, retryAfter: found.headers.get("retry-after") ?? "" };
    return parts.map(() => ({ head, body: text }));
  }
  const lines = text.split("\n");
  return parts.map((_, at) => ({
    head: JSON.parse(lines[at * 2] || '{"alone":true}'),
    body: lines[at * 2 + 1] ?? "",
  }));
}

async function send(some: Waiting[]): Promise<void> {
  let found;
  try {
    found = await readParts(some.map(({ path }) => ({ path, etag: kept.get(path)?.etag ?? "" })));
  } catch (problem) {
    return some.forEach(({ path, answer }) => answer(findKept(path, problem)));
  }
  some.forEach((one, at) => {
    const part = found?.[at];
    const isLost = part?.head.status === 304 && !kept.has(one.path);
    if (!part || part.head.alone || isLost) alone(one);
    else one.answer(response(one.path, part.head, part.body));
  });
}

function response(path: string, { status = 200, etag = "", retryAfter }: Head, body: string): Response {
  const known = kept.get(path);
  kept.delete(path);
  if (status === 304 && known) {
    kept.set(path, known);
    keeper?.keep(path, 200, known.body, etag);
    return new Response(known.body);
  }
  keeper?.keep(path, status, body, etag);
  if (etag && body.length <= LONGEST) kept.set(path, { etag, body });
  if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
  return new Response(status === 204 || status === 205 ? null : body, {
    status,
    headers: retryAfter ? { "retry-after": retryAfter } : {},
  });
}
