"""Servers under abuse, each a process started from a command line, with their ports and their use of
resources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .cases import Words


@dataclass(frozen=True)
class Subject:
    """Listening server. ``written``: the markers that writes left; ``group``: the id of its process group;
    ``output``: its log; ``is_direct``: whether there is no proxy in front of it."""

    host: str
    port: int
    words: Words
    written: Callable[[], set[str]]
    group: int
    output: Path
    is_direct: bool = True

    def processes(self) -> list[int]:
        """Return the ids of its processes."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # The process ended in the meantime.
                continue
            if int(fields[2]) == self.group and fields[0] != "Z":
                found.append(int(entry.name))
        return found

    def forget_peak(self) -> None:
        """Let the greatest memory be counted from now."""
        for number in self.processes():
            Path(f"/proc/{number}/clear_refs").write_text("5")

    def peak_megabytes(self) -> float:
        """Return the sum of the peak memory of its processes since ``forget_peak``."""
        total = 0
        for number in self.processes():
            status = Path(f"/proc/{number}/status").read_text()
            total += sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
        return total / 1024

    def busy_seconds(self) -> dict[str, float]:
        """Seconds of a processor that each thread of its processes has used, by its path in /proc."""
        used = {}
        for number in self.processes():
            for task in Path(f"/proc/{number}/task").glob("*"):
                try:
                    used[str(task)] = int((task / "schedstat").read_text().split()[0]) / 1e9
                except OSError:  # The thread ended in the meantime.
                    continue
        return used
