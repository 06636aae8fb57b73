/** Sends reads of the API that are requested at the same time as one request. */

const ADDRESS = "/~batch";
const API = "/v1";
/** The maximum number of parts that the server accepts. */
const MOST = 32;
/** How many responses are kept, so that the server doesn't send them again, and up to which length. */
const KEPT = 60;
const LONGEST = 200_000;

interface Waiting {
  request: Request;
  path: string;
  answer: (response: Response | Promise<Response>) => void;
}

/** The line before the body of a part. */
interface Head {
  status?: number;
  etag?: string;
  retryAfter?: string;
  /** The server doesn't answer this part in a batch. */
  alone?: boolean;
}

let waiting: Waiting[] = [];
const kept = new Map<string, { etag: string; body: string }>();

/** As `fetch`, but reads wait for others until the current task ends, and are then sent together. */
export function fetchTogether(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  if (request.method !== "GET" || !pathname.startsWith(`${API}/`)) return fetch(request);
  return new Promise((answer, fail) => {
    request.signal.addEventListener("abort", () => fail(request.signal.reason), { once: true });
    if (!waiting.length) setTimeout(sendAll);
    waiting.push({ request, path: pathname.slice(API.length) + search, answer });
  });
}

/** Forget the responses, because another person may sign in next. */
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

const alone = ({ request, answer }: Waiting): void => answer(fetch(request));

async function send(some: Waiting[]): Promise<void> {
  const parts = some.map(({ path }) => ({ path, etag: kept.get(path)?.etag ?? "" }));
  let lines: string[];
  try {
    const found = await fetch(ADDRESS, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ parts }),
    });
    // A server of another version may not know this URL.
    if (!found.ok) return some.forEach(alone);
    lines = (await found.text()).split("\n");
  } catch (problem) {
    return some.forEach(({ answer }) => answer(Promise.reject(problem)));
  }
  some.forEach((one, at) => {
    const head: Head = JSON.parse(lines[at * 2] || '{"alone":true}');
    if (head.alone) alone(one);
    else one.answer(response(one.path, head, lines[at * 2 + 1]!));
  });
}

function response(path: string, { status = 200, etag = "", retryAfter }: Head, body: string): Response {
  const known = kept.get(path);
  kept.delete(path);
  if (status === 304 && known) {
    kept.set(path, known);
    return new Response(known.body);
  }
  if (etag && body.length <= LONGEST) kept.set(path, { etag, body });
  if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
  return new Response(status === 204 || status === 205 ? null : body, {
    status,
    headers: retryAfter ? { "retry-after": retryAfter } : {},
  });
}
