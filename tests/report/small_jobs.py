"""Two small jobs in the shape of the demonstration's, fitted in a second."""

import numpy as np
import pandas as pd

from coview import Views
from coview.acquisition import Costs
from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.report import _exhibits
from coview.report._exhibits import Job
from coview.report._live import LiveProblem

SLOW = (
    "iterative imputation + LR",
    "KNN imputation + tuned LR",
    "KNN imputation + 5 PCs + tuned LR",
    "KNN imputation + 14 PCs + tuned LR",
    "KNN imputation + Gaussian process",
    "stacking over views",
    "histogram gradient boosting",
)


def tiny_views(n, widths, missing, seed):
    """Gaussian classes seen through random projections; the last view is missing for every third sample."""
    rng = np.random.default_rng(seed)
    n_classes = missing["classes"]
    codes = np.arange(n) % n_classes
    center = 1.6 * np.eye(n_classes)[codes]
    frames = {}
    ids = [f"s{i:03d}" for i in range(n)]
    for name, width in widths.items():
        values = center @ rng.normal(size=(n_classes, width)) + rng.normal(size=(n, width))
        frames[name] = pd.DataFrame(values, index=ids)
    last = list(widths)[-1]
    frames[last] = frames[last].iloc[np.arange(n) % 3 != 1]
    return Views(frames), codes, pd.Index(ids)


def tiny_breast():
    views, codes, ids = tiny_views(48, {"mrna": 6, "mirna": 5, "protein": 4}, {"classes": 3}, 0)
    has = views.presence[:, 2]
    target = pd.Series(np.array(["Basal", "Her2", "LumA"])[codes], index=ids)
    return Job(
        "breast_tcga", "Breast tumors", "tumors", views, target, (9, 18),
        groups={"with protein": has, "without protein": ~has},
        slow=SLOW,
    )  # fmt: skip


def tiny_heart():
    views, codes, ids = tiny_views(40, {"history": 3, "ecg": 1, "thallium": 2}, {"classes": 2}, 1)
    target = pd.Series(np.array(["diseased", "healthy"])[codes], index=ids)
    return Job(
        "heart_disease",
        "Heart patients",
        "patients",
        views,
        target,
        (8, 12),
        slow=SLOW,
        costs=Costs({"thallium": 100.0}),
    )


def tiny_cleveland():
    views, codes, _ = tiny_views(30, {"history": 3, "ecg": 1, "thallium": 2}, {"classes": 2}, 2)
    whole = views[np.flatnonzero(views.presence.all(axis=1))]
    target = codes[views.presence.all(axis=1)]
    return LiveProblem("Cleveland, 30 labels", whole, target, ("history",), 8, 2, 3)


def tiny_model():
    """The default model on three settings instead of hundreds."""
    common = {"kernels": "linear", "center": True, "scale": True, "n_components": 3, "amplitude": 4.0}
    settings = [
        {**common, "view_variances": 0.1},
        {**common, "view_variances": np.inf},
        {**common, "view_variances": np.inf, "view_factors": [1.0, 1.0, 1000.0]},
    ]
    return BayesianCoTrainingClassifier(settings=settings, random_state=0)


def use_small_jobs(monkeypatch):
    """Put the small jobs and the small model in the place of the real ones."""
    from coview.report import demo

    monkeypatch.setattr(_exhibits, "default_model", tiny_model)
    monkeypatch.setattr(_exhibits, "N_JOBS", 1)
    monkeypatch.setattr(_exhibits, "load_stored", lambda name: None)
    monkeypatch.setattr(demo, "breast_job", tiny_breast)
    monkeypatch.setattr(demo, "heart_job", tiny_heart)
    monkeypatch.setattr(demo, "cleveland", tiny_cleveland)
