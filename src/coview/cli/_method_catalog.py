"""The methods that ``coview fit`` knows, with settings made from facts about the data."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from coview.cli._method_facts import BOTH, CLASSES, NUMBERS, DataFacts, Method, first_of
from coview.cli._method_objections import (
    many_columns,
    needs_columns,
    needs_dense,
    needs_trees,
    pairs,
    repeats,
    tied,
    ties,
    unlabeled,
)

__all__ = ["METHODS"]

_MOST_COMPONENTS = 20
_MOST_PAIRS = 5000
_MOST_TIES = 2000  # unknowns of a quadratic program that is solved six times
_MOST_COVARIANCES = 100
_MOST_EXACT = 300
_MOST_UNIONS = 63  # of views; each is fitted once for every fold
Make = Callable[[DataFacts, int], Any]


def _class(place: str, name: str, **options: Any) -> Make:
    """Return what makes an estimator; an option that is a function is asked with the facts."""

    def make(facts: DataFacts, seed: int) -> Any:
        chosen = {key: value(facts) if callable(value) else value for key, value in options.items()}
        estimator = getattr(import_module(f"coview.{place}"), name)(**chosen)
        known = estimator.get_params()
        common = {"no_view": "prior", "random_state": seed}
        return estimator.set_params(**{key: value for key, value in common.items() if key in known})

    return make


def _bayesian(latent: str) -> Make:
    def make(facts: DataFacts, seed: int) -> Any:
        from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor

        options: dict[str, Any] = {"latent": latent, "no_view": "prior", "random_state": seed}
        if facts.task == "classification":
            return BayesianCoTrainingClassifier(**options)
        # The evidence of numbers is exact, and not deceived where a setting has as many features as there are labels.
        return BayesianCoTrainingRegressor(weighting="evidence", **options)

    return make


def _usual(name: str) -> Make:
    def make(facts: DataFacts, seed: int) -> Any:
        from coview.model_selection import usual_methods

        # Folds have fewer samples and columns than the whole.
        n_components = max(1, min(_MOST_COMPONENTS, facts.n_samples // 2, facts.n_features // 2))
        methods = usual_methods(
            facts.task,  # type: ignore[arg-type]
            n_components=n_components,
            sparse=facts.sparse,
            random_state=seed,
        )
        return methods[name]

    return make


def _kernel(facts: DataFacts) -> str:
    return facts.kernel


def _gentle(strength: float) -> Callable[[DataFacts], float]:
    """A price per sample, so that many samples without a label do not drown the labels."""
    return lambda facts: strength / facts.n_samples


def _of_labels(strength: float) -> Callable[[DataFacts], float]:
    """A price, or weight, of all unlabeled samples together, as a part of what the labels weigh."""
    return lambda facts: strength * facts.n_labeled / max(facts.n_samples - facts.n_labeled, 1)


def _per_tie(facts: DataFacts) -> float:
    return _of_labels(0.1)(facts) / max(facts.n_views - 1, 1)


def _per_pair(facts: DataFacts) -> float:
    """Divergences grow with samples and pairs of views, evidence with labels: beyond this all functions become constant."""
    n_pairs = max(facts.n_views * (facts.n_views - 1) // 2, 1)
    return 1e-5 * facts.n_labeled / (facts.n_samples * n_pairs)


def _low_rank(facts: DataFacts) -> str:
    return "low_rank" if facts.n_samples > _MOST_EXACT else "exact"


def _planes(facts: DataFacts) -> int:
    """Several planes per class, each with some samples: classes are told apart better than by as few as BIC likes."""
    return max(facts.n_classes, min(4 * facts.n_classes, facts.n_samples // 8))


def _logistic(facts: DataFacts) -> Any:
    """Logistic regression; rows of words have unit length, which asks for less regularization than standardized columns."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=10.0 if facts.sparse else 1.0, max_iter=1000)


def _co_training(facts: DataFacts, seed: int) -> Any:
    if facts.task == "classification":
        return _class("semi_supervised", "CoTrainingClassifier", estimators=_logistic)(facts, seed)
    return _class("semi_supervised", "CoTrainingRegressor")(facts, seed)


def _late_fusion(**options: Any) -> Make:
    def make(facts: DataFacts, seed: int) -> Any:
        if facts.task == "classification":
            return _class("ensemble", "ViewVotingClassifier", estimators=_logistic, **options)(facts, seed)
        return _class("ensemble", "ViewVotingRegressor", **options)(facts, seed)

    return make


def _of_labeled(name: str) -> Make:
    """A classifier by neighbors, which needs a label for every sample that it keeps."""

    def make(facts: DataFacts, seed: int) -> Any:
        from coview.compose import ViewTransformer
        from coview.model_selection import TransductivePipeline

        return TransductivePipeline(ViewTransformer(), _class("neighbors", name)(facts, seed))

    return make


def _co_regularized_least_squares(facts: DataFacts, seed: int) -> Any:
    name = f"CoRegularizedLeastSquares{'Classifier' if facts.task == 'classification' else 'Regressor'}"
    centered = {} if facts.task == "classification" else {"normalize_y": True}
    return _class("semi_supervised", name, kernel=_kernel, coupling=0.1, **centered)(facts, seed)


def _posterior_consistency(facts: DataFacts, seed: int) -> Any:
    name = f"PosteriorConsistencyGP{'Classifier' if facts.task == 'classification' else 'Regressor'}"
    options: dict[str, Any] = {
        "kernel": _kernel,
        "consistency": _per_pair,
        "approximation": _low_rank,
        "n_components": 30,
    }
    centered = {} if facts.task == "classification" else {"normalize_y": True}
    return _class("gaussian_process", name, **options, **centered, max_iter=30)(facts, seed)


