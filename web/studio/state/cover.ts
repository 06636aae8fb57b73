/** The position of a cover. The API uses an offset in pixels of the image; forms and styles use a percentage. */
export interface Size {
  width: number;
  height: number;
}

/** Return the box for which positions are computed, as on sites. `full`: whether the cover is as wide as the page. */
export const coverBox = (full: boolean, height = 240): Size => ({ width: full ? 1280 : 736, height });

/** Return the maximum distance by which the image can be moved from its center, in the image's own pixels. */
function reachOf(image: Size, box: Size): number {
  const scale = Math.max(box.width / image.width, box.height / image.height);
  return Math.max(0, (image.height - box.height / scale) / 2);
}

/** Return the vertical position in percent; 0 shows the top of the image. */
export function focusOf(y: number, image: Size, box: Size): number {
  const reach = reachOf(image, box);
  return reach ? Math.round(50 - 50 * Math.max(-1, Math.min(1, y / reach))) : 50;
}

/** Return the offset for a position in percent. */
export function offsetOf(focus: number, image: Size, box: Size): number {
  return Math.round((50 - focus) / 50 * reachOf(image, box) * 100) / 100;
}
