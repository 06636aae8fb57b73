/** What to do where nobody is signed in, or not any more. */
import { frame } from "./frame.svelte.ts";

/** After somebody put the dialog aside, as long passes before it comes by itself again. */
const AGAIN = 60_000;

let leaving = false;
let aside = -AGAIN;
const waiting = new Set<() => void>();

/** Sends somebody to sign in, and back to where they are. */
export function signIn(): void {
  if (leaving) return;
  leaving = true;
  location.assign(`/sign-in?next=${encodeURIComponent(location.pathname + location.search + location.hash)}`);
}

/** The server does not know who this is any more: asked in a dialog, so that nothing on the screen is lost. */
export function sessionEnded(): void {
  if (!frame.started) signIn();
  else if (performance.now() - aside > AGAIN) frame.signIn = true;
}

export function putAside(): void {
  aside = performance.now();
  frame.signIn = false;
}

export function signedIn(): void {
  frame.signIn = false;
  for (const run of waiting) run();
}

/** Calls when somebody signed in again, until what comes back is called. */
export function onSignedIn(run: () => void): () => void {
  waiting.add(run);
  return () => waiting.delete(run);
}
