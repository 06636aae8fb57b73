/** Handles requests without a session: no one is signed in, or the session expired. */
import { ApiError } from "../../shared/client.ts";
import { getAuthenticatedUser } from "../api/account.ts";
import { frame } from "./frame.svelte.ts";

/** The number of milliseconds for which the dialog doesn't open by itself after the person dismissed it. */
const AGAIN = 60_000;

/** The minimum time between retries, in case the server both confirms and denies a session. */
const ONWARD = 2_000;

/** The time in milliseconds without typing after which the dialog opens, so that it doesn't take in text meant for the
 * page. */
const PAUSE = 1_000;

let leaving = false;
let asking = false;
let onward = -ONWARD;
let later: ReturnType<typeof setTimeout> | undefined;
let opening: ReturnType<typeof setTimeout> | undefined;
let aside = -AGAIN;
let typed = -PAUSE;
const waiting = new Set<() => void>();

for (const kind of ["keydown", "input"]) addEventListener(kind, () => (typed = performance.now()), true);

/** Open the sign-in page, which then redirects back here. */
export function signIn(): void {
  if (leaving) return;
  leaving = true;
  location.assign(`/sign-in?next=${encodeURIComponent(location.pathname + location.search + location.hash)}`);
}

/** Handle a response saying that no one is signed in. If that is true, ask in a dialog, so that nothing on the
 * screen is lost. The response may be older than the last sign-in. */
export function sessionEnded(): void {
  if (!frame.started) return signIn();
  if (asking || frame.signIn) return;
  asking = true;
  getAuthenticatedUser({})
    .then(goOn, (problem) => {
      const ended = problem instanceof ApiError && problem.status === 401;
      if (ended && performance.now() - aside > AGAIN) openDialog();
    })
    .finally(() => (asking = false));
}

function openDialog(): void {
  const rest = typed + PAUSE - performance.now();
  clearTimeout(opening);
  if (rest > 0) opening = setTimeout(openDialog, rest);
  else frame.signIn = true;
}

function goOn(): void {
  const rest = onward + ONWARD - performance.now();
  clearTimeout(later);
  if (rest > 0) {
    later = setTimeout(goOn, rest);
    return;
  }
  onward = performance.now();
  for (const run of waiting) run();
}

export function putAside(): void {
  aside = performance.now();
  frame.signIn = false;
}

export function signedIn(): void {
  clearTimeout(opening);
  frame.signIn = false;
  onward = performance.now();
  for (const run of waiting) run();
}

/** Call a function after each sign-in, until the returned function is called. */
export function onSignedIn(run: () => void): () => void {
  waiting.add(run);
  return () => waiting.delete(run);
}
