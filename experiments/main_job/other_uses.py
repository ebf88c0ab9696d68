"""What the confirmation leaves open: samples that no fit has seen, targets that are numbers, many unlabeled samples.

    python experiments/main_job/other_uses.py --data DIR             # about a quarter of an hour on one core
    python experiments/main_job/other_uses.py --tables               # tables from the scores that are there

**New rows.** Half of the samples, at random, are kept away. The same labels are given to two fits: one that sees the
first half only and predicts the other half as new rows, and one that sees both halves.

**Numbers.** A measurement is predicted from the others; the samples without a label are the test samples.

**Many unlabeled samples.** The same labels and the same 1,000 samples scored, with all samples in the fit and with those only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from data_sets import Samples, all_problems, hide_pairs
from rivals import DEFAULT, our_methods, simple_baselines
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import BayesianRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from coview import Views
from coview.compose import ConcatenateViews, TableEncoder
from coview.datasets import fetch, load_breast_tcga, load_heart_disease, make_multiview_classification
from coview.gaussian_process import BayesianCoTrainingRegressor
from coview.metrics import probability_scores, regression_scores
from coview.model_selection import (
    TransductiveRegressor,
    label_draws,
    paired_differences,
    resume_comparison,
    usual_methods,
)

RESULTS = Path(__file__).parent / "results"
REPEATS = 10
BY_EVIDENCE = "weighted by evidence"
NEW_ROWS = {
    "breast_tcga": 22, "heart_disease": 92, "satimage": 50, "mfeat": 50, "optdigits": 48, "msrc_v1": 42,
    "citeseer": 75, "three_sources": 42, "webkb_course": 53,
}  # fmt: skip
NUMBERS: dict[str, tuple[Callable[[], Samples], tuple[int, ...]]] = {
    "age of heart patients": (lambda: _heart_number("age"), (46, 92)),
    "heart rate of heart patients": (lambda: _heart_number("thalach"), (43, 87)),
    "cholesterol of heart patients": (lambda: _heart_number("chol"), (36, 72)),
    "ER protein of tumors": (lambda: _protein("ER-alpha"), (15, 45)),
    "HER2 protein of tumors": (lambda: _protein("HER2"), (15, 45)),
    "p53 protein of tumors": (lambda: _protein("p53"), (15, 45)),
}


def _satimage(data: Path) -> Samples:
    bunch = fetch("satimage", data)
    labels = bunch.target.loc[bunch.views.index].to_numpy(dtype=object)
    return Samples(hide_pairs(bunch.views, 0.4), labels)


def _generated(n_samples: int) -> Samples:
    """Three views of ten columns, half of the third and 0.3 of the second missing, three classes."""
    views, y = make_multiview_classification(
        n_samples, n_features=(10, 10, 10), n_classes=3, class_sep=1.5, missing=(0.0, 0.3, 0.5), random_state=0
    )
    return Samples(views, y.astype(object))


# Reader, labels, draws.
SIZES: dict[str, tuple[Callable[[Path], Samples], int, int]] = {
    "satimage 6435": (_satimage, 50, 10),
    "generated 5000": (lambda _: _generated(5000), 30, 10),
    "generated 50000": (lambda _: _generated(50000), 30, 3),
}


def compare_new_rows(data: Path, output: Path, methods: Sequence[str], *, again: bool) -> None:
    """Scores of the kept half, by fits that saw it without labels and by fits that did not; two files per data set."""
    for problem in all_problems():
        if problem.name not in NEW_ROWS:
            continue
        whole = problem.read(data)
        order = np.random.default_rng(0).permutation(whole.views.n_samples)
        seen, kept = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
        draws = label_draws(whole.labels[seen], NEW_ROWS[problem.name], n_draws=REPEATS, random_state=0)
        part = whole.views[seen]
        options: dict[str, Any] = {"scorer": probability_scores, "on_error": "record"}
        resume_comparison(
            output / "new_rows" / f"{problem.name}-apart.csv", _classifiers(part, methods), part, whole.labels[seen], draws,
            new=(whole.views[kept], whole.labels[kept]), again=[DEFAULT] if again else [], **options,
        )  # fmt: skip
        resume_comparison(
            output / "new_rows" / f"{problem.name}-together.csv", _classifiers(whole.views, methods), whole.views,
            whole.labels, [seen[draw] for draw in draws], groups={"kept": np.isin(np.arange(len(order)), kept)},
            again=[DEFAULT] if again else [], **options,
        )  # fmt: skip
        print(problem.name, flush=True)


def _classifiers(views: Views, chosen: Sequence[str]) -> dict[str, Any]:
    """The default and the baselines that are quick and near the best."""
    baselines = simple_baselines(views) if "baselines" in chosen else {}
    quick = {name: method for name, method in baselines.items() if " alone " not in name}
    return quick | ({DEFAULT: our_methods()[DEFAULT]} if "default" in chosen else {})


def compare_sizes(data: Path, output: Path, *, again: bool) -> None:
    """Scores of 1,000 samples by fits that see no others and by fits that see all; two files per data set."""
    for name, (read, n_labeled, repeats) in SIZES.items():
        whole = read(data)
        few = np.sort(np.random.default_rng(1).permutation(whole.views.n_samples)[:1000])
        draws = label_draws(whole.labels[few], n_labeled, n_draws=repeats, random_state=0)
        method = {DEFAULT: our_methods()[DEFAULT]}
        options: dict[str, Any] = {"scorer": probability_scores, "again": [DEFAULT] if again else []}
        stem = output / "sizes" / name.replace(" ", "_")
        resume_comparison(f"{stem}-few.csv", method, whole.views[few], whole.labels[few], draws, **options)
        resume_comparison(
            f"{stem}-all.csv", method, whole.views, whole.labels, [few[draw] for draw in draws],
            groups={"few": np.isin(np.arange(whole.views.n_samples), few)}, **options,
        )  # fmt: skip
        print(name, flush=True)


def compare_numbers(output: Path, chosen: Sequence[str], *, again: bool) -> None:
    """Scores of the regressors, one file per target."""
    for name, (read, counts) in NUMBERS.items():
        samples = read()
        draws = [
            draw
            for n_labeled in counts
            for draw in label_draws(samples.labels, n_labeled, n_draws=REPEATS, n_per_class=0, random_state=0)
        ]
        methods = regressors(n_columns=sum(samples.views.n_features.values()))
        methods = {
            name: method
            for name, method in methods.items()
            if ("default" if name in (DEFAULT, BY_EVIDENCE) else "baselines") in chosen
        }
        resume_comparison(
            output / "numbers" / f"{name.replace(' ', '_')}.csv", methods, samples.views, samples.labels, draws,
            scorer=regression_scores, task="regression", on_error="record", again=[DEFAULT, BY_EVIDENCE] if again else [],
        )  # fmt: skip
        print(name, flush=True)


def regressors(n_columns: int) -> dict[str, Any]:
    """The default, ridge regression on imputed columns and components, a Gaussian process, boosting, the mean alone.

    Parameters
    ----------
    n_columns : int
        Columns of all views.

    Returns
    -------
    methods : dict of str to estimator
    """
    usual = usual_methods("regression", n_components=min(20, n_columns - 1))
    width = float(np.sqrt(n_columns))
    kernel = ConstantKernel(1.0, (1e-2, 1e3)) * RBF(width, (width / 30, width * 30)) + WhiteKernel(0.5, (1e-3, 10.0))
    process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
    return {
        DEFAULT: BayesianCoTrainingRegressor(random_state=0),
        BY_EVIDENCE: BayesianCoTrainingRegressor(weighting="evidence", random_state=0),
        "columns + ridge": usual["imputation-ridge"],
        "components + ridge": usual["imputation-pca-ridge"],
        "neighbors, columns + ridge": TransductiveRegressor(_columns(KNNImputer), BayesianRidge()),
        "columns + Gaussian process": TransductiveRegressor(_columns(SimpleImputer), process),
        "gradient boosting": usual["gradient-boosting"],
        "mean of the labels": TransductiveRegressor(_columns(SimpleImputer), MeanOfLabels()),
    }


class MeanOfLabels(RegressorMixin, BaseEstimator):
    """Mean and standard deviation of the labels, whatever the sample."""

    def fit(self, X: Any, y: np.ndarray) -> MeanOfLabels:
        """Learn both."""
        self.moments_ = np.mean(y), np.std(y, ddof=1)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The same for every row."""
        mean, sd = (np.full(X.shape[0], moment) for moment in self.moments_)
        return (mean, sd) if return_std else mean


