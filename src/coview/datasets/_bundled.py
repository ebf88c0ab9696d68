"""Real data that come with coview; origin, terms and citations lie beside each set and in what the loaders return."""

from collections.abc import Callable
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from coview.datasets._generators import make_multiview_classification
from coview.views import Views

__all__ = [
    "bundled_names",
    "load_breast_tcga",
    "load_bundled",
    "load_heart_disease",
    "load_two_view_toy",
    "summarize",
]

_BREAST_VIEWS = ("mrna", "mirna", "protein")
_HEART_VIEWS = {
    "history": ["age", "sex", "cp", "trestbps"],
    "blood": ["chol", "fbs"],
    "ecg": ["restecg"],
    "exercise": ["thalach", "exang", "oldpeak", "slope"],
    "fluoroscopy": ["ca"],
    "thallium": ["thal"],
}
_HEART_WORDS = {
    "cp": {1: "typical angina", 2: "atypical angina", 3: "non-anginal pain", 4: "asymptomatic"},
    "restecg": {0: "normal", 1: "ST-T abnormality", 2: "left ventricular hypertrophy"},
    "slope": {1: "up", 2: "flat", 3: "down"},
    "thal": {3: "normal", 6: "fixed defect", 7: "reversible defect"},
}


def load_breast_tcga() -> Bunch:
    """Breast tumors with three molecular assays, one of them missing for a third.

    220 tumors of The Cancer Genome Atlas; gene expression (200), microRNA (184) and protein abundance (142), the
    last missing for 70 tumors. The target is the molecular subtype.

    Returns
    -------
    bunch : Bunch
        ``views`` (Views: mrna, mirna, protein), ``target`` (Series of "Basal", "Her2", "LumA" by sample id),
        ``frames`` (one DataFrame per view over the tumors that have it), ``meta`` (DataFrame by sample id),
        ``target_names``, ``DESCR``, ``origin``, ``licence``.

    Examples
    --------
    >>> from coview.datasets import load_breast_tcga
    >>> tumors = load_breast_tcga()
    >>> tumors.views.n_samples, tumors.views.n_features
    (220, {'mrna': 200, 'mirna': 184, 'protein': 142})
    >>> int((~tumors.views.presence).sum())
    70
    """
    folder = _folder("breast_tcga")
    samples = _read_csv(folder / "samples.csv.gz")
    ids = pd.Index(samples["id"], dtype="str", name="sample")
    frames = {view: _read_arrays(folder / f"{view}.npz", ids) for view in _BREAST_VIEWS}
    return _bunch(
        "breast_tcga",
        "GPL-2.0-or-later, from TCGA open-access data",
        frames=frames,
        views=Views(frames),
        target=pd.Series(samples["label"].to_numpy(), index=ids, name="subtype", dtype="str"),
        meta=pd.DataFrame({"part": samples["part"].to_numpy()}, index=ids),
    )


def load_heart_disease() -> Bunch:
    """Heart patients of four hospitals with six views, whole examinations missing for most of them.

    920 patients; history, blood, ECG, exercise test, fluoroscopy, thallium scan. The target is 1 where angiography
    showed heart disease. Some tables have single gaps and words, so they are given as tables: read them with
    `coview.compose.TableEncoder`, which fills the gaps and turns words into numbers.

    Returns
    -------
    bunch : Bunch
        ``frames`` (one DataFrame per view, by sample id, over the patients who have a value of it), ``target``
        (Series of 0 and 1 by sample id), ``meta`` (DataFrame: hospital; num, the original diagnosis 0 to 4),
        ``costs`` (DataFrame of example costs per feature, dollars), ``target_names``, ``DESCR``, ``origin``,
        ``licence``.

    Examples
    --------
    >>> from coview.datasets import load_heart_disease
    >>> patients = load_heart_disease()
    >>> {view: len(frame) for view, frame in patients.frames.items()}
    {'history': 920, 'blood': 840, 'ecg': 918, 'exercise': 866, 'fluoroscopy': 309, 'thallium': 434}
    >>> patients.frames["thallium"].head(2)
                                thal
    sample
    cleveland-001       fixed defect
    cleveland-002             normal
    """
    folder = _folder("heart_disease")
    table = _read_csv(folder / "heart.csv.gz")
    running = table.groupby("hospital").cumcount() + 1
    ids = pd.Index(table["hospital"] + "-" + running.astype("str").str.zfill(3), dtype="str", name="sample")
    table.index = ids
    for feature, words in _HEART_WORDS.items():
        table[feature] = pd.Categorical(table[feature].map(words), categories=list(words.values()))
    frames = {view: table[features].dropna(how="all") for view, features in _HEART_VIEWS.items()}
    return _bunch(
        "heart_disease",
        "CC BY 4.0",
        frames=frames,
        target=(table["num"] > 0).astype("int64").rename("disease"),
        meta=table[["hospital", "num"]],
        costs=_read_csv(folder / "costs.csv"),
    )


