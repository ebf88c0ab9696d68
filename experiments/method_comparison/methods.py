"""Which methods are compared: every classifier of coview that learns from unlabeled samples, and what else one would do."""

from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from coview.gaussian_process import BayesianCoTrainingClassifier, PosteriorConsistencyGPClassifier
from coview.linear_model import CoRegularizedLogisticRegression
from coview.mixture import ClassConditionalGaussianMixture, FactorMixtureClassifier
from coview.model_selection import TransductivePipeline
from coview.semi_supervised import (
    CoEMClassifier,
    CoLaplacianLeastSquaresClassifier,
    CoLaplacianSVC,
    CoRegularizedLeastSquaresClassifier,
    CoRegularizedSVC,
    CoTrainingClassifier,
)
from coview.svm import SVM2K

from .problems import Problem
from .rivals import AsTheyAre, OnAllSamples, TwoTables, ViewComponents, installed, one_table

__all__ = ["BASELINE", "OURS", "USUAL", "methods_for"]

BASELINE = "logistic regression, one table"
LIGHT_CO_EM = "CoEMClassifier, unlabeled_weight=0.01"
CENTERED = 'CoRegularizedLeastSquaresClassifier, constants="center"'
# In the order of the tables.
OURS = (
    "BayesianCoTrainingClassifier",
    "PosteriorConsistencyGPClassifier",
    "CoTrainingClassifier",
    "CoEMClassifier",
    LIGHT_CO_EM,
    "CoRegularizedLeastSquaresClassifier",
    CENTERED,
    "CoRegularizedSVC",
    "CoLaplacianLeastSquaresClassifier",
    "CoLaplacianSVC",
    "SVM2K",
    "CoRegularizedLogisticRegression",
    "ClassConditionalGaussianMixture",
    "FactorMixtureClassifier",
)
USUAL = (
    BASELINE,
    "self-training, one table",
    "label spreading, one table",
    "gradient boosting, one table",
    "co-training of sslearn",
)
# Its defaults try ten starts and up to twenty components: a minute for each fit.
_SHORT = {"n_components": 10, "n_factors": 3, "n_init": 1}
# A fit that would take more operations than this is left out: about a minute.
_MOST_OPERATIONS = 1e12
_MOST_CONSISTENT = 300


def methods_for(problem: Problem, n_labeled: int) -> dict[str, Any]:
    """The methods that take part, all with their defaults but kernels and estimators.

    Kernels are linear for words and RBF for measurements; co-EM has naive Bayes as published, co-training logistic regression.

    Parameters
    ----------
    problem : Problem
    n_labeled : int
        Number of labels, by which a method may become too long.

    Returns
    -------
    methods : dict of str to estimator
        In the order of `OURS` and `USUAL`.
    """
    return _ours(problem, n_labeled) | _usual(problem)


def _ours(problem: Problem, n_labeled: int) -> dict[str, Any]:
    kernel = "linear" if problem.is_text else "rbf"
    bayes = MultinomialNB() if problem.is_text else GaussianNB()
    offered = {
        "BayesianCoTrainingClassifier": BayesianCoTrainingClassifier(random_state=0),
        "PosteriorConsistencyGPClassifier": _posterior_consistency(n_labeled, kernel),
        "CoTrainingClassifier": CoTrainingClassifier(_logistic(), random_state=0),
        "CoEMClassifier": CoEMClassifier(bayes),
        LIGHT_CO_EM: CoEMClassifier(bayes, unlabeled_weight=0.01),
        "CoRegularizedLeastSquaresClassifier": CoRegularizedLeastSquaresClassifier(kernel, random_state=0),
        CENTERED: CoRegularizedLeastSquaresClassifier(kernel, constants="center", random_state=0),
        "CoRegularizedSVC": CoRegularizedSVC(kernel, random_state=0),
        "CoLaplacianLeastSquaresClassifier": CoLaplacianLeastSquaresClassifier(kernel, random_state=0),
        "CoLaplacianSVC": CoLaplacianSVC(kernel, random_state=0),
        "SVM2K": _svm_2k(problem, n_labeled, kernel),
        "CoRegularizedLogisticRegression": CoRegularizedLogisticRegression(),
        "ClassConditionalGaussianMixture": _dense(ClassConditionalGaussianMixture(random_state=0)),
        "FactorMixtureClassifier": _dense(FactorMixtureClassifier(**_SHORT, random_state=0)),
    }
    return {name: method for name, method in offered.items() if method is not None}


def _usual(problem: Problem) -> dict[str, Any]:
    wide = problem.is_text
    trees = HistGradientBoostingClassifier(random_state=0)
    methods = {
        BASELINE: TransductivePipeline(one_table(), _logistic()),
        "self-training, one table": OnAllSamples(one_table(), SelfTrainingClassifier(_logistic())),
        "label spreading, one table": OnAllSamples(one_table(), LabelSpreading("knn", n_neighbors=10, max_iter=200)),
        "gradient boosting, one table": TransductivePipeline(_few_columns() if wide else one_table(), trees),
    }
    peer = installed("sslearn.wrapper", "CoTraining")
    if peer is not None:
        methods["co-training of sslearn"] = OnAllSamples(AsTheyAre(), TwoTables(peer(_logistic(), random_state=0)))
    return methods


def _logistic() -> LogisticRegression:
    return LogisticRegression(max_iter=2000)


def _few_columns() -> Any:
    """Singular vectors of every view side by side, for methods that need dense columns."""
    return make_pipeline(ViewComponents(), one_table())


def _dense(classifier: Any) -> Any:
    """On the singular vectors of sparse views."""
    return OnAllSamples(ViewComponents(), classifier)


def _posterior_consistency(n_labeled: int, kernel: str) -> Any:
    """Supervised as published. None where it takes too long.

    At the default price of a divergence the search ends at kernels that say nothing, and so agree; a cross-validation of
    the price, as in the paper, would take a hundred times as long.
    """
    if n_labeled > _MOST_CONSISTENT:
        return None
    return TransductivePipeline(
        AsTheyAre(), PosteriorConsistencyGPClassifier(kernel, consistency=1e-3, max_iter=50, random_state=0)
    )


def _svm_2k(problem: Problem, n_labeled: int, kernel: str) -> Any:
    """The published method is supervised: it is given the labeled samples alone. None where it takes too long."""
    n_programs = 6 * (problem.n_classes if problem.n_classes > 2 else 1)
    operations = n_programs * 20 * (n_labeled * problem.views.n_views) ** 3 / 3
    if operations > _MOST_OPERATIONS:
        return None
    return TransductivePipeline(AsTheyAre(), SVM2K(kernel))
