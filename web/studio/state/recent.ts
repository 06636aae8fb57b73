/** The pages that somebody opened last, kept in this browser. */
export interface Recent {
  title: string;
  href: string;
  at: string;
}

const MOST = 20;
const keyOf = (user: string) => `octavo-recent-${user}`;

export function recentPages(user: string): Recent[] {
  try {
    return JSON.parse(localStorage.getItem(keyOf(user)) ?? "[]");
  } catch {
    return [];
  }
}

export function noteRecent(user: string, title: string, href: string): void {
  const others = recentPages(user).filter((one) => one.href !== href);
  try {
    localStorage.setItem(
      keyOf(user),
      JSON.stringify([{ title, href, at: new Date().toISOString() }, ...others].slice(0, MOST)),
    );
  } catch {
    // A browser that keeps nothing shows an empty list.
  }
}
