/** Publishing an integration: out of a packed file, or as it is written in the browser. */
import { ApiError, type Schemas } from "../../../shared/client.ts";
import { t } from "../../../shared/words.ts";
import { publishIntegration } from "../../api/integrations.ts";

export type Publication = Schemas["PublishIntegration"];
/** What `octavo integrations pack` writes: a publication without who publishes it, with the names of secrets alone. */
export type Packed = Omit<Publication, "organization"> & { name: string };

/** 4 MB of script, three images, an icon, and what stands around them. */
const LARGEST = 16 * 1024 * 1024;

/** What a file holds; throws an error in words for any that is no packed integration. */
export async function readPacked(file: File): Promise<Packed> {
  const wrong = (why: string) =>
    new Error(
      `${t("isntPackagedIntegration", { name: file.name })} ${why} ${
        t("toCreateOneRun", { command: "octavo integrations pack" })
      }`,
    );
  if (file.size > LARGEST) throw wrong(t("itsLargerThan16Mb"));
  let found: unknown;
  try {
    found = JSON.parse(await file.text());
  } catch {
    throw wrong(t("itDoesntContainValidJson"));
  }
  if (found === null || typeof found !== "object" || Array.isArray(found)) {
    throw wrong(t("itDoesntContainValidJson"));
  }
  const packed = found as Record<string, unknown>;
  const missing = ["name", "title", "description", "script"].find((key) => typeof packed[key] !== "string");
  if (missing) throw wrong(t("fieldIsMissing", { field: missing }));
  if (!Array.isArray(packed.scopes)) throw wrong(t("fieldIsMissing", { field: "scopes" }));
  return packed as unknown as Packed;
}

/** Publishes it by an organization, or its next version; an error at the name is told as one of the field `name`. */
export async function publish(
  organization: string,
  { name, ...publication }: Packed,
): Promise<Schemas["Integration"]> {
  try {
    return await publishIntegration({ integrationName: name }, { ...publication, organization });
  } catch (problem) {
    if (!(problem instanceof ApiError)) throw problem;
    const taken = problem.status === 404;
    throw taken || problem.field === "integrationName"
      ? new ApiError(problem.status, `name: ${problem.text}`, { field: "name" })
      : problem;
  }
}
