/** People by their IDs. */
import type { Schemas } from "../../shared/client.ts";
import { getUserById } from "../api/account.ts";
import { type Resource, resource } from "./resource.svelte.ts";

export const personOf = (id: string): Resource<Schemas["User"]> =>
  resource(`user/${id}`, () => getUserById({ userId: id }));
