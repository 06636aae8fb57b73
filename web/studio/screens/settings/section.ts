import type { Schemas } from "../../../shared/client.ts";

/** What every section of the settings is given: `rest` is what its address names below it. */
export interface SectionProps {
  organization: Schemas["Organization"];
  title: string;
  rest: string[];
}
