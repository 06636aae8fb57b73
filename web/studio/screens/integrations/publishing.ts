/** Publishes an integration from a packed file or from the editor in the browser. */
import { ApiError, type Schemas } from "../../../shared/client.ts";
import { t } from "../../../shared/words.ts";
import { publishIntegration } from "../../api/integrations.ts";

export type Publication = Schemas["PublishIntegration"];
/** The output of `octavo integrations pack`: a publication without a publisher, with only the names of its secrets. */
export type Packed = Omit<Publication, "organization"> & { name: string };

/** The maximum size of a packed file: 4 MB of script, three images, an icon, and the JSON around them. */
const LARGEST = 16 * 1024 * 1024;

/** Parse a file. Throws an error with a message if it isn't a packed integration. */
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

/** Publish an integration, or its next version, for an organization. An error about the name is reported for the
 * field `name`. */
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