def _columns(imputer: Any) -> Any:
    return make_pipeline(ConcatenateViews(), StandardScaler(), imputer(keep_empty_features=True))


def _heart_number(column: str) -> Samples:
    """A measurement of heart patients from all their others."""
    frames = dict(load_heart_disease().frames)
    view = next(name for name, frame in frames.items() if column in frame.columns)
    target = frames[view][column].dropna().astype(np.float64)
    frames[view] = frames[view].drop(columns=column)
    views = TableEncoder().fit_transform(
        {
            name: frame.loc[frame.index.intersection(target.index, sort=False)].dropna(how="all")
            for name, frame in frames.items()
        }
    )
    return Samples(views, target.loc[views.index].to_numpy())


def _protein(name: str) -> Samples:
    """The amount of a protein in tumors from gene expression and microRNA."""
    frames = dict(load_breast_tcga().frames)
    target = frames.pop("protein")[name].dropna()
    views = TableEncoder().fit_transform({view: frame.loc[target.index] for view, frame in frames.items()})
    return Samples(views, target.loc[views.index].to_numpy())


def new_rows_table(folder: Path) -> list[str]:
    """Markdown: the default on new rows, on the same rows without their labels, and the best baseline on new rows.

    Parameters
    ----------
    folder : Path
        Folder of the files of scores.

    Returns
    -------
    lines : list of str
    """
    lines = [
        "| data, labels | default, new rows: log loss / AUC | same rows in the fit | new - in the fit (s.e.) "
        "| best baseline on new rows in hindsight | default minus it (s.e.) |",
        "|---|---|---|---|---|---|",
    ]
    for name in NEW_ROWS:
        files = [pd.read_csv(folder / f"{name}-{how}.csv") for how in ("apart", "together")]
        scores = pd.concat(files).query("group in ['new', 'kept']")
        new = scores[scores["group"] == "new"]
        means = scores.groupby(["group", "method"])[["log_loss", "auc"]].mean()
        best = means.loc["new", "log_loss"].drop(DEFAULT).idxmin()
        ours = scores[scores["method"] == DEFAULT]
        unseen = _difference(ours.assign(method=ours["group"], group="all"), "new", "kept", "log_loss")
        gain = _difference(new, DEFAULT, best, "log_loss")
        cells = [means.loc[(group, DEFAULT)] for group in ("new", "kept")]
        lines.append(
            f"| {name}, {NEW_ROWS[name]} | {cells[0]['log_loss']:.3f} / {cells[0]['auc']:.3f} "
            f"| {cells[1]['log_loss']:.3f} / {cells[1]['auc']:.3f} | {unseen} "
            f"| {best}: {means.loc[('new', best), 'log_loss']:.3f} | {gain} |"
        )
    return lines


