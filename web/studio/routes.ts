/** The screens by URL. Each is loaded when it is first opened. */
import type { Component } from "svelte";
import type { Place } from "./addresses.ts";

// deno-lint-ignore no-explicit-any -- each screen takes the parameters of its own URL
type Found = Promise<{ default: Component<any> }>;

/** Load the screen of a URL. The list of the other screens isn't needed to read a page. */
export async function screenOf(place: Place): Found {
  if (place.screen === "page") return await import("./screens/PageScreen.svelte");
  const { otherScreenOf } = await import("./otherroutes.ts");
  return await otherScreenOf(place)();
}
