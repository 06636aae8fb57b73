"""Rate limits. Requests are counted in this process, in fixed windows of one minute."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from octavo.errors import TooManyRequests
from octavo.kit.clock import now

_AGAIN = 10.0
"""Number of seconds after which the limits of organizations are read again."""


class RateAllowance(NamedTuple):
    """Remaining requests within a rate limit. ``reset``: the time at which the limit is reset, in seconds since
    1970."""

    limit: int
    left: int
    reset: int

    def headers(self) -> dict[str, str]:
        return {
            "x-ratelimit-limit": str(self.limit),
            "x-ratelimit-remaining": str(self.left),
            "x-ratelimit-reset": str(self.reset),
        }


class OrganizationRates:
    """Rate limits that all callers of an organization share, in this process. The limits are cached for ten seconds.

    ``read``: a function that returns the limits by organization, in requests per minute.
    """

    def __init__(
        self, read: Callable[[], Mapping[str, int]] = dict, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._read = read
        self._clock = clock
        self._read_at = float("-inf")
        self._limits: Mapping[str, int] = {}
        self._limiter = RateLimiter(0)

    def count(self, organization_id: str) -> None:
        """Count a request to an organization. Raises TooManyRequests if the limit is exceeded."""
        if self._clock() - self._read_at >= _AGAIN:
            self._limits, self._read_at = self._read(), self._clock()
        limit = self._limits.get(organization_id)
        if limit is not None:
            self._limiter.check(organization_id, limit=limit)

    def forget(self) -> None:
        """Read the limits again on the next request, because this process has changed them."""
        self._read_at = float("-inf")


class RateLimiter:
    """Rate limiter of this process, with fixed windows of one minute per key."""

    def __init__(self, limit: int, keys: int = 100_000) -> None:
        self.limit = limit
        self._keys = keys
        self._window = 0
        self._counts: dict[str, int] = {}

    def count(self, key: str) -> RateAllowance:
        """Count one request, and return the remaining requests. Raises TooManyRequests with rate limit headers if
        the limit is exceeded."""
        moment, used = self._use(key)
        allowance = self._allowance(moment, used)
        if used > self.limit:
            raise self._refused(moment, allowance)
        return allowance

    def check(self, key: str, count: int = 1, limit: int | None = None) -> None:
        """Count requests without returning the number of remaining requests. ``limit``: the limit for this key, if
        it isn't the default. Raises TooManyRequests if the limit is exceeded."""
        moment, used = self._use(key, count)
        if used > (self.limit if limit is None else limit):
            raise self._refused(moment, self._allowance(moment, used, limit))

    def _use(self, key: str, count: int = 1) -> tuple[int, int]:
        """Count requests. Return the current time in seconds, and the number of requests in this minute,
        including these."""
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

    def _allowance(self, moment: int, used: int, limit: int | None = None) -> RateAllowance:
        most = self.limit if limit is None else limit
        return RateAllowance(most, max(most - used, 0), (moment // 60 + 1) * 60)

    @staticmethod
    def _refused(moment: int, allowance: RateAllowance) -> TooManyRequests:
        wait = {"retry-after": str(max(1, allowance.reset - moment))}
        message = "Too many requests. Try again after the time in X-RateLimit-Reset."
        return TooManyRequests(message, **allowance.headers(), **wait)
