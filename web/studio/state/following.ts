/** Poll until something is done, first after a short time, then every few seconds. */
export function follow(look: () => Promise<boolean>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let over = false;
  const next = (wait: number) => {
    timer = setTimeout(async () => {
      const goesOn = await look().catch(() => true);
      if (goesOn && !over) next(Math.min(wait * 1.4, 5000));
    }, wait);
  };
  next(500);
  return () => {
    over = true;
    clearTimeout(timer);
  };
}
