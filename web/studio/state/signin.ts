/** What to do where nobody is signed in, or not any more. */
import { ApiError } from "../../shared/client.ts";
import { getAuthenticatedUser } from "../api/account.ts";
import { frame } from "./frame.svelte.ts";

/** After somebody put the dialog aside, as long passes before it comes by itself again. */
const AGAIN = 60_000;

/** What waits for a session goes on at most as often as this, should the server say both that there is one and not. */
const ONWARD = 2_000;

let leaving = false;
let asking = false;
let onward = -ONWARD;
let later: ReturnType<typeof setTimeout> | undefined;
let aside = -AGAIN;
const waiting = new Set<() => void>();

/** Sends somebody to sign in, and back to where they are. */
export function signIn(): void {
  if (leaving) return;
  leaving = true;
  location.assign(`/sign-in?next=${encodeURIComponent(location.pathname + location.search + location.hash)}`);
}

/** An answer said that nobody is signed in. Where that is so, they are asked in a dialog, so that nothing on the screen
 * is lost; an answer to what was asked before they signed in again may come afterwards. */
export function sessionEnded(): void {
  if (!frame.started) return signIn();
  if (asking || frame.signIn) return;
  asking = true;
  getAuthenticatedUser({})
    .then(goOn, (problem) => {
      const ended = problem instanceof ApiError && problem.status === 401;
      if (ended && performance.now() - aside > AGAIN) frame.signIn = true;
    })
    .finally(() => (asking = false));
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
  frame.signIn = false;
  onward = performance.now();
  for (const run of waiting) run();
}

/** Calls when somebody signed in again, until what comes back is called. */
export function onSignedIn(run: () => void): () => void {
  waiting.add(run);
  return () => waiting.delete(run);
}
