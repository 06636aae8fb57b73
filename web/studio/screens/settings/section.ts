import type { Schemas } from "../../../shared/client.ts";

/** The properties of every settings section; `rest` is the URL below it. */
export interface SectionProps {
  organization: Schemas["Organization"];
  title: string;
  rest: string[];
}
