"""Clusterings of the same documents: co-EM, EM on one view, and two rivals that know nothing of views."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import normalize

from coview import Views
from coview.metrics import cluster_entropy
from coview.mixture import CoEMMixture

from .problems import Problem, without_empty_rows

__all__ = [
    "ANNEALED",
    "CLUSTERED",
    "CONCATENATED",
    "CONSENSUS",
    "CO_EM",
    "MERGED",
    "PARTS",
    "RANDOM",
    "Setting",
]

CO_EM, OBSERVED = "co-EM", "co-EM, empty rows observed"
CONCATENATED, MERGED = "EM, views concatenated", "EM, views merged"
K_MEANS, GAUSSIANS = "k-means, unit rows of tf-idf", "Gaussian mixture, 20 singular vectors"
RANDOM, CLUSTERED = "random", "kmeans"
ANNEALED = "annealed"
_ANNEALING_SWEEPS = 20
DIMENSIONS = 20
CONSENSUS = ("0", "0.25", "0.5", "0.75", "1", ANNEALED)
LARGEST_SPLIT = 6


@dataclass(frozen=True)
class Setting:
    """What a clustering is made with.

    Attributes
    ----------
    part : str
        Of the experiment.
    data, method, start : str
    smoothing : float
        Pseudo-count; NaN where the method has none.
    consensus : str
        A number, or "annealed"; empty where the method has none.
    n_clusters, n_views : int
    """

    part: str
    data: str
    method: str
    start: str
    n_clusters: int
    n_views: int = 0
    smoothing: float = np.nan
    consensus: str = ""

    def score(self, labels_true: NDArray[Any], repeat: int, seed: int, views: Views) -> dict[str, Any]:
        """One run of co-EM or EM from one start, scored."""
        annealed = self.consensus == ANNEALED
        model = CoEMMixture(
            self.n_clusters,
            distributions="multinomial",
            consensus=1.0 if annealed or not self.consensus else float(self.consensus),
            anneal=_ANNEALING_SWEEPS if annealed else 0,
            smoothing=self.smoothing,
            init=self.start,
            n_init=1,
            random_state=_state(seed, repeat),
        )
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", UserWarning
            )  # of convergence, and of components left empty, which are counted
            model.fit(views)
        found = {"criterion": float(model.criterion_), "log_likelihood": _log_likelihood(model, views)}
        return self.scored(labels_true, model.labels_, repeat, **found, sweeps=model.n_iter_)

    def scored(
        self,
        labels_true: NDArray[Any],
        labels: NDArray[Any],
        repeat: int,
        criterion: float = np.nan,
        log_likelihood: float = np.nan,
        sweeps: float = np.nan,
    ) -> dict[str, Any]:
        """A row of the scores."""
        bits = cluster_entropy(labels_true, labels)
        fit = {"criterion": criterion, "log_likelihood": log_likelihood, "sweeps": sweeps}
        return asdict(self) | {"repeat": repeat, "bits": bits, **fit, "clusters": len(np.unique(labels))}


def numbers(problem: Problem) -> tuple[int, ...]:
    """Numbers of clusters of figure 1."""
    return (2, 4, problem.n_classes, 10, 15)


def from_chance(problem: Problem, repeats: Sequence[int], seed: int) -> Iterator[dict[str, Any]]:
    """Figure 1: documents with links, for several numbers of clusters, from random starts."""
    single = [(f"EM, {name} alone", problem.views[name]) for name in problem.views["as they are"].names]
    for n_clusters in numbers(problem):
        yield from _linked(problem, [*_mixtures(problem), *single], RANDOM, n_clusters, 1.0, repeats, seed)


def from_clusters(problem: Problem, repeats: Sequence[int], seed: int) -> Iterator[dict[str, Any]]:
    """The same from the starts that are the default, beside the rivals."""
    for n_clusters in numbers(problem):
        yield from _linked(problem, _mixtures(problem), CLUSTERED, n_clusters, 1.0, repeats, seed)
        yield from _rivals(problem, n_clusters, repeats, seed)


def pseudo_counts(problem: Problem, repeats: Sequence[int], seed: int) -> Iterator[dict[str, Any]]:
    """Pseudo-counts below the default: a tenth, and none, which is what the paper prints."""
    for n_clusters in numbers(problem):
        for start in (RANDOM, CLUSTERED):
            yield from _linked(problem, _mixtures(problem), start, n_clusters, 0.1, repeats, seed)
    yield from _linked(problem, _mixtures(problem), RANDOM, problem.n_classes, 0.0, repeats, seed)


def _linked(
    problem: Problem,
    methods: Sequence[tuple[str, Views]],
    start: str,
    n_clusters: int,
    smoothing: float,
    repeats: Sequence[int],
    seed: int,
) -> Iterator[dict[str, Any]]:
    """Some mixtures of multinomials with one number of clusters."""
    for repeat in repeats:
        for method, views in methods:
            setting = Setting("linked", problem.name, method, start, n_clusters, views.n_views, smoothing, "1")
            yield setting.score(problem.labels, repeat, seed, views)


def _mixtures(problem: Problem) -> list[tuple[str, Views]]:
    """Co-EM and the paper's two baselines."""
    views = problem.views
    return [(CO_EM, views["as they are"]), (CONCATENATED, views["concatenated"]), (MERGED, views["merged"])]


