/** Makes scroll containers reachable by keyboard in every browser. This is an attachment for elements that can be
 * larger than the available space, or that contain such elements. */
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
