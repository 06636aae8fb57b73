"""Run all benches one after the other and print their figures in one table, for ``make bench``.

    python bench/run.py [--only NAME...] [--minutes 30] [--into bench/out] [--more] [--manual]

Writes ``figures.md`` (a table: each figure, the value it is compared with, the ratio, the target, and whether it is
met), ``figures.svg`` (the distance of each figure from its target), and ``figures.jsonl`` into a folder. Sizes are
chosen so that all benches take half an hour on a quiet machine with two cores: a bench that exceeds its part is
stopped, one for which no time is left isn't started, and the table says so. ``--more``: also run those that download
packages, without a time limit. ``--manual``: also write the results page of the manual. Exits with 1 if anything wasn't
measured.

Only figures of one run are comparable; on a busy machine, wall times say little. A missed target isn't an error.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from math import log2
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

import msgspec
from figures import KEPT, Figure, shown

HERE = Path(__file__).parent
DOCS = str(HERE.parent / "docs")


class Bench(NamedTuple):
    """Bench. ``seconds``: its part of the half hour."""

    name: str
    seconds: int
    arguments: tuple[str, ...] = ()
    fetches: bool = False


BENCHES = (
    Bench("serving", 60),
    Bench("sites", 100),
    Bench("reading", 50),
    Bench("access", 40),
    Bench("restricted", 10, ("--pages", "1000", "--restricted", "50")),
    Bench("changes", 80),
    Bench("blocks", 60),
    Bench("merge", 30),
    Bench("content", 80),
    Bench("together", 90),
    Bench("work", 60, (DOCS,)),
    Bench("notifications", 60),
    Bench("search", 190),
    Bench("asking", 20),
    Bench("conversations", 50, ("3000",)),
    Bench("findings", 60),
    Bench("openapi", 50),
    Bench("programs", 50, ("2000",)),
    Bench("printing", 30),
    Bench("integrations", 50, ("2000", "10")),
    Bench("git_sync", 70, ("--pages", "100", "1000", "--rounds", "3")),
    Bench("growth", 80, ("5000", "SQLite")),
    Bench("growth_search", 40, ("5000", "SQLite")),
    Bench("growth_postgresql", 50, ("2000",)),
    Bench("processes", 190, ("1",)),
    Bench("mix", 60, ("8",)),
    Bench("load", 80, ("--seconds", "40")),
    Bench("streams", 110, ("--streams", "2000", "--requests", "500")),
    Bench("turns", 100, ("2000", "SQLite")),
    Bench("waits", 40, ("short headings", "table with rows")),
    Bench("references", 0, fetches=True),
    Bench("moving", 0, fetches=True),
)


HEADINGS = {
    "restricted": "Restricted pages",
    "changes": "Edits and merges",
    "blocks": "Edits of long pages",
    "merge": "Merge algorithm",
    "content": "Imports and page reads",
    "together": "Collaborative editing",
    "work": "Imports and change requests",
    "asking": "Questions",
    "openapi": "OpenAPI",
    "programs": "Agents",
    "growth_search": "Growth of search",
    "growth_postgresql": "Growth on PostgreSQL",
    "mix": "Mixed load",
    "load": "Busy and quiet organizations",
    "streams": "Event streams",
    "turns": "Writes during large operations",
    "waits": "Waiting during long operations",
    "references": "API reference pages",
    "moving": "Imports from other tools",
}
"""Headings of the manual for benches whose name isn't one."""

HEAD = ("| What | Figure | Compared with | Ratio | Target | |", "| --- | ---: | ---: | ---: | --- | --- |")


class Outcome(NamedTuple):
    """Outcome of a bench. ``problem``: why there are no more figures."""

    bench: Bench
    figures: list[Figure]
    seconds: float
    problem: str = ""


def run(bench: Bench, seconds: float | None, kept: Path) -> Outcome:
    """Run a bench for at most this long; everything that it started ends with it."""
    kept.write_bytes(b"")
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, str(HERE / f"bench_{bench.name}.py"), *bench.arguments],
        env={**os.environ, KEPT: str(kept)},
        start_new_session=True,
    )
    problem = ""
    try:
        if code := process.wait(seconds):
            problem = f"failed with exit code {code}"
    except subprocess.TimeoutExpired:
        problem = f"not finished within {seconds:.0f} s"
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
    figures = [msgspec.json.decode(line, type=Figure) for line in kept.read_bytes().splitlines()]
    return Outcome(bench, figures, time.monotonic() - began, problem)


def summary(outcomes: Sequence[Outcome], load: float) -> str:
    """Return a paragraph about the machine and the run."""
    judged = [one for outcome in outcomes for one in outcome.figures if one.is_met is not None]
    took = sum(outcome.seconds for outcome in outcomes)
    return (
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores ({platform.machine()}), Python "
        f"{platform.python_version()}. Load average at the start: {load:.1f}. Duration: {took / 60:.0f} minutes. "
        f"{sum(bool(one.is_met) for one in judged)} of the {len(judged)} figures with a target met it."
    )