def sizes_table(folder: Path) -> list[str]:
    """Markdown: log loss of the same samples with few and with many others in the fit, seconds of a fit.

    Parameters
    ----------
    folder : Path
        Folder of the files of scores.

    Returns
    -------
    lines : list of str
    """
    lines = [
        "| data, labels (draws) | log loss, all in the fit | 1,000 in the fit | all - 1,000 (s.e.) "
        "| seconds of a fit, all / 1,000 |",
        "|---|---|---|---|---|",
    ]
    for name, (_, n_labeled, repeats) in SIZES.items():
        few, whole = (pd.read_csv(folder / f"{name.replace(' ', '_')}-{how}.csv") for how in ("few", "all"))
        both = [few.query("group == 'all'"), whole.query("group == 'few'")]
        pair = pd.concat(
            [frame.assign(method=how, group="all") for how, frame in zip(("few", "all"), both, strict=True)]
        )
        means = pair.groupby("method")[["log_loss", "seconds"]].mean()
        lines.append(
            f"| {name}, {n_labeled} ({repeats}) | {means.loc['all', 'log_loss']:.3f} | {means.loc['few', 'log_loss']:.3f} "
            f"| {_difference(pair, 'all', 'few', 'log_loss')} "
            f"| {means.loc['all', 'seconds']:.1f} / {means.loc['few', 'seconds']:.1f} |"
        )
    return lines


