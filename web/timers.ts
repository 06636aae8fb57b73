/** Stop the timers that a test file leaves: there is no document after the file, so they would fail and end the run. */
import { afterAll } from "vitest";

const started = new Set<ReturnType<typeof setTimeout>>();
const originals = { setTimeout: globalThis.setTimeout, setInterval: globalThis.setInterval };

for (const name of ["setTimeout", "setInterval"] as const) {
  globalThis[name] = ((...parameters: Parameters<typeof setTimeout>) => {
    const timer = originals[name](...parameters);
    started.add(timer);
    return timer;
  }) as never;
}

afterAll(() => {
  Object.assign(globalThis, originals);
  for (const timer of started) clearTimeout(timer);
});
