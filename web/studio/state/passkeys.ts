/** Passkeys in this browser. Converts between the server's options and WebAuthn. */
import type { Schemas } from "../../shared/client.ts";

/** Return whether this browser supports passkeys at this URL, which must be secure. */
export const hasPasskeys = (): boolean =>
  typeof PublicKeyCredential !== "undefined" && "parseCreationOptionsFromJSON" in PublicKeyCredential;

/** Create a passkey. Returns undefined if the person canceled. */
export async function makePasskey(
  options: Record<string, unknown>,
): Promise<Schemas["MadeCredential"] | undefined> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  try {
    const made = await navigator.credentials.create({ publicKey }) as PublicKeyCredential | null;
    if (!made) return undefined;
    const { id, response } = made.toJSON() as { id: string; response: Record<string, string> };
    const { clientDataJSON = "", attestationObject = "" } = response;
    return { id, response: { clientDataJSON, attestationObject } };
  } catch (problem) {
    if (problem instanceof DOMException && problem.name === "NotAllowedError") return undefined;
    throw problem;
  }
}
