/** The API as typed functions: `const { data, error } = await api.GET("/spaces/{spaceId}", …)`. */
import type { Client as TypedClient, ClientPathsWithMethod, MethodResponse } from "openapi-fetch";
import type { components, paths } from "../generated/schema.d.ts";
import { fetchTogether } from "./batching.ts";
import { t } from "./words.ts";

export type Schemas = components["schemas"];

/** An error response from the server, with the server's message. */
export class ApiError extends Error {
  override name = "ApiError";
  /** A stable code, such as `proof_required`. Compare this instead of the message. */
  readonly reason: string | undefined;
  /** The path of the field that the message begins with, such as `document.markdown`. */
  readonly field: string | undefined;
  /** Seconds to wait before trying again. */
  readonly retryAfter: number | undefined;

  constructor(
    /** The HTTP status; 0 if the server didn't respond. */
    readonly status: number,
    message: string,
    about: { reason?: string; field?: string; retryAfter?: number } = {},
  ) {
    super(message);
    this.reason = about.reason;
    this.field = about.field;
    this.retryAfter = about.retryAfter;
  }

  /** The message without its field, to be shown next to that field. */
  get text(): string {
    const prefix = `${this.field}: `;
    return this.field && this.message.startsWith(prefix) ? this.message.slice(prefix.length) : this.message;
  }
}

interface Init {
  params?: { path?: object; query?: object };
  body?: unknown;
  signal?: AbortSignal;
}

/** Return the URL of an operation. Undefined query values are omitted, and lists are repeated. */
function urlOf(path: string, { path: ids = {}, query = {} }: Init["params"] = {}): string {
  const known = ids as Record<string, unknown>;
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(known[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (one !== undefined && one !== null) search.append(name, String(one));
  }
  return `/v1${url}${search.size ? `?${search}` : ""}`;
}

async function send(
  method: string,
  path: string,
  { params, body, signal }: Init = {},
): Promise<Outcome<unknown>> {
  const json = body !== undefined && !(body instanceof FormData);
  const response = await fetchTogether(
    new Request(urlOf(path, params), {
      method,
      credentials: "same-origin",
      signal: signal ?? null,
      ...(body === undefined ? {} : { body: json ? JSON.stringify(body) : body as FormData }),
      ...(json ? { headers: { "content-type": "application/json" } } : {}),
    }),
  );
  const text = await response.text();
  if (response.ok) return { data: text ? JSON.parse(text) : undefined, response };
  try {
    return { error: JSON.parse(text), response };
  } catch {
    return { error: text, response };
  }
}

type Client = TypedClient<paths>;
type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The operations of the API with openapi-fetch's types. That library's own code does much more than the app needs. */
export const api = Object.fromEntries(
  ["GET", "POST", "PUT", "PATCH", "DELETE"].map((method) => [
    method,
    (path: string, init?: Init) => send(method, path, init),
  ]),
) as unknown as Pick<Client, Method>;

/** The name of the window event that is sent when the server rejects a change because it is read-only. */
export const MAINTENANCE = "octavo-maintenance";

interface Outcome<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Return the data of a response. Throws an `ApiError` if the request fails or the server doesn't respond. */
export async function ask<T>(request: Promise<Outcome<T>>): Promise<T> {
  let outcome: Outcome<T>;
  try {
    outcome = await request;
  } catch (problem) {
    if (problem instanceof DOMException && problem.name === "AbortError") throw problem;
    if (problem instanceof SyntaxError) throw new ApiError(502, t("serverSentUnreadableResponse"));
    throw new ApiError(0, t("serverCantBeReached"));
  }
  const { data, error, response } = outcome;
  if (response.ok) return data as T;
  const details = (error as Partial<Schemas["Error"]> | undefined)?.error;
  if (details?.reason === "maintenance") dispatchEvent(new Event(MAINTENANCE));
  throw new ApiError(
    response.status,
    details?.message ?? t("serverRespondedWithStatus", { status: response.status }),
    {
      ...details?.reason === undefined ? {} : { reason: details.reason },
      ...details?.field === undefined ? {} : { field: details.field },
      ...retryAfter(response),
    },
  );
}

type Verb = "get" | "post" | "put" | "patch" | "delete";
/** The IDs in the path of an operation, its query (undefined values are omitted), and its body. */
type Ids<O> = O extends { parameters: { path: infer I } } ? I : Record<string, never>;
type Loose<Q> = { [K in keyof Q]: Q[K] | undefined };
type Query<O> = O extends { parameters: { query: infer Q } } ? [query: Loose<Q>]
  : O extends { parameters: { query?: infer Q } } ? [query?: Loose<Q>]
  : [];
type Given<O> = { query?: Query<O>[0]; signal?: AbortSignal };
type Body<O> = O extends { requestBody: { content: infer C } } ? [body: C[keyof C], given?: Given<O>]
  : O extends { requestBody?: { content: infer C } } ? [body?: C[keyof C], given?: Given<O>]
  : [body?: undefined, given?: Given<O>];
type Operation<M extends Verb, P extends ClientPathsWithMethod<Client, M>, Rest extends unknown[]> = (
  ids: Ids<paths[P][M]>,
  ...rest: Rest
) => Promise<MethodResponse<Client, M, P>>;
type Getting = <P extends ClientPathsWithMethod<Client, "get">>(
  path: P,
) => Operation<"get", P, Query<paths[P]["get"]>>;
type Sending<M extends Verb> = <P extends ClientPathsWithMethod<Client, M>>(
  path: P,
) => Operation<M, P, Body<paths[P][M]>>;

const sending =
  (method: string) => (path: string) => (ids: object, body?: unknown, given: Given<unknown> = {}) => {
    const { query, ...init } = given;
    return ask(send(method, path, { ...init, params: { path: ids, ...(query ? { query } : {}) }, body }));
  };

/**
 * Operations of the API as functions: `const deleteTeam = operation.DELETE("/teams/{teamId}")`, then
 * `await deleteTeam({ teamId })`. The second argument is the query of a GET, or the body of other methods.
 * Throws an `ApiError`.
 */
export const operation = {
  GET:
    ((path: string) => (ids: object, query?: object) =>
      ask(send("GET", path, { params: { path: ids, ...(query ? { query } : {}) } }))) as unknown as Getting,
  POST: sending("POST") as unknown as Sending<"post">,
  PUT: sending("PUT") as unknown as Sending<"put">,
  PATCH: sending("PATCH") as unknown as Sending<"patch">,
  DELETE: sending("DELETE") as unknown as Sending<"delete">,
};

function retryAfter(response: Response): { retryAfter?: number } {
  const seconds = Number(response.headers.get("retry-after"));
  return seconds ? { retryAfter: seconds } : {};
}

/** The maximum number of items on a page of a list. */
const PAGE = 1000;

/** Load all pages of an API list, so that the result is never incomplete. `load` requests one page. */
export async function askAll<T>(
  load: (page: { limit: number; page?: string }) => Promise<{ items: T[]; next?: { page: string } }>,
): Promise<{ items: T[]; count: number }> {
  const items: T[] = [];
  for (let next: { page?: string } | undefined = {}; next;) {
    const answer = await load({ limit: PAGE, ...next });
    items.push(...answer.items);
    next = answer.next;
  }
  return { items, count: items.length };
}
