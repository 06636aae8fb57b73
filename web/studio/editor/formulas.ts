/** Renders TeX formulas as MathML. This module is loaded when a page has one. */
import temml from "temml";

/** The maximum length of a rendered formula. Readers see longer ones as source, too. */
const MOST = 4000;

/** Return the formula as elements, or its error as text. */
export function setFormula(formula: string, block: boolean): { drawn: Element } | { wrong: string } {
  if (formula.length > MOST) return { wrong: "" };
  const place = document.createElement("span");
  try {
    temml.render(formula, place, {
      displayMode: block,
      throwOnError: true,
      trust: false,
      maxExpand: 200,
      maxSize: [50, 500],
    });
  } catch (problem) {
    return { wrong: (problem as Error).message.split("\n")[0]!.replace(/^.*?Error: /, "") };
  }
  const drawn = place.firstElementChild;
  return drawn ? { drawn } : { wrong: "" };
}
