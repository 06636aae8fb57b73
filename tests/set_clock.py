"""Control of the current time in this process."""

from __future__ import annotations

from octavo.kit.clock import CLOCK, system_time


class SetClock:
    """The value of the ``clock`` fixture."""

    def set(self, moment: int) -> None:
        """From here on it is this moment, in milliseconds since 1970."""
        CLOCK.read = lambda: moment

    def advance(self, milliseconds: int) -> int:
        """From here on it is so much later than just now; the moment it is set to."""
        moment = CLOCK.read() + milliseconds
        self.set(moment)
        return moment

    def reset(self) -> None:
        CLOCK.read = system_time
