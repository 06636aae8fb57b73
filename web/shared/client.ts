/** The API as typed functions: `const { data, error } = await api.GET("/spaces/{spaceId}", …)`. */
import createClient, { type ClientPathsWithMethod, type MethodResponse } from "openapi-fetch";
import type { components, paths } from "../generated/schema.d.ts";
import { t } from "./words.ts";

export type Schemas = components["schemas"];

/** Answer of the server that is not a success, in its words. */
export class ApiError extends Error {
  override name = "ApiError";
  /** What happened, as one stable word, such as `proof_required`. Compare this, never the message. */
  readonly reason: string | undefined;
  /** The path of the field that the message begins with, such as `document.markdown`. */
  readonly field: string | undefined;
  /** Seconds to wait before trying again. */
  readonly retryAfter: number | undefined;

  constructor(
    /** The HTTP status; 0 if nothing answered. */
    readonly status: number,
    message: string,
    about: { reason?: string; field?: string; retryAfter?: number } = {},
  ) {
    super(message);
    this.reason = about.reason;
    this.field = about.field;
    this.retryAfter = about.retryAfter;
  }

  /** The message without its field, to be shown beside that field. */
  get text(): string {
    const prefix = `${this.field}: `;
    return this.field && this.message.startsWith(prefix) ? this.message.slice(prefix.length) : this.message;
  }
}

export const api = createClient<paths>({ baseUrl: "/v1", credentials: "same-origin" });

/** The name of the event of the window: the server refused a change because it is read-only. */
export const MAINTENANCE = "octavo-maintenance";

interface Outcome<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of an answer; throws an `ApiError` for every other, also where nothing answers. */
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
  const told = (error as Partial<Schemas["Error"]> | undefined)?.error;
  if (told?.reason === "maintenance") dispatchEvent(new Event(MAINTENANCE));
  throw new ApiError(
    response.status,
    told?.message ?? t("serverRespondedWithStatus", { status: response.status }),
    {
      ...told?.reason === undefined ? {} : { reason: told.reason },
      ...told?.field === undefined ? {} : { field: told.field },
      ...retryAfter(response),
    },
  );
}

type Verb = "get" | "post" | "put" | "patch" | "delete";
type Client = typeof api;
/** The ids in the path of an operation, what is in its query (what is undefined is left out), and its body. */
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

const request = api.request as unknown as (
  method: Verb,
  path: string,
  init: object,
) => Promise<Outcome<unknown>>;
const sending =
  (method: Verb) => (path: string) => (ids: object, body?: unknown, given: Given<unknown> = {}) => {
    const { query, ...init } = given;
    return ask(request(method, path, { ...init, params: { path: ids, query }, body }));
  };

/**
 * Operations of the API as functions: `const deleteTeam = operation.DELETE("/teams/{teamId}")`, then
 * `await deleteTeam({ teamId })`. After the ids of the path comes the query of a GET, or the body of the others.
 * They throw an `ApiError`.
 */
export const operation = {
  GET:
    ((path: string) => (ids: object, query?: object) =>
      ask(request("get", path, { params: { path: ids, query } }))) as unknown as Getting,
  POST: sending("post") as unknown as Sending<"post">,
  PUT: sending("put") as unknown as Sending<"put">,
  PATCH: sending("patch") as unknown as Sending<"patch">,
  DELETE: sending("delete") as unknown as Sending<"delete">,
};

function retryAfter(response: Response): { retryAfter?: number } {
  const seconds = Number(response.headers.get("retry-after"));
  return seconds ? { retryAfter: seconds } : {};
}

/** The most that a page of a list has. */
const PAGE = 1000;

/** A list of the API from its first page to its last: what is shown as a whole is not cut short. `load` asks for a page. */
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
