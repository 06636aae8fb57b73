// Runs one integration's script inside a Deno process without any permission. Lines of JSON come in on standard input:
// the script first, then events and what its requests to other hosts were answered. Lines of JSON go out. Whatever
// stands between here and the host is the script's to misuse: the process is the boundary, and the host bounds it.

const { stdin, stdout } = Deno;
const encoder = new TextEncoder();
const stringify = JSON.stringify;
const parse = JSON.parse;
const fetches = new Map();
let counter = 0;

function send(message) {
  let bytes = encoder.encode(stringify(message) + "\n");
  while (bytes.length > 0) {
    bytes = bytes.subarray(stdout.writeSync(bytes));
  }
}

function show(value) {
  if (typeof value === "string") return value;
  if (value instanceof Error) return value.stack ?? String(value);
  try {
    return stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

function logger(level) {
  return (...values) => send({ type: "log", level, message: values.map(show).join(" ").slice(0, 10000) });
}

globalThis.console = Object.freeze({
  debug: logger("debug"), log: logger("info"), info: logger("info"), warn: logger("warn"), error: logger("error"),
  trace: logger("debug"), dir: logger("debug"), table: logger("debug"), assert() {}, count() {}, group() {},
  groupEnd() {}, groupCollapsed() {}, time() {}, timeEnd() {}, timeLog() {},
});

globalThis.fetch = async (input, init) => {
  const request = new Request(input, init);
  const bytes = new Uint8Array(await request.arrayBuffer());
  const number = ++counter;
  const answered = new Promise((resolve, reject) => fetches.set(number, { resolve, reject }));
  send({
    type: "fetch", number, url: request.url, method: request.method, headers: [...request.headers],
    redirect: request.redirect, body: bytes.length > 0 ? bytes.toBase64() : null,
  });
  request.signal?.addEventListener("abort", () => {
    fetches.get(number)?.reject(request.signal.reason);
    fetches.delete(number);
  });
  const answer = await answered;
  if (answer.error !== undefined) throw new TypeError(answer.error);
  const empty = [101, 204, 205, 304].includes(answer.status);
  const response = new Response(empty ? null : Uint8Array.fromBase64(answer.body), {
    status: answer.status, headers: answer.headers,
  });
  Object.defineProperties(response, {
    url: { value: answer.url },
    redirected: { value: answer.url !== request.url && request.redirect === "follow" },
  });
  return response;
};

SubtleCrypto.prototype.timingSafeEqual = (one, other) => {
  const a = new Uint8Array(one.buffer ?? one);
  const b = new Uint8Array(other.buffer ?? other);
  if (a.length !== b.length) throw new TypeError("expected buffers of the same length");
  let different = 0;
  for (let i = 0; i < a.length; i++) different |= a[i] ^ b[i];
  return different === 0;
};

// Scripts of the first runtime register a listener; later ones export a handler.
let listener = null;
const listen = globalThis.addEventListener.bind(globalThis);
globalThis.addEventListener = (type, handler, options) => {
  if (type === "fetch") listener = handler;
  else listen(type, handler, options);
};
listen("unhandledrejection", (event) => {
  event.preventDefault();
  console.error("unhandled rejection:", event.reason);
});
listen("error", (event) => {
  event.preventDefault();
  console.error("uncaught:", event.error ?? event.message);
});

for (
  const name of [
    "Deno", "Worker", "caches", "localStorage", "sessionStorage", "indexedDB", "BroadcastChannel", "WebSocket",
    "WebSocketStream", "EventSource", "process", "prompt", "alert", "confirm", "close", "navigator", "WebTransport",
  ]
) {
  Reflect.deleteProperty(globalThis, name);
}

async function load(script) {
  const module = await import("data:text/javascript;base64," + encoder.encode(script).toBase64());
  if (typeof module.default?.fetch === "function") return module.default.fetch.bind(module.default);
  if (listener === null) throw new TypeError("the script exports no fetch handler");
  return (request, _, context) =>
    new Promise((resolve, reject) => {
      listener({
        type: "fetch", request, ...context,
        respondWith: (response) => Promise.resolve(response).then(resolve, reject),
      });
    });
}

function requestOf({ event, environment, body }) {
  const form = new FormData();
  form.set("event", event);
  form.set("environment", environment);
  if (body !== null) {
    const bytes = Uint8Array.fromBase64(body);
    try {
      form.set("fetch-body", new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
    } catch {
      form.set("fetch-body", new Blob([bytes]));
    }
  }
  return new Request("https://integration.invalid/v1", { method: "POST", body: form });
}

async function handle(handler, message) {
  const waits = [];
  const context = {
    waitUntil: (promise) => {
      waits.push(Promise.resolve(promise).catch((error) => console.error("waitUntil:", error)));
    },
    passThroughOnException() {},
  };
  try {
    const response = await (await handler)(requestOf(message), {}, context);
    if (!(response instanceof Response)) throw new TypeError("the handler gave no Response");
    const body = new Uint8Array(await response.arrayBuffer());
    send({
      type: "response", id: message.id, status: response.status, headers: [...response.headers],
      body: body.toBase64(),
    });
  } catch (error) {
    console.error(error);
    send({ type: "response", id: message.id, error: String(error).slice(0, 1000) });
  }
  while (waits.length > 0) await Promise.all(waits.splice(0));
  send({ type: "done", id: message.id });
}

// What the first event would otherwise wait for: parts of Deno that are made when they are first used.
await requestOf({ event: "{}", environment: "{}", body: "" }).formData();
await new Response("").arrayBuffer();
await import("data:text/javascript;base64,");

// Lines are put together as bytes: a long one that grows as a text would fill the heap with its beginnings.
async function* lines() {
  let parts = [];
  for await (let chunk of stdin.readable) {
    let end;
    while ((end = chunk.indexOf(10)) >= 0) {
      parts.push(chunk.subarray(0, end));
      const line = await new Blob(parts).text();
      parts = [];
      chunk = chunk.subarray(end + 1);
      yield line;
    }
    parts.push(chunk);
  }
}

let handler = null;
send({ type: "ready" });
for await (const line of lines()) {
  const message = parse(line);
  if (handler === null) {
    handler = load(message.script);
    handler.catch(() => {});
  } else if (message.type === "answer") {
    fetches.get(message.number)?.resolve(message);
    fetches.delete(message.number);
  } else {
    handle(handler, message);
  }
}
