"""What the benchmarks share: fixed BLAS threads, medians of repeats in turn, peak memory in a child process, tables."""

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

Row = dict[str, object]
Work = Callable[[], object]

LIBRARIES = ("coview", "numpy", "scipy", "scikit-learn")
PEAK = """
import sys
sys.path.insert(0, {folder!r})
import {module}
from timing import most_memory
from threadpoolctl import threadpool_limits
with threadpool_limits(1, user_api="blas"):
    work = {module}.{maker}(*{arguments!r})
    before = most_memory()
    work()
print(most_memory() - before)
"""


class Clock:
    """Seconds of the processor with one BLAS thread, which other work on the machine disturbs least; of the wall with more."""

    def __init__(self, threads: int) -> None:
        self.now = time.process_time if threads == 1 else time.perf_counter
        self.name = "processor" if threads == 1 else "wall"


def seconds(works: dict[str, Work], repeats: int, threads: int = 1) -> dict[str, tuple[float, float, float]]:
    """Median, least and most seconds of each, run in turn so that a slow minute strikes all of them alike."""
    clock, taken = Clock(threads), {name: [] for name in works}
    with threadpool_limits(threads, user_api="blas"):
        for _ in range(repeats):
            for name, work in works.items():
                start = clock.now()
                work()
                taken[name].append(clock.now() - start)
    return {name: (float(np.median(times)), min(times), max(times)) for name, times in taken.items()}


def rows_of(shape: Row, ours: str, times: dict[str, tuple[float, float, float]]) -> list[Row]:
    """One row per work, with the ratio of our median to its own."""
    return [
        {
            **shape,
            "work": name,
            "seconds": median,
            "least": least,
            "most": most,
            "ratio": times[ours][0] / median if median else None,
        }
        for name, (median, least, most) in times.items()
    ]


def most_memory() -> int:
    """Peak of this process's memory so far in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # the figure of `resource` would begin with that of the parent process
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def peak_memory(module: str, maker: str, *arguments: object) -> int:
    """Peak bytes of ``module.maker(*arguments)()`` in a process of its own, less what was held before the work."""
    code = PEAK.format(folder=str(Path(__file__).parent), module=module, maker=maker, arguments=arguments)
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    done.check_returncode()
    return int(done.stdout)


def environment(threads: int) -> Row:
    """What the figures depend on."""
    with threadpool_limits(threads, user_api="blas"):
        blas = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {
        "date": date.today().isoformat(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "blas": ", ".join(
            sorted({f"{pool['internal_api']} {pool['version']} ({pool['num_threads']} threads)" for pool in blas})
        ),
        "blas_threads": threads,
        "clock": Clock(threads).name,
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        if names:
            return names[0]
    return platform.processor() or platform.machine()


def text_table(rows: Sequence[Row]) -> list[str]:
    """Lines of a table of the rows, numbers to three digits."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = [columns, *([_cell(row.get(name)) for name in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in cells]


def markdown_table(rows: Sequence[Row]) -> list[str]:
    """The same for a page."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    lines = [columns, ["---"] * len(columns), *([_cell(row.get(name)) for name in columns] for row in rows)]
    return ["| " + " | ".join(line) + " |" for line in lines]


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def write(path: Path, about: Row, tables: dict[str, list[Row]]) -> None:
    """All rows as JSON, CSV or Markdown, by the ending of the name."""
    if path.suffix == ".json":
        path.write_text(json.dumps({"environment": about, "benchmarks": tables}, indent=1) + "\n", encoding="utf-8")
    elif path.suffix == ".csv":
        rows = [{"benchmark": name, **row} for name, part in tables.items() for row in part]
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(dict.fromkeys(key for row in rows for key in row)))
            writer.writeheader()
            writer.writerows(rows)
    else:
        lines = [f"* {key}: {value}" for key, value in about.items()]
        for name, rows in tables.items():
            lines += ["", f"## {name}", "", *markdown_table(rows)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def command_line(
    measure: Callable[[Sequence[int], int], Iterable[Row]], sizes: Sequence[int], argv: Sequence[str] | None, words: str
) -> int:
    """Run one benchmark by itself: sizes as words, ``--repeats``, ``--output``."""
    parser = argparse.ArgumentParser(description=words)
    parser.add_argument(
        "n", nargs="*", type=int, default=list(sizes), help=f"numbers of samples; {list(sizes)} unless given"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, help="a .json, .csv or .md file")
    chosen = parser.parse_args(argv)
    about = environment(1)
    print(" | ".join(f"{key}: {value}" for key, value in about.items()))
    rows = list(measure(chosen.n, chosen.repeats))
    print("\n".join(text_table(rows)))
    if chosen.output is not None:
        write(chosen.output, about, {words.split(":")[0]: rows})
    return 0
