import { formatNumber } from "../../shared/words.ts";

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** Return a number of bytes in the interface language: `1.2 MB`. */
export function sizeOf(bytes: number): string {
  const step = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  return formatNumber(bytes / 1000 ** step, {
    style: "unit",
    unit: UNITS[step],
    unitDisplay: step ? "short" : "long",
    maximumFractionDigits: 1,
  });
}
