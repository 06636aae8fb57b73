/** The pages that somebody opened last, kept in this browser. */
export interface Recent {
  /** The page's, whatever it is called and wherever it is moved. */
  id: string;
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
    const kept: Recent[] = JSON.parse(localStorage.getItem(keyOf(user)) ?? "[]");
    // Those that were kept before pages were told by their id.
    return kept.filter((one) => one.id);
  } catch {
    return [];
  }
}

/** Puts a page first. What else is known of it leads where the page is now: a page of a draft is elsewhere once merged. */
export function noteRecent(
  user: string,
  page: { id: string; title: string; href: string },
  edited = false,
): void {
  const others = recentPages(user)
    .filter((one) => one.id !== page.id || Boolean(one.edited) !== edited)
    .map((one) => one.id === page.id ? { ...one, ...page } : one);
  try {
    localStorage.setItem(
      keyOf(user),
      JSON.stringify(
        [{ ...page, at: new Date().toISOString(), ...(edited ? { edited } : {}) }, ...others].slice(
          0,
          MOST,
        ),
      ),
    );
  } catch {
    // A browser that keeps nothing shows an empty list.
  }
}
