import { language, t } from "./words.ts";

const DAY = 86_400_000;
/** Dates in English use the order that most of the world uses: `12 November`. */
const locale = () => language === "en" ? "en-GB" : language;
const startOfDay = (date: Date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();

/** Return the time since a date, as short as possible: `now`, `12 min`, `5 h`, `Yesterday`, `12 Nov`, `12 Nov 2024`. */
export function ago(iso: string, now = new Date()): string {
  const then = new Date(iso);
  const minutes = Math.floor((now.getTime() - then.getTime()) / 60_000);
  const days = Math.round((startOfDay(now) - startOfDay(then)) / DAY);
  if (minutes < 1) return t("now");
  if (minutes < 60) return t("countMinutes", { count: minutes });
  if (days === 0 || minutes < 300) return t("countHours", { count: Math.floor(minutes / 60) });
  if (days === 1) return t("yesterday");
  if (days < 7) return then.toLocaleDateString(locale(), { weekday: "long" });
  const year = then.getFullYear() === now.getFullYear() ? undefined : "numeric";
  return then.toLocaleDateString(locale(), {
    day: "numeric",
    month: "short",
    year,
  });
}

/** Return the time since a date as part of a sentence: `12 min ago`, `yesterday`, `on 12 Nov`. */
export function since(iso: string, now = new Date()): string {
  const days = Math.round((startOfDay(now) - startOfDay(new Date(iso))) / DAY);
  const minutes = Math.floor((now.getTime() - new Date(iso).getTime()) / 60_000);
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  if (minutes < 1) return t("justNow");
  if (minutes < 60) return relative.format(-minutes, "minute");
  if (days === 0) return relative.format(-Math.floor(minutes / 60), "hour");
  if (days < 30) return relative.format(-days, "day");
  return ago(iso, now);
}

/** Return the time until a date as part of a sentence: `in 20 minutes`, `in 6 days`. */
export function until(iso: string, now = new Date()): string {
  const minutes = Math.max(0, Math.round((new Date(iso).getTime() - now.getTime()) / 60_000));
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  if (minutes < 60) return relative.format(minutes, "minute");
  if (minutes < 24 * 60) return relative.format(Math.round(minutes / 60), "hour");
  return relative.format(Math.round(minutes / 60 / 24), "day");
}

/** Return the full date and time, for tooltips. */
export const moment = (iso: string) =>
  new Date(iso).toLocaleString(locale(), {
    dateStyle: "full",
    timeStyle: "short",
  });

/** Return a planned time, as short as possible: `14:05`, `12 Nov 2026, 14:05`. */
export function plannedAt(iso: string, now = new Date()): string {
  const then = new Date(iso);
  if (startOfDay(then) === startOfDay(now)) return timeOf(iso);
  return then.toLocaleString(locale(), { dateStyle: "medium", timeStyle: "short" });
}

/** Return the day as a heading for lists: `Today`, `18 November`. */
export function day(iso: string, now = new Date()): string {
  const then = new Date(iso);
  const days = Math.round((startOfDay(now) - startOfDay(then)) / DAY);
  if (days === 0) return t("today");
  if (days === 1) return t("yesterday");
  const year = then.getFullYear() === now.getFullYear() ? undefined : "numeric";
  return then.toLocaleDateString(locale(), {
    day: "numeric",
    month: "long",
    year,
  });
}

/** Return the month of a moment: `November 2026`. */
export const monthOf = (iso: string): string =>
  new Date(iso).toLocaleDateString(locale(), { month: "long", year: "numeric" });

/** Return the time of day of a moment: `14:05`. */
export const timeOf = (iso: string): string =>
  new Date(iso).toLocaleTimeString(locale(), { timeStyle: "short" });

/** Return a day with its weekday: `Sunday, 22 November`. */
export function wholeDay(date: Date): string {
  const said = date.toLocaleDateString(locale(), {
    weekday: "long",
    day: "numeric",
    month: "long",
  });
  return language === "en" ? said.replace(" ", ", ").replace(",,", ",") : said;
}
