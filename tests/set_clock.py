"""Control of the current time in this process."""

from __future__ import annotations

from octavo.kit.clock import CLOCK, system_time


class SetClock:
    """The value of the ``clock`` fixture."""

    def set(self, moment: int) -> None:
        """Set the time, in milliseconds since 1970."""
        CLOCK.read = lambda: moment

    def advance(self, milliseconds: int) -> int:
        """Advance the time, and return it."""
        moment = CLOCK.read() + milliseconds
        self.set(moment)
        return moment

    def reset(self) -> None:
        CLOCK.read = system_time
