/** Sends somebody to sign in, and back to where they are. */
let leaving = false;

export function signIn(): void {
  if (leaving) return;
  leaving = true;
  location.assign(`/sign-in?next=${encodeURIComponent(location.pathname + location.search + location.hash)}`);
}
