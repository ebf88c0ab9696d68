"""Digits of which only one view has labels: spoken and written ones, and written ones measured in three ways."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview import Views
from coview.datasets import fetch

__all__ = [
    "DIGITS",
    "HANDWRITTEN",
    "HANDWRITTEN_SUBSETS",
    "HANDWRITTEN_VIEWS",
    "PARTS",
    "PER_CLASS",
    "SYNTHETIC",
    "LabelFree",
    "SpokenDigits",
    "handwritten_split",
]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

SYNTHETIC, DIGITS, HANDWRITTEN = PARTS = (
    "section 3.1",
    "digits spoken and written",
    "handwritten digits in three views",
)
# 370 samples of ten digits, as in the paper.
PER_CLASS = 37
HANDWRITTEN_VIEWS = ("fou", "kar", "zer")
HANDWRITTEN_SUBSETS = (("fou",), ("kar",), ("zer",), ("kar", "zer"), HANDWRITTEN_VIEWS)


@dataclass(frozen=True)
class LabelFree:
    """Samples with labels that have one view, samples without labels that have all, and samples to test on.

    Attributes
    ----------
    labeled_view : str
    labeled : ndarray of shape (n_labeled, n_features)
    labels : ndarray of shape (n_labeled,)
    joint : dict of str to ndarray of shape (n_joint, n_features)
        All views of the unlabeled samples.
    hidden : ndarray of shape (n_joint,)
        Their classes, for direct supervision and for tests only.
    test : dict of str to ndarray of shape (n_test, n_features)
        The views there are to test on.
    truth : ndarray of shape (n_test,)
    """

    labeled_view: str
    labeled: Array
    labels: Labels
    joint: Mapping[str, Array]
    hidden: Labels
    test: Mapping[str, Array]
    truth: Labels

    @property
    def training(self) -> tuple[Views, Array]:
        """All training samples, unlabeled ones first, and their labels, NaN for those."""
        n_joint, n_labeled = len(self.hidden), len(self.labels)
        blocks = {
            name: np.concatenate(
                [values, self.labeled if name == self.labeled_view else np.full((n_labeled, values.shape[1]), np.nan)]
            )
            for name, values in self.joint.items()
        }
        return Views(blocks), np.concatenate([np.full(n_joint, np.nan), self.labels])

    def test_views(self, names: Sequence[str]) -> Views:
        """The test samples cut to some views; what a model knows beside them is missing."""
        return Views({name: self.test[name] for name in names})


class SpokenDigits:
    """Splits of the spoken and the written digits: audio is labeled, images are not.

    Split 0 is that of the file; the others deal the recordings of the file anew, as many of each digit to the labeled and to
    the unlabeled samples, and join the latter to random images of the same digit. All other images are for testing.

    Parameters
    ----------
    data : Path
        The folder of all data sets, as for `coview.datasets.fetch`.
    """

    def __init__(self, data: Path) -> None:
        bunch = fetch("spoken_digits", data)  # says what is wrong with the files, if anything
        split = pd.read_csv(data / "spoken_digits" / "ssml_split.csv.gz")
        with np.load(data / "spoken_digits" / "audio_mfcc.npz", allow_pickle=False) as stored:
            self.audio = stored["segments"].astype(np.float64)
        with np.load(data / "spoken_digits" / "image_digits.npz", allow_pickle=False) as stored:
            self.images, self.digits = stored["X"].astype(np.float64), stored["y"].astype(np.int64)
        self.roles = bunch.meta["role"].to_numpy()
        self.file_digits = split["digit"].to_numpy(dtype=np.int64)
        self.audio_rows, self.image_rows = split["audio_row"].to_numpy(), split["image_row"].to_numpy()

    def split(self, repeat: int, seed: int) -> LabelFree:
        """Split number ``repeat``."""
        pairs, labeled = self.roles == "pair", self.roles == "labelled_audio"
        if repeat == 0:
            pair_audio, pair_images = self.audio_rows[pairs], self.image_rows[pairs]
            labeled_audio, classes, hidden = (
                self.audio_rows[labeled],
                self.file_digits[labeled],
                self.file_digits[pairs],
            )
        else:
            rng = np.random.default_rng([seed, repeat])
            spoken = pairs | labeled
            dealt = [rng.permutation(self.audio_rows[spoken & (self.file_digits == digit)]) for digit in range(10)]
            pair_audio = np.concatenate([rows[:PER_CLASS] for rows in dealt])
            labeled_audio = np.concatenate([rows[PER_CLASS:] for rows in dealt])
            drawn = [rng.permutation(np.flatnonzero(self.digits == digit))[:PER_CLASS] for digit in range(10)]
            pair_images = np.concatenate(drawn)
            hidden = np.repeat(np.arange(10), PER_CLASS)
            classes = np.repeat(np.arange(10), [len(rows) - PER_CLASS for rows in dealt])
        rest = np.setdiff1d(np.arange(len(self.digits)), pair_images)
        joint = {"audio": self.audio[pair_audio], "image": self.images[pair_images]}
        test = {"image": self.images[rest]}
        return LabelFree("audio", self.audio[labeled_audio], classes, joint, hidden, test, self.digits[rest])


def handwritten_split(views: Views, digits: Labels, repeat: int, seed: int) -> LabelFree:
    """Handwritten digits with labels for the Fourier coefficients only.

    Parameters
    ----------
    views : Views
        All 2,000 digits; Fourier coefficients, Karhunen-Loeve coefficients and Zernike moments are used.
    digits : ndarray of shape (2000,)
    repeat, seed : int

    Returns
    -------
    split : LabelFree
        37 of each digit with a label and Fourier coefficients, 37 others with all views and no label, the rest to test on.
    """
    rng = np.random.default_rng([seed, repeat])
    dealt = [rng.permutation(np.flatnonzero(digits == digit)) for digit in range(10)]
    labeled = np.concatenate([rows[:PER_CLASS] for rows in dealt])
    joint = np.concatenate([rows[PER_CLASS : 2 * PER_CLASS] for rows in dealt])
    test = np.concatenate([rows[2 * PER_CLASS :] for rows in dealt])
    blocks = {name: np.asarray(views[name]) for name in HANDWRITTEN_VIEWS}
    return LabelFree(
        "fou",
        blocks["fou"][labeled],
        digits[labeled],
        {name: block[joint] for name, block in blocks.items()},
        digits[joint],
        {name: block[test] for name, block in blocks.items()},
        digits[test],
    )
