/** The pages that somebody opened last, kept in this browser. */
export interface Recent {
  title: string;
  href: string;
  at: string;
  /** Whether it was edited then, not only opened. */
  edited?: boolean;
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

export function noteRecent(user: string, title: string, href: string, edited = false): void {
  const others = recentPages(user).filter((one) => one.href !== href || Boolean(one.edited) !== edited);
  try {
    localStorage.setItem(
      keyOf(user),
      JSON.stringify(
        [{ title, href, at: new Date().toISOString(), ...(edited ? { edited } : {}) }, ...others].slice(
          0,
          MOST,
        ),
      ),
    );
  } catch {
    // A browser that keeps nothing shows an empty list.
  }
}