def row(one: Figure) -> str:
    """Return the table cells of a figure."""
    ratio = "" if one.ratio is None else shown(one.ratio)
    beside = "" if one.beside is None else shown(one.beside)
    verdict = {None: "", True: "Met", False: "**Missed**"}[one.is_met]
    value = f"{shown(one.value)} {one.unit}".rstrip()
    what, wanted = (text[:1].upper() + text[1:] for text in (one.what.replace("|", "\\|"), one.wanted))
    return f"{what} | {value} | {beside} | {ratio} | {wanted} | {verdict} |"


def missing(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the lines about benches that weren't completed."""
    lines = [f"* `{each.bench.name}`: {each.problem}" for each in outcomes if each.problem]
    return ["", "Not measured, or incomplete:", "", *lines] if lines else []


def table(outcomes: Sequence[Outcome], load: float) -> str:
    """Return all figures as one Markdown table, with missing ones."""
    lines = ["# Figures", "", summary(outcomes, load), "", f"| Bench {HEAD[0]}", f"| --- {HEAD[1]}"]
    lines += [f"| {one.bench} | {row(one)}" for outcome in outcomes for one in outcome.figures]
    return "\n".join([*lines, *missing(outcomes)]) + "\n"


def manual_page(outcomes: Sequence[Outcome], load: float) -> str:
    """Return the results page of the manual, with a table for each bench."""
    lines = [
        "---",
        "description: What the benchmarks measured for this version.",
        "icon: gauge-high",
        "---",
        "",
        "# Benchmark results",
        "",
        "`make bench` measures these figures, and `python bench/run.py --manual` writes this page. Ratios compare "
        "a figure with a baseline from the same run, such as an empty route, so a slower machine affects both. "
        "[Performance](performance.md) explains what the figures mean for operating a server.",
        "",
        summary(outcomes, load),
    ]
    for outcome in outcomes:
        if outcome.figures:
            heading = HEADINGS.get(outcome.bench.name, outcome.bench.name.replace("_", " ").capitalize())
            lines += ["", f"## {heading}", "", f"`bench/bench_{outcome.bench.name}.py`", "", *HEAD]
            lines += [f"| {row(one)}" for one in outcome.figures]
    return "\n".join([*lines, *missing(outcomes)]) + "\n"


def plot(figures: Sequence[Figure]) -> str:
    """Return an SVG with a bar for each figure with a target: left of the line, the target is met; each step
    doubles the distance."""
    rows = [figure for figure in figures if figure.is_met is not None]
    height, names, step = 18, 520, 60
    middle = names + 4 * step
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {middle + 4 * step} {height * len(rows) + 30}" '
        'font-family="sans-serif" font-size="11">',
        f'<line x1="{middle}" y1="0" x2="{middle}" y2="{height * len(rows)}" stroke="#666"/>',
    ]
    for number, one in enumerate(rows):
        bound = one.most if one.most is not None else one.least
        # The ratio to the bound on a logarithmic scale; a value of zero is at the left edge.
        worse = one.judged / bound if bound and one.judged > 0 else 1 / 16
        if one.most is None:
            worse = 1 / worse
        width = max(-4.0, min(4.0, log2(worse))) * step
        color, y = ("#2f855a" if one.is_met else "#c53030"), number * height
        name = f"{one.bench}: {one.what}"
        name = name if len(name) <= 90 else f"{name[:89]}…"
        parts.append(f'<text x="{names - 6}" y="{y + 13}" text-anchor="end">{escape(name)}</text>')
        parts.append(
            f'<rect x="{middle + min(width, 0):.1f}" y="{y + 3}" width="{max(abs(width), 1):.1f}" '
            f'height="{height - 6}" fill="{color}"/>'
        )
    parts.append(f'<text x="{middle}" y="{height * len(rows) + 16}" text-anchor="middle">target</text></svg>')
    return "\n".join(parts) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=[bench.name for bench in BENCHES])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--into", type=Path, default=HERE / "out")
    parser.add_argument("--more", action="store_true", help="also benches that download third-party packages")
    parser.add_argument("--manual", action="store_true", help="also write the results page of the manual")
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    load, until = os.getloadavg()[0], time.monotonic() + options.minutes * 60
    chosen = [bench for bench in BENCHES if not options.only or bench.name in options.only]
    outcomes = []
    for bench in chosen:
        left = until - time.monotonic()
        if bench.fetches and not options.more and not options.only:
            outcomes.append(Outcome(bench, [], 0, "downloads third-party packages; run it with --more"))
        elif left <= 0 and not bench.fetches:
            outcomes.append(Outcome(bench, [], 0, "no time left"))
        else:
            print(f"\n{bench.name}", flush=True)
            part = None if bench.fetches else min(bench.seconds, left)
            outcomes.append(run(bench, part, options.into.resolve() / "running.jsonl"))
    (options.into / "running.jsonl").unlink(missing_ok=True)
    figures = [figure for outcome in outcomes for figure in outcome.figures]
    (options.into / "figures.jsonl").write_bytes(
        b"".join(msgspec.json.encode(figure) + b"\n" for figure in figures)
    )
    (options.into / "figures.md").write_text(table(outcomes, load))
    (options.into / "figures.svg").write_text(plot(figures))
    if options.manual:
        (Path(DOCS) / "running/benchmarks.md").write_text(manual_page(outcomes, load))
    print(f"\n{len(figures)} figures written to {options.into / 'figures.md'}")
    return int(any(outcome.problem and not outcome.bench.fetches for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