def _rivals(problem: Problem, n_clusters: int, repeats: Sequence[int], seed: int) -> Iterator[dict[str, Any]]:
    """Clusterings of all words and links in one vector."""
    counts = sparse.csr_matrix(problem.views["concatenated"]["all"])
    rows = normalize(TfidfTransformer(sublinear_tf=True).fit_transform(counts))
    vectors = normalize(TruncatedSVD(DIMENSIONS, random_state=0).fit_transform(rows))
    rivals: dict[str, Callable[[int], NDArray[Any]]] = {
        K_MEANS: lambda state: KMeans(n_clusters, n_init=1, random_state=state).fit_predict(rows),
        GAUSSIANS: lambda state: GaussianMixture(n_clusters, covariance_type="tied", random_state=state).fit_predict(
            vectors
        ),
    }
    for method, cluster in rivals.items():
        setting = Setting("linked", problem.name, method, CLUSTERED, n_clusters, 1)
        for repeat in repeats:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                labels = cluster(_state(seed, repeat))
            yield setting.scored(problem.labels, labels, repeat)


def consensus(problem: Problem, repeats: Sequence[int], seed: int, start: str) -> Iterator[dict[str, Any]]:
    """How empty rows are read, and how much the other views weigh, at the true number of clusters."""
    views = problem.views["as they are"]
    observed = Setting("empty rows", problem.name, OBSERVED, start, problem.n_classes, views.n_views, 1.0, "1")
    for repeat in repeats:
        yield observed.score(problem.labels, repeat, seed, problem.views["empty rows observed"])
        for weight in CONSENSUS:
            setting = replace(observed, part="consensus", method=CO_EM, consensus=weight)
            yield setting.score(problem.labels, repeat, seed, views)


def splits(problem: Problem, repeats: Sequence[int], seed: int) -> Iterator[dict[str, Any]]:
    """Figure 2: text whose words are dealt at random to views."""
    n_clusters, text = problem.n_classes, problem.views["as they are"]
    for repeat in repeats:
        for n_views in range(1, LARGEST_SPLIT + 1):
            views = without_empty_rows(text.random_split(n_views, random_state=_state(seed, repeat)))
            for smoothing in (0.1, 1.0):
                setting = Setting("splits", problem.name, CO_EM, RANDOM, n_clusters, n_views, smoothing, "1")
                score = setting.score(problem.labels, repeat, seed, views)
                yield score
            if n_views == 2:
                yield score | {"part": "consensus"}
                for weight in CONSENSUS:
                    if weight != setting.consensus:
                        weighted = replace(setting, part="consensus", consensus=weight)
                        yield weighted.score(problem.labels, repeat, seed, views)


# Part -> whether it is about texts rather than linked documents, and what yields its scores.
PARTS: dict[str, tuple[bool, Callable[[Problem, Sequence[int], int], Iterator[dict[str, Any]]]]] = {
    "random starts": (False, from_chance),
    "random splits": (True, splits),
    "smaller pseudo-counts": (False, pseudo_counts),
    "consensus, random starts": (False, partial(consensus, start=RANDOM)),
    "k-means starts": (False, from_clusters),
    "consensus, k-means starts": (False, partial(consensus, start=CLUSTERED)),
}


def _log_likelihood(model: CoEMMixture, views: Views) -> float:
    """Of all views together, independent given the component, without multinomial coefficients; by it starts are chosen."""
    with np.errstate(divide="ignore"):
        logs = np.tile(np.log(model.weights_), (views.n_samples, 1))
        for name, parameters in zip(views.names, model.params_, strict=True):
            logs[views.rows(name)] += views[name] @ np.log(parameters["theta"]).T
    return float(np.logaddexp.reduce(logs, axis=1).sum())


@cache
def _state(seed: int, repeat: int) -> int:
    """Seed of one repetition, the same for every method."""
    return int(np.random.default_rng([seed, repeat]).integers(2**31))
