import { operation } from "../../shared/client.ts";
import { resource } from "../state/resource.svelte.ts";

export const getServerNotices = operation.GET("/installation/notices");

/** Messages to everyone on the server: maintenance and an announcement. */
export const serverNotices = () => resource("server-notices", () => getServerNotices({}));
