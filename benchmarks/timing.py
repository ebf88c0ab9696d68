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

THREADS = 1
LIBRARIES = ("coview", "numpy", "scipy", "scikit-learn")
PEAK = """
import sys
sys.path.insert(0, {folder!r})
import {module}
from timing import memory
from threadpoolctl import threadpool_limits
with threadpool_limits({threads}, user_api="blas"):
    work = {module}.{maker}(*{arguments!r})
    before = memory("VmRSS")
    work()
print(memory("VmHWM") - before)
"""


def seconds(works: dict[str, Work], repeats: int) -> dict[str, tuple[float, float, float]]:
    """Median, least and most processor seconds of each, run in turn so that a slow minute strikes all of them alike.

    With one BLAS thread these are the seconds of the clock on a quiet machine; other work disturbs them least.
    """
    taken = {name: [] for name in works}
    with threadpool_limits(THREADS, user_api="blas"):
        for _ in range(repeats):
            for name, work in works.items():
                start = time.process_time()
                work()
                taken[name].append(time.process_time() - start)
    return {name: (float(np.median(times)), min(times), max(times)) for name, times in taken.items()}


def repeats_at(n: int, repeats: int, often: int) -> int:
    """One repeat less beyond ``often`` samples, where seconds vary less, and another beyond twice as many; at least one."""
    return max(1, repeats - (n > often) - (n > 2 * often))


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


def memory(kind: str) -> int:
    """Bytes of this process, held now (``VmRSS``) or at most so far (``VmHWM``); Linux only."""
    # the peak of `resource.getrusage` would begin with that of the parent process
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * int(next(line for line in status if line.startswith(kind)).split()[1])


def peak_memory(module: str, maker: str, *arguments: object) -> int | None:
    """Peak bytes of ``module.maker(*arguments)()`` in a process of its own, less what was held before; None off Linux."""
    if not Path("/proc/self/status").exists():
        return None
    code = PEAK.format(
        folder=str(Path(__file__).parent), module=module, maker=maker, arguments=arguments, threads=THREADS
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    done.check_returncode()
    return int(done.stdout)


def in_matrices(bytes_used: int | None, n: int) -> float | None:
    """Bytes in units of a matrix of n x n numbers."""
    return None if bytes_used is None else bytes_used / (8 * n**2)


def environment() -> Row:
    """What the figures depend on."""
    with threadpool_limits(THREADS, user_api="blas"):
        blas = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {
        "date": date.today().isoformat(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "blas": ", ".join(
            sorted({f"{pool['internal_api']} {pool['version']} ({pool['num_threads']} threads)" for pool in blas})
        ),
        "blas threads": THREADS,
        "seconds": "of the processor",
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
    about = environment()
    print(" | ".join(f"{key}: {value}" for key, value in about.items()))
    rows = list(measure(chosen.n, chosen.repeats))
    print("\n".join(text_table(rows)))
    if chosen.output is not None:
        write(chosen.output, about, {words.split(":")[0]: rows})
    return 0
