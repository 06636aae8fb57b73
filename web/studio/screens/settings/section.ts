import type { Schemas } from "../../../shared/client.ts";

/** The properties of every settings section. `rest`: the URL below the section. */
export interface SectionProps {
  organization: Schemas["Organization"];
  title: string;
  rest: string[];
}
