"""A step of a campaign (ask, tell, fit again, score again) beside one fit; answers told to a file, beside one write to the disk.

    python benchmarks/campaign.py [n ...] [--repeats 3] [--output FILE]

Three views of five columns, half missing, 60 labels, the default model. Steps and fits are seconds of the processor; answers
told to a file, and their floor, a block of 4 KiB written and synchronized, are milliseconds of the clock: "first" and "last" are
medians over a tenth of the 10,000 answers each. ``ratio`` is the row over its floor.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from timing import Row, command_line, seconds

from coview import Views
from coview.acquisition import Campaign
from coview.gaussian_process import BayesianCoTrainingClassifier

SIZES = (400, 1000)
CRITERIA = ("variance", "mutual_information", "expected_entropy")
N_ANSWERS, N_LABELED, N_COLUMNS = 10_000, 60, 5


def measure(sizes: Sequence[int] = SIZES, repeats: int = 3) -> Iterator[Row]:
    """Rows of steps for each size, then those of answers told to a file."""
    for n in sizes:
        yield from steps(n, repeats)
    yield from answers()


def steps(n: int, repeats: int) -> Iterator[Row]:
    """One fit, and one step under each criterion."""
    rng = np.random.default_rng(0)
    presence = rng.uniform(size=(n, 3)) < 0.5
    presence[np.arange(n), rng.integers(3, size=n)] = True
    codes = np.arange(n) % 2
    views = Views([rng.normal(size=(n, N_COLUMNS)) + codes[:, None] for _ in range(3)], presence=presence)
    y = np.where(np.arange(n) < N_LABELED, codes, -1)
    campaigns = {name: Campaign(BayesianCoTrainingClassifier(), views, y, criterion=name) for name in CRITERIA}
    works = {"fit": lambda: BayesianCoTrainingClassifier().fit(views, y)}
    for name, campaign in campaigns.items():
        campaign.ask()
        works[f"step, {name}"] = lambda campaign=campaign: _step(campaign, rng)
    times = seconds(works, repeats)
    for name, (median, least, most) in times.items():
        row = {"n": n, "work": name, "unit": "s", "median": median, "least": least, "most": most}
        yield row | {"ratio": median / times["fit"][0]}


def _step(campaign: Campaign, rng: np.random.Generator) -> None:
    best = campaign.ask().iloc[0]
    campaign.tell(best["sample"], view=best["view"], values=rng.uniform(-1.0, 1.0, size=N_COLUMNS))
    campaign.ask()


def answers() -> Iterator[Row]:
    """10,000 answers told one by one to a file, and the file opened again."""
    rng = np.random.default_rng(0)
    n = N_ANSWERS // 2 + N_LABELED
    presence = np.ones((n, 3), dtype=bool)
    presence[N_LABELED:, 1:] = False
    views = Views([rng.normal(size=(n, N_COLUMNS)) for _ in range(3)], presence=presence)
    y = np.where(np.arange(n) < N_LABELED, np.arange(n) % 2, -1)
    model = BayesianCoTrainingClassifier("linear", hyperparameters="fixed", approximation="low_rank")
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(model, views, y, criterion="random", path=Path(folder) / "campaign")
        taken = []
        for sample in range(N_LABELED, n):
            for view in views.names[1:]:
                values = rng.uniform(-1.0, 1.0, size=N_COLUMNS)
                start = time.perf_counter()
                campaign.tell(sample, view=view, values=values)
                taken.append(1e3 * (time.perf_counter() - start))
        campaign.disconnect()
        start = time.perf_counter()
        Campaign.open(Path(folder) / "campaign").disconnect()
        opened = 1e3 * (time.perf_counter() - start)
        floor = _written(Path(folder) / "block")
    tenth = len(taken) // 10
    rows = {
        "one block to the disk": floor,
        "answer, first": taken[:tenth],
        "answer, last": taken[-tenth:],
        "open": [opened],
    }
    for name, times in rows.items():
        row = {"n": n, "work": name, "unit": "ms", "median": float(np.median(times)), "least": min(times)}
        yield row | {"most": max(times), "ratio": float(np.median(times) / np.median(floor))}


def _written(path: Path, n_blocks: int = 500) -> list[float]:
    """Milliseconds of each of some blocks that are on the disk when the call returns."""
    block, times = b"x" * 4096, []
    with path.open("wb", buffering=0) as file:
        for _ in range(n_blocks):
            start = time.perf_counter()
            file.write(block)
            os.fsync(file.fileno())
            times.append(1e3 * (time.perf_counter() - start))
    return times


def main(argv: Sequence[str] | None = None) -> int:
    """Run this benchmark by itself."""
    return command_line(measure, SIZES, argv, "campaign: one step beside one fit, answers told to a file")


if __name__ == "__main__":
    sys.exit(main())
