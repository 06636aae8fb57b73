/** People whom something names by their id. */
import { api, ask, type Schemas } from "../../shared/client.ts";
import { type Resource, resource } from "./resource.svelte.ts";

export const personOf = (id: string): Resource<Schemas["User"]> =>
  resource(`user/${id}`, () => ask(api.GET("/users/{userId}", { params: { path: { userId: id } } })));
