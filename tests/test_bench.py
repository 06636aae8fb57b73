"""The one table of all benches."""

from __future__ import annotations

import sys
from pathlib import Path

BENCH = Path(__file__).parents[1] / "bench"
sys.path.append(str(BENCH))
import run as runner  # noqa: E402
from figures import Figure  # noqa: E402


def test_all_benches_run_and_fit_into_half_an_hour() -> None:
    assert {f"bench_{bench.name}" for bench in runner.BENCHES} == {
        path.stem for path in BENCH.glob("bench_*.py")
    }
    assert sum(bench.seconds for bench in runner.BENCHES) <= 34 * 60, "few use their whole time"


def test_the_table_shows_met_missed_and_missing_targets() -> None:
    read, sync = runner.BENCHES[0], runner.BENCHES[1]
    figures = [
        Figure("serving", "page | bare", 80.0, "us", beside=100.0, most=1.0),
        Figure("serving", "two processes", 1500.0, "per second", beside=1000.0, least=1.7),
        Figure("serving", "memory", 90.0, "MB", most=80),
        Figure("serving", "nothing", -0.4, "ms", most=1),
        Figure("serving", "start", 2.5, "s"),
    ]
    outcomes = [runner.Outcome(read, figures, 60), runner.Outcome(sync, [], 0, "no time left")]
    told = runner.table(outcomes, 0.1)
    assert "2 of the 4 figures with a target met it." in told
    assert "| serving | Page \\| bare | 80 us | 100 | 0.8 | At most 1× | Met |" in told
    assert "| serving | Two processes | 1,500 per second | 1,000 | 1.5 | At least 1.7× | **Missed** |" in told
    assert "| serving | Memory | 90 MB |  |  | At most 80 | **Missed** |" in told
    assert "| serving | Start | 2.5 s |  |  |  |  |" in told
    assert "* `sites`: no time left" in told
    assert runner.plot(figures).count("<rect") == 4


def test_a_failed_or_slow_bench_is_reported_with_its_figures(tmp_path, monkeypatch) -> None:
    (tmp_path / "bench_failing.py").write_text(
        f"import sys\nsys.path.append({str(BENCH)!r})\nfrom figures import figure\nfigure('first', 2.0)\nsys.exit(3)\n"
    )
    (tmp_path / "bench_slow.py").write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(runner, "HERE", tmp_path)
    failing = runner.run(runner.Bench("failing", 60), 60.0, tmp_path / "kept")
    assert [figure.what for figure in failing.figures] == [
        "first"
    ] and failing.problem == "failed with exit code 3"
    slow = runner.run(runner.Bench("slow", 1), 0.2, tmp_path / "kept")
    assert slow.problem == "not finished within 0 s" and slow.seconds < 30
