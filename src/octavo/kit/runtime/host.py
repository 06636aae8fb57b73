"""Pool of warm processes, one for each script and installation. A setting limits their number.

A process handles one event at a time. If the limit is reached, the process that has been idle the longest is ended;
if all processes are busy, the next event waits until its own time limit.

If there is room, one spare process runs without a script. The next script that needs a process is loaded into the
spare process, so that it doesn't have to wait for a process to start.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Callable

from octavo.errors import Unavailable
from octavo.kit.scheduling.owners import Owner
from octavo.kit.scheduling.permits import waiting
from octavo.kit.scheduling.shares import Shares

from .process import (
    Fetch,
    Log,
    ScriptAnswer,
    ScriptError,
    ScriptEvent,
    ScriptFailed,
    ScriptProcess,
    ScriptRun,
)

log = logging.getLogger(__name__)

SECONDS = 10.0
"""Number of seconds within which a script must respond to an event."""
AFTER = 30.0
"""Maximum number of seconds that background work can take after the response."""
PATIENCE = 0.02
"""Number of seconds to wait for background work to end before a separate thread waits for it."""
IDLE = 300.0
"""Number of seconds after which an unused process is ended."""

Finished = Callable[[list[Log], str | None], None]


class _Warm:
    """Process in the pool; None while it starts. ``busy``: whether it is handling an event. ``give_back``: a
    function that releases the slot that the process holds while it is busy."""

    def __init__(self, give_back: Callable[[], None]) -> None:
        self.process: ScriptProcess | None = None
        self.busy = True
        self.give_back = give_back
        self.used = time.monotonic()


class Host:
    """Pool of script processes. It is thread-safe. ``most``: the maximum number of processes at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._places = Shares("integration scripts are running", most)
        self._warm: dict[str, _Warm] = {}
        self._spare: ScriptProcess | None = None
        self._starting = self._closed = False
        self._changed = threading.Condition()
        atexit.register(self.close)

    def run(
        self,
        key: str,
        script: Callable[[], str],
        event: ScriptEvent,
        fetch: Fetch,
        finished: Finished,
        *,
        owner: Owner = ("",),
        seconds: float = SECONDS,
        wait: bool = False,
    ) -> ScriptAnswer:
        """Return a script's response to an event.

        ``owner``: the owner of the script, with whom processes are shared fairly (``kit.scheduling.shares``). ``key``:
        the key of the process. Events with the same key share the state of their script; events with different keys
        don't. ``script``: a function that returns the source code of the script. It is called when a process starts.
        ``finished(logs, problem)``: a function that is called once, when the script is completely done. This happens
        before the function returns if ``wait`` is set, and otherwise in a separate thread.

        ``seconds``: the time limit for getting a free process, and then for the response. Raises ScriptFailed if
        the script fails, and Unavailable if all processes are busy for too long or none can be started.
        """
        until = time.monotonic() + seconds
        give_back = self._places.wait(owner, seconds)
        try:
            warm = self._take(key, until, give_back)
        except BaseException:
            give_back()
            raise
        run: ScriptRun | None = None
        try:
            if warm.process is None or not warm.process.alive:
                self._end(warm)
                warm.process = self._take_spare() or ScriptProcess()
                warm.process.load(script())
            # The script's time starts here: waiting for a process and its start don't count.
            deadline = time.monotonic() + seconds
            run = warm.process.begin(event, deadline)
            with waiting():
                answer = run.wait(deadline, fetch)
        except ScriptError as error:
            self._finish(key, warm, run, fetch, finished, str(error), wait)
            raise
        except BaseException as error:
            self._end(warm)
            self._give_back(key, warm)
            finished(run.logs if run else [], str(error) or type(error).__name__)
            raise
        self._finish(key, warm, run, fetch, finished, None, wait)
        return answer

    def _finish(
        self,
        key: str,
        warm: _Warm,
        run: ScriptRun | None,
        fetch: Fetch,
        finished: Finished,
        problem: str | None,
        wait: bool,
    ) -> None:
        assert run is not None, "log of a script"

        deadline = time.monotonic() + AFTER

        def end(patience: float | None = None) -> bool:
            found = problem
            try:
                if not run.finish(deadline, fetch, patience):
                    return False
            except ScriptFailed as error:
                found = found or f"in background work: {error}"
                self._end(warm)
            except BaseException:
                self._end(warm)
                self._give_back(key, warm)
                raise
            self._give_back(key, warm)
            finished(run.logs, found)
            return True

        def end_later() -> None:
            try:
                end()
            except Exception:
                log.exception("the outcome of an event couldn't be recorded")

        # Most scripts do nothing after their response, so this ends immediately and needs no thread.
        if not end(None if wait else PATIENCE):
            threading.Thread(target=end_later, name="octavo-script", daemon=True).start()

    def _take(self, key: str, deadline: float, give_back: Callable[[], None]) -> _Warm:
        with self._changed:
            while True:
                warm = self._warm.get(key)
                if warm is not None and not warm.busy:
                    warm.busy, warm.give_back = True, give_back
                    return warm
                if warm is None and self._make_room():
                    self._warm[key] = _Warm(give_back)
                    return self._warm[key]
                if not self._changed.wait(deadline - time.monotonic()):
                    raise Unavailable("Too many integration scripts are running. Try again in a moment.")

    def _take_spare(self) -> ScriptProcess | None:
        with self._changed:
            spare, self._spare = self._spare, None
        if spare is not None and not spare.alive:
            spare.kill()
            return None
        return spare

    def _start_spare(self) -> None:
        """Start a spare process, unless one already exists or there is no room."""
        with self._changed:
            full = len(self._warm) >= self._most
            if full or self._starting or self._closed or self._spare is not None:
                return
            self._starting = True
        threading.Thread(target=self._start, name="octavo-spare", daemon=True).start()

    def _start(self) -> None:
        process = None
        try:
            process = ScriptProcess()
        except Unavailable as error:
            log.warning("couldn't start a spare script process", extra={"error": str(error)})
        with self._changed:
            self._starting = False
            if process is not None and not self._closed and len(self._warm) < self._most:
                self._spare = process
                process = None
        if process is not None:
            process.kill()

    def _make_room(self) -> bool:
        """End processes that have been idle for a long time and, if that doesn't make room, one more idle process.
        Return whether another process can be started."""
        idle = sorted(
            (name for name, warm in self._warm.items() if not warm.busy),
            key=lambda name: self._warm[name].used,
        )
        old = [name for name in idle if time.monotonic() - self._warm[name].used > IDLE]
        if not old and len(self._warm) >= self._most:
            old = idle[:1]
        for name in old:
            self._end(self._warm.pop(name))
        return len(self._warm) < self._most

    @staticmethod
    def _end(warm: _Warm) -> None:
        if warm.process is not None:
            warm.process.kill()
            warm.process = None

    def _give_back(self, key: str, warm: _Warm) -> None:
        with self._changed:
            warm.busy = False
            warm.used = time.monotonic()
            warm.give_back()
            if warm.process is None:
                self._warm.pop(key, None)
            self._changed.notify_all()
        self._start_spare()

    def close(self) -> None:
        """Stop all processes."""
        with self._changed:
            self._closed = True
            for warm in self._warm.values():
                self._end(warm)
            self._warm.clear()
            spare, self._spare = self._spare, None
        if spare is not None:
            spare.kill()