METHODS: Mapping[str, Method] = {
    "bayesian-co-training": Method(
        "views agree softly, on unlabeled samples too; averages over how far they do and which to trust",
        BOTH,
        _bayesian("mean"),
    ),
    "bayesian-co-training-consensus": Method(
        "the papers' model: labels attach to one consensus of the views", BOTH, _bayesian("consensus")
    ),
    "co-training": Method(
        "a model per view; in rounds each labels for the others the samples of which it is surest",
        BOTH,
        _co_training,
        first_of(ties, unlabeled),
    ),
    "co-em": Method(
        "a classifier per view; each learns from the probabilities that the others give all samples",
        CLASSES,
        _class(
            "semi_supervised", "CoEMClassifier", estimators=_logistic, combine="mean", unlabeled_weight=_of_labels(0.1)
        ),
        first_of(ties, unlabeled),
    ),
    "co-regularized-least-squares": Method(
        "least squares per view, drawn to agree on all samples",
        BOTH,
        _co_regularized_least_squares,
        first_of(ties, pairs(_MOST_PAIRS)),
    ),
    "co-regularized-svm": Method(
        "a support vector machine per view, drawn to agree on all samples",
        CLASSES,
        _class("semi_supervised", "CoRegularizedSVC", kernel=_kernel, coupling=0.01),
        first_of(ties, tied(_MOST_PAIRS)),
    ),
    "co-laplacian-least-squares": Method(
        "least squares per view, alike for samples that are neighbors in any view",
        CLASSES,
        _class("semi_supervised", "CoLaplacianLeastSquaresClassifier", kernel=_kernel, gamma_intrinsic=_gentle(0.1)),
        pairs(_MOST_PAIRS),
    ),
    "co-laplacian-svm": Method(
        "a support vector machine per view, alike for samples that are neighbors in any view",
        CLASSES,
        _class(
            "semi_supervised",
            "CoLaplacianSVC",
            kernel=_kernel,
            gamma_intrinsic=_gentle(0.1),
            tied_intercept="middle",
        ),
        pairs(_MOST_PAIRS),
    ),
    "svm-2k": Method(
        "support vector machines of the views that pay where their outputs differ",
        CLASSES,
        _class("svm", "SVM2K", kernel=_kernel),
        first_of(ties, tied(_MOST_TIES)),
    ),
    "posterior-consistency": Method(
        "a Gaussian process per view, with parameters for which the views believe the same",
        BOTH,
        _posterior_consistency,
        first_of(ties, pairs(_MOST_PAIRS)),
    ),
    "co-regularized-logistic": Method(
        "a logistic regression per view, tied where samples have several",
        CLASSES,
        _class("linear_model", "CoRegularizedLogisticRegression", co_regularization=_per_tie),
        first_of(ties, needs_dense, many_columns(_MOST_COVARIANCES)),
    ),
    "class-conditional-mixture": Method(
        "a Gaussian per class over all views, with any value missing",
        CLASSES,
        _class("mixture", "ClassConditionalGaussianMixture", covariance_type="diag", reg_covar=0.5),
        first_of(needs_dense, many_columns(_MOST_COVARIANCES)),
    ),
    "factor-mixture": Method(
        "a mixture of planes through all views, each with its own shares of the classes",
        CLASSES,
        _class(
            "mixture",
            "FactorMixtureClassifier",
            n_components=_planes,
            noise_variance=1.0,
            class_smoothing=0.1,
            n_init=3,
        ),
        first_of(needs_dense, many_columns(_MOST_COVARIANCES)),
    ),
    "co-em-mixture": Method(
        "a mixture per view, all with the same components: one for each class",
        CLASSES,
        _class("mixture", "CoEMMixture", covariance_type="diag", n_init=3, reg_covar=0.1),
        needs_dense,
    ),
    "late-fusion": Method(
        "a linear model per view, by itself; the mean of what they say",
        BOTH,
        _late_fusion(),
    ),
    "stacking": Method(
        "a linear model per view; held-out labels teach what each is worth",
        BOTH,
        _late_fusion(voting="stacking"),
        repeats,
    ),
    "view-ensemble": Method(
        "a linear model for each union of views; those that held-out labels favor vote",
        CLASSES,
        _class("ensemble", "ViewEnsembleClassifier", estimator=_logistic, combination="soft", max_subsets=_MOST_UNIONS),
    ),
    "neighbors": Method(
        "nearest labeled neighbors in every view; views whose neighbors agree count more",
        CLASSES,
        _of_labeled("MultiRepresentedKNeighborsClassifier"),
    ),
    "hyperplane-neighbors": Method(
        "the nearest of the hyperplanes through a sample's neighbors in every class, all columns side by side",
        CLASSES,
        _of_labeled("HyperplaneKNeighborsClassifierCV"),
        first_of(needs_dense, pairs(_MOST_PAIRS)),
    ),
    "imputation-logistic-regression": Method(
        "all columns side by side, gaps filled with means, logistic regression",
        CLASSES,
        _usual("imputation-logistic-regression"),
    ),
    "imputation-pca-logistic-regression": Method(
        "the same on principal components", CLASSES, _usual("imputation-pca-logistic-regression"), needs_columns
    ),
    "imputation-ridge": Method(
        "all columns side by side, gaps filled with means, ridge regression", NUMBERS, _usual("imputation-ridge")
    ),
    "imputation-pca-ridge": Method(
        "the same on principal components", NUMBERS, _usual("imputation-pca-ridge"), needs_columns
    ),
    "gradient-boosting": Method(
        "trees on all columns side by side, gaps left as they are", BOTH, _usual("gradient-boosting"), needs_trees
    ),
}
