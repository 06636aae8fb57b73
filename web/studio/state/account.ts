/** The sign-in methods of the person. */
import { getMfa, listPasskeys } from "../api/account.ts";
import { resource } from "./resource.svelte.ts";

export const ownPasskeys = () => resource("user/passkeys", () => listPasskeys({}));

export const secondFactor = () => resource("user/mfa", () => getMfa({}));
