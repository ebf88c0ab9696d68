"""Small fitted models with the record that coview fit keeps, and the data they were fitted to."""

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from coview.compose import TableEncoder
from coview.files import TableSet
from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor
from coview.model_selection import cross_validate_methods, usual_methods, verdict
from coview.persistence import SavedModel
from coview.views import read_tables, resolve_presence

OURS = "bayesian-co-training"
EVIL = "<script>alert('x')</script>"
SIMPLE = {"classification": "imputation-logistic-regression", "regression": "imputation-ridge"}


def small_model(task, n_views):
    """The default model on few settings instead of hundreds."""
    common = {"kernels": "linear", "center": True, "scale": True, "n_components": 3, "amplitude": 4.0}
    settings = [{**common, "view_variances": 0.1}, {**common, "view_variances": np.inf}]
    for k in range(n_views if n_views > 1 else 0):
        factors = [1000.0 if j == k else 1.0 for j in range(n_views)]
        settings.append({**common, "view_variances": np.inf, "view_factors": factors})
    if task == "regression":
        return BayesianCoTrainingRegressor(settings=settings, random_state=0, no_view="prior", normalize_y=True)
    return BayesianCoTrainingClassifier(settings=settings, random_state=0, no_view="prior")


def table_set(frames, labels, target="outcome"):
    """Tables with labels in their order."""
    aligned = read_tables(frames)
    return TableSet(aligned, labels.reindex(aligned.ids), target, "sample")


def saved_model(data, task="classification", *, estimator=None, method=OURS, n_splits=2, findings=(), guesses=None):
    """A fitted model as it comes out of a file."""
    tables = data.tables
    presence = resolve_presence(tables)
    y = data.labels.to_numpy(dtype=float) if task == "regression" else data.labels.to_numpy(dtype=object)
    if estimator is None:
        estimator = small_model(task, len(tables.tables))
    model = Pipeline([("encode", TableEncoder()), ("model", estimator)]).fit(data, y)
    evaluation = None
    if n_splits:
        simple = SIMPLE[task]
        alone = small_model(task, 1) if method == OURS else method
        methods = {method: estimator, simple: usual_methods(task)[simple]}
        evaluation = cross_validate_methods(methods, data, y, n_splits=n_splits, task=task, views_alone_of=alone)
    labeled = data.labels.notna().to_numpy()
    patterns = pd.DataFrame(presence, columns=range(len(tables.tables))).assign(labeled=labeled)
    grouped = patterns.groupby(list(range(len(tables.tables))))["labeled"].agg(["size", "sum"]).reset_index()
    record = {
        "schema_version": 1,
        "task": task,
        "method": method,
        "target": data.target,
        "id_name": "sample",
        "seed": 0,
        "command": f"coview fit data --target {data.target} -o model.coview",
        "class_counts": {} if task == "regression" else {k: int(v) for k, v in data.labels.value_counts().items()},
        "n_samples": tables.n_samples,
        "n_labeled": int(labeled.sum()),
        "views": {
            t.name: {"n_columns": t.n_features, "n_samples": int(presence[:, j].sum()), "file": f"{t.name}.csv"}
            for j, t in enumerate(tables.tables)
        },
        "patterns": [
            {
                "views": [name for j, name in enumerate(tables.names) if row[j]],
                "n_samples": int(row["size"]),
                "n_labeled": int(row["sum"]),
            }
            for _, row in grouped.sort_values("size", ascending=False, kind="stable").iterrows()
        ],
        "findings": list(findings),
        "guesses": guesses or {},
        "evaluation": None if evaluation is None else evaluation.to_dict(),
        "verdict": [] if evaluation is None else verdict(evaluation, method, simple=SIMPLE[task]),
        "versions": {"coview": "0.1", "python": "3.11.2", "numpy": "2.3"},
    }
    return SavedModel(model, {}, record)


def drawn(names, classes, *, n=48, labeled=36, seed=0, ids=None, target="outcome"):
    """Classes seen through random projections; the last view is missing for every third sample."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % len(classes)
    center = 1.8 * rng.normal(size=(len(classes), 3))
    ids = [f"s{i:03d}" for i in range(n)] if ids is None else ids
    frames = {}
    for name, columns in names.items():
        values = center[codes] @ rng.normal(size=(3, len(columns))) + rng.normal(size=(n, len(columns)))
        frames[name] = pd.DataFrame(values, index=ids, columns=columns)
    last = list(names)[-1]
    if len(names) > 1:
        frames[last] = frames[last].iloc[np.arange(n) % 3 != 1]
    labels = pd.Series(np.array(classes, dtype=object)[codes], index=ids, dtype=object)
    labels.iloc[rng.permutation(n)[labeled:]] = np.nan
    return table_set(frames, labels.where(labels.notna(), None), target)


def drawn_numbers(n=50, seed=0):
    """A number that two views tell together."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 2))
    ids = [f"p{i}" for i in range(n)]
    frames = {
        "blood": pd.DataFrame(
            z @ rng.normal(size=(2, 4)) + 0.3 * rng.normal(size=(n, 4)), index=ids, columns=[*"abcd"]
        ),
        "image": pd.DataFrame(z @ rng.normal(size=(2, 3)) + 0.3 * rng.normal(size=(n, 3)), index=ids, columns=[*"xyz"]),
    }
    frames["image"] = frames["image"].iloc[: n - 12]
    y = pd.Series(20 + 5 * z[:, 0] + rng.normal(size=n), index=ids)
    y.iloc[:8] = np.nan
    return table_set(frames, y, "dose")
