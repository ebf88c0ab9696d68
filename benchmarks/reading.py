"""Reading files beside pandas in the same run: seconds of processor time, as ratios, and peak memory.

    python benchmarks/reading.py [megabytes]

Text files against ``pandas.read_csv(path, index_col=0)`` (its C reader), a workbook against ``pandas.read_excel`` with
openpyxl. Three repeats in turn, best of each. Peak memory: a process of its own per reading, less that of the imports;
with a number, also for a text file of about so many megabytes. Set OMP_NUM_THREADS=1. Linux only.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from coview.files import read_table

REPEATS = 3
PEAK = """
import sys
import pandas as pd
from coview.files import read_table
def most():  # kB; the figure of resource.getrusage would begin with that of the parent process
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
before = most()
path, how = sys.argv[1:]
table = read_table(path).values if how == "coview" else pd.read_csv(path, index_col=0)
print((most() - before) // 1024, int(table.memory_usage().sum()) >> 20)
"""


def seconds(*works: Callable[[], object]) -> list[float]:
    """Least processor seconds of each, run in turn."""
    best = [np.inf] * len(works)
    for _ in range(REPEATS):
        for place, work in enumerate(works):
            start = time.process_time()
            work()
            best[place] = min(best[place], time.process_time() - start)
    return best


def peak(path: Path, how: str) -> tuple[int, int]:
    """Peak memory of one reading in MiB, and size of the frame."""
    done = subprocess.run([sys.executable, "-c", PEAK, str(path), how], check=True, capture_output=True, text=True)
    used, size = map(int, done.stdout.split())
    return used, size


def files(folder: Path) -> dict[str, Path]:
    """Text files of the shapes that people have."""
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.standard_normal((200, 30_000)), index=[f"p{row:04d}" for row in range(200)])
    long = pd.DataFrame(rng.standard_normal((100_000, 20)), index=[f"p{row:06d}" for row in range(100_000)])
    mixed = long.iloc[:, :16].copy()
    for place, words in enumerate((["yes", "no"], ["I", "II", "III"], ["f", "m"], ["red", "green", "blue"])):
        mixed[f"word{place}"] = rng.choice(words, len(long))
    genotypes = pd.DataFrame(rng.choice(["AA", "AB", "BB"], (200, 2_000)), index=wide.index)
    frames = {
        "200 x 30,000": wide,
        "200 x 30,000, 5% NA": wide.mask(rng.random(wide.shape) < 0.05),
        "100,000 x 20": long,
        "100,000 x 20, 4 of words": mixed,
        "200 x 2,000 of words": genotypes,
    }
    paths = {}
    for name, frame in frames.items():
        paths[name] = folder / f"{len(paths)}.csv"
        frame.rename(columns=lambda column: f"x{column}").to_csv(
            paths[name], index_label="id", na_rep="NA", float_format="%.6g"
        )
    return paths


def large(folder: Path, megabytes: int) -> Path:
    """A text file of numbers, 200 columns wide."""
    rng = np.random.default_rng(0)
    lines = [",".join(f"{cell:.7f}" for cell in row) for row in rng.standard_normal((2_000, 200))]
    path = folder / "large.csv"
    with path.open("w") as stream:
        stream.write("id," + ",".join(f"x{place}" for place in range(200)) + "\n")
        while stream.tell() < megabytes * 10**6:
            start = stream.tell()
            stream.write("".join(f"p{start + row},{line}\n" for row, line in enumerate(lines)))
    return path


def main() -> None:
    """Print one line per file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("file                        MB   coview [s]  pandas [s]  ratio   peak [MiB]  pandas  frame")
        for shape, path in files(folder).items():
            ours, theirs = seconds(lambda path=path: read_table(path), lambda path=path: pd.read_csv(path, index_col=0))
            memory, size = peak(path, "coview")
            line = f"{shape:26s}{path.stat().st_size / 1e6:5.0f}  {ours:9.2f}  {theirs:10.2f}  {ours / theirs:6.2f}"
            print(f"{line}  {memory:9d}  {peak(path, 'pandas')[0]:8d}  {size:5d}")
        book = folder / "book.xlsx"
        pd.DataFrame(np.random.default_rng(0).standard_normal((2_000, 50))).to_excel(book, engine="xlsxwriter")
        ours, theirs = seconds(lambda: read_table(book), lambda: pd.read_excel(book, engine="openpyxl"))
        print(f"{'2,000 x 50 .xlsx':31s}  {ours:9.2f}  {theirs:10.2f}  {ours / theirs:6.2f}   (pandas with openpyxl)")
        if len(sys.argv) > 1:
            path = large(folder, int(sys.argv[1]))
            memory, size = peak(path, "coview")
            print(f"{path.stat().st_size / 1e6:.0f} MB of numbers: peak {memory} MiB for a frame of {size} MiB")


if __name__ == "__main__":
    main()
