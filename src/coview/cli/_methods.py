"""The methods that ``coview fit`` knows: what they are, and which data they fit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["DEFAULT", "METHODS", "SIMPLE", "DataFacts", "Method", "chosen_method", "method_lines"]

DEFAULT = "bayesian-co-training"
# What every other method is held against, and what its row of the scores is called.
SIMPLE = {
    "classification": ("imputation-logistic-regression", "imputation + logistic regression"),
    "regression": ("imputation-ridge", "imputation + ridge"),
}
_MOST_COMPONENTS = 20
_LEAST_LABELS_OF_TREES = 40


@dataclass(frozen=True)
class DataFacts:
    """What decides whether a method fits the data.

    Attributes
    ----------
    task : str
        ``"classification"`` or ``"regression"``.
    n_samples, n_labeled : int
    n_features : int
        Columns of all views together, once encoded.
    sparse : bool
        Whether an encoded view is sparse.
    """

    task: str
    n_samples: int
    n_labeled: int
    n_features: int
    sparse: bool


@dataclass(frozen=True)
class Method:
    """One method: its description, its task, why it does not fit some data (None if it does), and how it is made."""

    description: str
    tasks: tuple[str, ...]
    make: Callable[[DataFacts, int], Any]
    objection: Callable[[DataFacts], str | None] = lambda facts: None

    def problem(self, facts: DataFacts) -> str | None:
        """Return why the method does not fit the data, None if it does."""
        if facts.task not in self.tasks:
            return f"it is for {self.tasks[0]}, and the labels ask for {facts.task}"
        return self.objection(facts)


def _co_training(latent: str) -> Callable[[DataFacts, int], Any]:
    def make(facts: DataFacts, seed: int) -> Any:
        from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor

        options: dict[str, Any] = {"latent": latent, "no_view": "prior", "random_state": seed}
        if facts.task == "classification":
            return BayesianCoTrainingClassifier(**options)
        # The evidence of numbers is exact, and not deceived where a setting has as many features as there are labels.
        return BayesianCoTrainingRegressor(weighting="evidence", **options)

    return make


def _usual(name: str) -> Callable[[DataFacts, int], Any]:
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


def _needs_dense(facts: DataFacts) -> str | None:
    return "it needs dense columns, and a view has prose or very many categories" if facts.sparse else None


def _needs_columns(facts: DataFacts) -> str | None:
    few = facts.n_features < 4 or facts.n_samples < 4
    return f"it reduces columns, and there are {facts.n_features} of {facts.n_samples} samples" if few else None


def _trees(facts: DataFacts) -> str | None:
    if facts.n_labeled < _LEAST_LABELS_OF_TREES:
        return f"its trees need {_LEAST_LABELS_OF_TREES} labels to split at all, and there are {facts.n_labeled}"
    return _needs_dense(facts)


_BOTH = ("classification", "regression")
METHODS: Mapping[str, Method] = {
    "bayesian-co-training": Method(
        "views agree softly, on unlabeled samples too; averages over how far they do and which to trust",
        _BOTH,
        _co_training("mean"),
    ),
    "bayesian-co-training-consensus": Method(
        "the papers' model: labels attach to one consensus of the views", _BOTH, _co_training("consensus")
    ),
    "imputation-logistic-regression": Method(
        "all columns side by side, gaps filled with means, logistic regression",
        ("classification",),
        _usual("imputation-logistic-regression"),
    ),
    "imputation-pca-logistic-regression": Method(
        "the same on principal components",
        ("classification",),
        _usual("imputation-pca-logistic-regression"),
        _needs_columns,
    ),
    "imputation-ridge": Method(
        "all columns side by side, gaps filled with means, ridge regression",
        ("regression",),
        _usual("imputation-ridge"),
    ),
    "imputation-pca-ridge": Method(
        "the same on principal components", ("regression",), _usual("imputation-pca-ridge"), _needs_columns
    ),
    "gradient-boosting": Method(
        "trees on all columns side by side, gaps left as they are", _BOTH, _usual("gradient-boosting"), _trees
    ),
}


def chosen_method(name: str, facts: DataFacts) -> Method:
    """Return the method of this name; raise ValueError where there is none or it does not fit the data."""
    if name not in METHODS:
        raise ValueError(f"There is no method '{name}'; there are {', '.join(METHODS)}.")
    problem = METHODS[name].problem(facts)
    if problem is not None:
        raise ValueError(f"Method '{name}' does not fit these data: {problem}. --method list shows those that do.")
    return METHODS[name]


def method_lines(facts: DataFacts | None = None) -> list[str]:
    """Return one line per method: those that fit the data first, then why the others do not."""
    width = max(map(len, METHODS))
    if facts is None:
        return [
            f"{name:<{width}}  {method.description} ({' and '.join(method.tasks)})" for name, method in METHODS.items()
        ]
    problems = {name: method.problem(facts) for name, method in METHODS.items()}
    fitting = [f"{name:<{width}}  {METHODS[name].description}" for name, problem in problems.items() if not problem]
    return fitting + [f"{name:<{width}}  not here: {problem}" for name, problem in problems.items() if problem]
