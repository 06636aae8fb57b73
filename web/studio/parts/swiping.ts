/** Detect a long horizontal swipe: -1 toward the previous item, 1 toward the next one. */
export function swipes(go: (by: -1 | 1) => unknown) {
  let touched: Touch | undefined;
  return (element: HTMLElement) => {
    const start = ({ touches }: TouchEvent) => (touched = touches.length === 1 ? touches[0] : undefined);
    const end = ({ changedTouches: [{ clientX, clientY }] }: TouchEvent & { changedTouches: [Touch] }) => {
      const dx = touched ? clientX - touched.clientX : 0;
      if (touched && Math.abs(dx) > 100 && Math.abs(clientY - touched.clientY) < 50) go(dx < 0 ? 1 : -1);
      touched = undefined;
    };
    element.addEventListener("touchstart", start, { passive: true });
    element.addEventListener("touchend", end as (event: TouchEvent) => void);
    return () => {
      element.removeEventListener("touchstart", start);
      element.removeEventListener("touchend", end as (event: TouchEvent) => void);
    };
  };
}