def numbers_table(folder: Path) -> list[str]:
    """Markdown: the default regressor and the best of the others by RMSE.

    Parameters
    ----------
    folder : Path
        Folder of the files of scores.

    Returns
    -------
    lines : list of str
    """
    lines = [
        "| target, labels | default: RMSE / R² / neg. log density / coverage of 90 % | best baseline in hindsight: "
        "RMSE / neg. log density / coverage | default minus it, RMSE (s.e.) | weighted by evidence: RMSE / neg. log density / "
        "coverage | it minus the best baseline, RMSE (s.e.) |",
        "|---|---|---|---|---|---|",
    ]
    for name, (_, counts) in NUMBERS.items():
        scores = pd.read_csv(folder / f"{name.replace(' ', '_')}.csv")
        for n_labeled in counts:
            here = scores[scores["n_labeled"] == n_labeled]
            means = here.groupby("method")[["rmse", "r2", "negative_log_density", "coverage_90"]].mean()
            best = means["rmse"].drop([DEFAULT, BY_EVIDENCE]).idxmin()
            ours, other, sober = means.loc[DEFAULT], means.loc[best], means.loc[BY_EVIDENCE]
            lines.append(
                f"| {name}, {n_labeled} | {ours['rmse']:.3g} / {ours['r2']:.2f} / {ours['negative_log_density']:.2f} / "
                f"{ours['coverage_90']:.2f} | {best}: {_three(other)} | {_difference(here, DEFAULT, best, 'rmse')} "
                f"| {_three(sober)} "
                f"| {_difference(here, BY_EVIDENCE, best, 'rmse')} |"
            )
    return lines


def _three(means: pd.Series) -> str:
    """RMSE, negative log density and coverage; a dash where a method states no spread."""
    spread = (f"{means[name]:.2f}" for name in ("negative_log_density", "coverage_90"))
    return " / ".join([f"{means['rmse']:.3g}", *(text.replace("nan", "-") for text in spread)])


def _difference(scores: pd.DataFrame, method: str, reference: str, metric: str) -> str:
    """Mean paired difference with its standard error."""
    pair = scores[scores["method"].isin([method, reference])]
    row = paired_differences(pair, reference=reference, metrics=[metric]).iloc[0]
    return f"{row['mean']:+.3f} ({row['standard_error']:.3f})"


def main() -> int:
    """Run both comparisons, or make their tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with a folder per data set (see coview.datasets.fetch)")
    parser.add_argument("--again", action="store_true", help="fit the default again")
    parser.add_argument("--methods", nargs="+", choices=["default", "baselines"], default=["baselines", "default"])
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of scores and tables")
    parser.add_argument("--tables", action="store_true", help="write the tables of what is there, fit nothing")
    options = parser.parse_args()
    if not options.tables:
        if options.data is None:
            parser.error("--data is needed to fit anything")
        for part in ("new_rows", "numbers", "sizes"):
            (options.output / part).mkdir(parents=True, exist_ok=True)
        with threadpool_limits(limits=1):
            compare_numbers(options.output, options.methods, again=options.again)
            compare_new_rows(options.data, options.output, options.methods, again=options.again)
            if "default" in options.methods:
                compare_sizes(options.data, options.output, again=options.again)
    if "default" not in options.methods:
        return 0
    page = ["# New rows", "", *new_rows_table(options.output / "new_rows")]
    page += ["", "# Numbers", "", *numbers_table(options.output / "numbers")]
    page += ["", "# Many unlabeled samples", "", *sizes_table(options.output / "sizes")]
    (options.output / "other_uses.md").write_text("\n".join(page) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
