/** Formulas in TeX, set as MathML, as browsers draw it. Fetched when a page has one. */
import temml from "temml";

/** Most letters that are set; what is longer readers see as it is written, too. */
const MOST = 4000;

/** The formula as elements, or what is wrong with it, in words. */
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
