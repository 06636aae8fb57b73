/** What scrolls is reached by the keyboard, in every browser: an attachment for whatever may be wider or higher than its
 * place, or holds such parts. */
export const reachable = (parts?: string) => (place: HTMLElement) => {
  const look = () => {
    for (const one of parts ? place.querySelectorAll<HTMLElement>(parts) : [place]) {
      if (one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight) one.tabIndex = 0;
      else one.removeAttribute("tabindex");
    }
  };
  const observer = new ResizeObserver(look);
  observer.observe(place);
  return () => observer.disconnect();
};
