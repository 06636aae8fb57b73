"""The processes that are warm: one for each script and installation, and not more than a setting allows.

A process is used by one event at a time. When there are as many as there may be, the one that was idle for the longest
makes room; when all are at work, the next event waits, for no longer than it may take.

Where there is room for it, one process more runs that has no script yet: the next script that needs a process is put
into that one, and does not wait for a start.
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

from .process import Answer, Event, Fetch, Log, Run, ScriptError, ScriptFailed, ScriptProcess

log = logging.getLogger(__name__)

SECONDS = 10.0
"""In which a script has to answer an event."""
AFTER = 30.0
"""Seconds for what it does behind its answer."""
PATIENCE = 0.02
"""Seconds between an answer and what comes behind it, before a thread waits for that."""
IDLE = 300.0
"""Seconds after which a process that nobody used is ended."""

Finished = Callable[[list[Log], str | None], None]


class _Warm:
    """A process, or the place of one. ``busy``: an event is in it; ``give_back``: what it holds for that."""

    def __init__(self, give_back: Callable[[], None]) -> None:
        self.process: ScriptProcess | None = None
        self.busy = True
        self.give_back = give_back
        self.used = time.monotonic()


class Host:
    """Safe to share between threads. ``most``: processes at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._places = Shares("scripts of integrations are at work", most)
        self._warm: dict[str, _Warm] = {}
        self._spare: ScriptProcess | None = None
        self._starting = self._closed = False
        self._changed = threading.Condition()
        atexit.register(self.close)

    def run(
        self,
        key: str,
        script: Callable[[], str],
        event: Event,
        fetch: Fetch,
        finished: Finished,
        *,
        owner: Owner = ("",),
        seconds: float = SECONDS,
        wait: bool = False,
    ) -> Answer:
        """What a script answers an event.

        ``owner``: whose script it is; places are shared between owners (``kit.shares``). ``key``: of the process: events of one key share the state of their script, others never. ``script``: its
        text, asked for when a process starts. ``finished(logs, problem)`` is called once, when the script is done with
        everything; ``wait``: before this returns, else in a thread of its own.

        ``seconds``: for the answer, and before that for a process that is not at work. Raises ScriptFailed, and
        Unavailable when every process is at work for too long, or none starts.
        """
        until = time.monotonic() + seconds
        give_back = self._places.wait(owner, seconds)
        try:
            warm = self._take(key, until, give_back)
        except BaseException:
            give_back()
            raise
        run: Run | None = None
        try:
            if warm.process is None or not warm.process.alive:
                self._end(warm)
                warm.process = self._take_spare() or ScriptProcess()
                warm.process.load(script())
            # The script has its seconds from here on: waiting for a place and for the start took none of them.
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
        run: Run | None,
        fetch: Fetch,
        finished: Finished,
        problem: str | None,
        wait: bool,
    ) -> None:
        assert run is not None, "the script said something"

        deadline = time.monotonic() + AFTER

        def end(patience: float | None = None) -> bool:
            found = problem
            try:
                if not run.finish(deadline, fetch, patience):
                    return False
            except ScriptFailed as error:
                found = found or f"behind its answer: {error}"
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
                log.exception("what became of an event was not noted")

        # Most scripts do nothing behind their answer: then this is over at once, and needs no thread.
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
                    raise Unavailable("Too many scripts of integrations are at work. Try again in a moment.")

    def _take_spare(self) -> ScriptProcess | None:
        with self._changed:
            spare, self._spare = self._spare, None
        if spare is not None and not spare.alive:
            spare.kill()
            return None
        return spare

    def _start_spare(self) -> None:
        """Has a process started beside the others, unless there is one, or no room."""
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
            log.warning("no process is kept ready for the next script", extra={"error": str(error)})
        with self._changed:
            self._starting = False
            if process is not None and not self._closed and len(self._warm) < self._most:
                self._spare = process
                process = None
        if process is not None:
            process.kill()

    def _make_room(self) -> bool:
        """Whether one more process may start; ends those that were idle for long, and one if that makes room."""
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
        """Ends every process."""
        with self._changed:
            self._closed = True
            for warm in self._warm.values():
                self._end(warm)
            self._warm.clear()
            spare, self._spare = self._spare, None
        if spare is not None:
            spare.kill()