def load_two_view_toy() -> Bunch:
    """Made-up samples with two views, one or the other missing, and few labels; the best possible answer is known.

    240 samples of two Gaussian classes; 40 have a label. It is small enough to try every command on.

    Returns
    -------
    bunch : Bunch
        ``views`` (Views: first, second), ``target`` (Series of "a", "b" by sample id, NaN where unlabeled),
        ``frames`` (one DataFrame per view over the samples that have it), ``meta`` (DataFrame: truth, the class of
        all), ``bayes_accuracy`` (how often the best rule is right, over all new samples), ``target_names``, ``DESCR``,
        ``origin``, ``licence``.

    Examples
    --------
    >>> from coview.datasets import load_two_view_toy
    >>> toy = load_two_view_toy()
    >>> toy.views.presence.sum(axis=0), int(toy.target.count())
    (array([224, 141]), 40)
    """
    views, y = make_multiview_classification(
        240, n_features=(2, 3), class_sep=(1.4, 1.2), missing=(0.1, 0.4), random_state=0
    )
    ids = pd.Index([f"s{number:03d}" for number in range(1, 241)], dtype="str", name="sample")
    frames = {
        name: pd.DataFrame(
            views[block], index=ids[views.rows(block)], columns=[f"x{column + 1}" for column in range(width)]
        )
        for name, (block, width) in zip(("first", "second"), views.n_features.items(), strict=True)
    }
    truth = pd.Series(np.array(["a", "b"])[y], index=ids, name="class", dtype="str")
    is_labeled = truth.groupby(truth).cumcount() < 20
    return _bunch(
        "two_view_toy",
        "BSD-3-Clause",
        frames=frames,
        # in the order of the ids, though the first samples may lack the first view
        views=Views({name: frame.reindex(ids) for name, frame in frames.items()}),
        target=truth.where(is_labeled),
        meta=truth.rename("truth").to_frame(),
        bayes_accuracy=0.943,
    )


_LOADERS: dict[str, Callable[[], Bunch]] = {
    "breast_tcga": load_breast_tcga,
    "heart_disease": load_heart_disease,
    "two_view_toy": load_two_view_toy,
}


def bundled_names() -> list[str]:
    """Names of the data sets that come with coview.

    Returns
    -------
    names : list of str

    Examples
    --------
    >>> from coview.datasets import bundled_names
    >>> bundled_names()
    ['breast_tcga', 'heart_disease', 'two_view_toy']
    """
    return list(_LOADERS)


def load_bundled(name: str) -> Bunch:
    """Load a bundled data set by its name, as its own loader does.

    Parameters
    ----------
    name : str
        One of `bundled_names`.

    Returns
    -------
    bunch : Bunch
        See `load_breast_tcga`, `load_heart_disease` and `load_two_view_toy`.

    Raises
    ------
    ValueError
        If there is no such data set.

    Examples
    --------
    >>> from coview.datasets import load_bundled
    >>> load_bundled("heart_disease").target.sum()
    np.int64(509)
    """
    if name not in _LOADERS:
        raise ValueError(f"name must be one of {', '.join(_LOADERS)}; got {name!r}.")
    return _LOADERS[name]()


def summarize(name: str) -> dict[str, Any]:
    """Sizes, classes and terms of a bundled data set in plain Python types.

    Parameters
    ----------
    name : str
        One of `bundled_names`.

    Returns
    -------
    summary : dict
        ``name``, ``n_samples``, ``n_labeled``, ``views`` (name -> ``n_features`` and ``n_samples``, the samples that
        have the view), ``target`` (its name), ``classes`` (class -> number of labeled samples), ``licence``.

    Examples
    --------
    >>> from coview.datasets import summarize
    >>> summarize("breast_tcga")["views"]["protein"]
    {'n_features': 142, 'n_samples': 150}
    """
    bunch = load_bundled(name)
    counts = bunch.target.value_counts().sort_index()
    return {
        "name": name,
        "n_samples": len(bunch.target),
        "n_labeled": int(bunch.target.count()),
        "views": {
            view: {"n_features": frame.shape[1], "n_samples": frame.shape[0]} for view, frame in bunch.frames.items()
        },
        "target": str(bunch.target.name),
        "classes": {str(label): int(count) for label, count in counts.items()},
        "licence": bunch.licence,
    }


def _bunch(name: str, licence: str, *, target: pd.Series, **contents: Any) -> Bunch:
    """Return the contents with the texts that lie beside the data."""
    folder = _folder(name)
    return Bunch(
        name=name,
        target=target,
        target_names=sorted(target.dropna().unique().tolist()),
        DESCR=(folder / "DESCRIPTION.txt").read_text(encoding="utf-8"),
        origin=(folder / "ORIGIN.txt").read_text(encoding="utf-8"),
        licence=licence,
        licence_text=(folder / "LICENSE.txt").read_text(encoding="utf-8"),
        **contents,
    )


def _folder(name: str) -> Traversable:
    return files("coview.datasets") / "data" / name


def _read_csv(file: Traversable) -> pd.DataFrame:
    """Read a CSV file of the package; the compression is read off its name."""
    with file.open("rb") as stream:
        return pd.read_csv(stream, compression="gzip" if file.name.endswith(".gz") else None)


def _read_arrays(file: Traversable, ids: pd.Index) -> pd.DataFrame:
    """Return the rows of one view that are not empty, (n_present, n_features) in double precision."""
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        frame = pd.DataFrame(arrays["X"].astype(np.float64), index=ids, columns=arrays["features"].astype(object))
    return frame.dropna(how="all")
