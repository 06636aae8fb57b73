"""Rate limits: requests in fixed windows of one minute, counted in this process."""

from __future__ import annotations

from typing import NamedTuple

from octavo.errors import TooManyRequests
from octavo.kit.clock import now


class RateAllowance(NamedTuple):
    """Remaining rate limit. ``reset``: the time in seconds since 1970."""

    limit: int
    left: int
    reset: int

    def headers(self) -> dict[str, str]:
        return {
            "x-ratelimit-limit": str(self.limit),
            "x-ratelimit-remaining": str(self.left),
            "x-ratelimit-reset": str(self.reset),
        }


class RateLimiter:
    """Rate limiter of this process, with fixed windows of one minute per key."""

    def __init__(self, limit: int, keys: int = 100_000) -> None:
        self.limit = limit
        self._keys = keys
        self._window = 0
        self._counts: dict[str, int] = {}

    def count(self, key: str) -> RateAllowance:
        """Count one request and return the remaining limit. Raises TooManyRequests with the headers of the
        limit."""
        moment, used = self._use(key)
        allowance = self._allowance(moment, used)
        if used > self.limit:
            raise self._refused(moment, allowance)
        return allowance

    def check(self, key: str, count: int = 1) -> None:
        """Count requests without returning the remaining limit."""
        moment, used = self._use(key, count)
        if used > self.limit:
            raise self._refused(moment, self._allowance(moment, used))

    def _use(self, key: str, count: int = 1) -> tuple[int, int]:
        """Return the time in seconds, and the number of requests in this minute, including these."""
        moment = now() // 1000
        window = moment // 60
        if window != self._window:
            self._window, self._counts = window, {}
        used = self._counts.get(key, 0) + count
        if used == count and len(self._counts) >= self._keys:
            key = ""  # Beyond this many callers in a minute, the rest share one count.
            used = self._counts.get(key, 0) + count
        self._counts[key] = used
        return moment, used

    def _allowance(self, moment: int, used: int) -> RateAllowance:
        return RateAllowance(self.limit, max(self.limit - used, 0), (moment // 60 + 1) * 60)

    @staticmethod
    def _refused(moment: int, allowance: RateAllowance) -> TooManyRequests:
        wait = {"retry-after": str(max(1, allowance.reset - moment))}
        message = "Too many requests. Try again after the time in X-RateLimit-Reset."
        return TooManyRequests(message, **allowance.headers(), **wait)
