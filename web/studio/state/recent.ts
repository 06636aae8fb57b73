/** Recently opened pages, stored in this browser. */
export interface Recent {
  /** The ID of the page, which stays the same when the page is renamed or moved. */
  id: string;
  title: string;
  href: string;
  at: string;
  /** Whether the page was edited, not only opened. */
  edited?: boolean;
}

const MOST = 20;
const keyOf = (user: string) => `octavo-recent-${user}`;

export function recentPages(user: string): Recent[] {
  try {
    const kept: Recent[] = JSON.parse(localStorage.getItem(keyOf(user)) ?? "[]");
    // Skip entries of older versions, which have no id.
    return kept.filter((one) => one.id);
  } catch {
    return [];
  }
}

/** Move a page to the front. Its latest data contains its current path, because a page of a draft gets another one
 * when the draft is merged. */
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
    // If the browser denies storage, the list is empty.
  }
}
