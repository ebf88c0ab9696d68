"""Graphs over views or samples, embedded, with what places new samples in them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coview.cluster._affinities import ViewAffinity, fit_affinity
from coview.cluster._refusals import (
    check_has_view,
    is_constant,
    refuse_constant_views,
    refuse_few_different,
    refuse_unlinked_views,
)
from coview.exceptions import ViewError
from coview.inference import SpectralEmbedding, affinity_embedding, disagreement_embedding
from coview.kernels import CoTrainingAffinity, SharedViewsAffinity
from coview.labels import encode_labels
from coview.views import Views, some, value_per_view

__all__ = [
    "Anchors",
    "FusedGraph",
    "LinkedGraph",
    "affinities_to_training",
    "blocks_of_samples",
    "check_similar_to_something",
    "fit_affinities",
    "own_columns",
]

Array = NDArray[np.float64]

# Affinities of new samples with training samples held at a time: 32 MiB per view.
_BLOCK_VALUES = 2**22


@dataclass(frozen=True)
class Anchors:
    """Samples whose cluster is known.

    Attributes
    ----------
    codes : ndarray of int of shape (n_samples,)
        Number of the cluster, -1 where it is not known.
    """

    codes: NDArray[np.intp]

    @classmethod
    def of(cls, anchors: Any, n_samples: int, n_clusters: int) -> Self:
        """Read labels in any coding; raises where there are more of them than clusters."""
        if anchors is None:
            return cls(np.full(n_samples, -1, dtype=np.intp))
        classes, codes = encode_labels(anchors)
        if len(codes) != n_samples:
            raise ValueError(f"anchors must have one entry per sample ({n_samples}); got {len(codes)}.")
        if len(classes) > n_clusters:
            raise ValueError(f"anchors name {len(classes)} clusters, and n_clusters is {n_clusters}.")
        return cls(codes.astype(np.intp))


def fit_affinities(
    model: Any, views: Views, random_state: np.random.RandomState, *, constant_views: bool = True
) -> list[ViewAffinity]:
    """Affinities of all views; raises where samples that are the same would have to be told apart.

    A view with the same row for everybody is refused unless ``constant_views``, and where neighbors in it are asked for.
    """
    check_has_view(views)
    refuse_unlinked_views(views)
    names = list(views.names)
    kernels, sigmas = value_per_view(model.kernel, names, "kernel"), value_per_view(model.sigma, names, "sigma")
    fitted = []
    own = [isinstance(kernel, str) and kernel == "precomputed" for kernel in kernels]
    if not any(own):
        refuse_few_different(views, model.n_clusters)
    if model.n_clusters > 1:
        near = [isinstance(kernel, str) and kernel == "nearest_neighbors" for kernel in kernels]
        asked = [n for n, given, k in zip(names, own, near, strict=True) if k or not (given or constant_views)]
        refuse_constant_views(views, asked)
    for name, kernel, sigma in zip(names, kernels, sigmas, strict=True):
        block = views[name]
        if isinstance(kernel, str) and kernel == "precomputed":
            block = own_columns(block, views.rows(name), len(views), name)
        fitted.append(fit_affinity(block, kernel, sigma, model.n_neighbors, name, model.n_clusters, random_state))
    return fitted


def own_columns(block: Any, rows: NDArray[np.intp], n_samples: int, name: str) -> Any:
    """Columns of the samples that have the view, where a matrix has one for every sample."""
    if block.shape[1] != n_samples:
        raise ViewError(
            f"View {name!r} is precomputed, so it must have one column per sample ({n_samples}); it has {block.shape[1]}."
        )
    return block if len(rows) == n_samples else block[:, rows]


def affinities_to_training(affinities: list[ViewAffinity], views: Views, presence: NDArray[np.bool_]) -> list[Any]:
    """Affinities of new samples with training samples, view by view; precomputed ones are cut to those that had the view."""
    found = []
    for j, (affinity, name) in enumerate(zip(affinities, views.names, strict=True)):
        block = views[name]
        if affinity.kind == "precomputed":
            block = own_columns(block, np.flatnonzero(presence[:, j]), len(presence), name)
        found.append(affinity.to_training(block))
    return found


@dataclass(frozen=True)
class LinkedGraph:
    """Rows of every view as nodes, joined through samples that have several views.

    Attributes
    ----------
    affinities : list of ViewAffinity
    presence : ndarray of shape (n_samples, n_views)
        Of the training samples.
    links : ndarray of int of shape (n_links,)
        Samples through which views are compared.
    embedding : SpectralEmbedding
    """

    affinities: list[ViewAffinity]
    presence: NDArray[np.bool_]
    links: NDArray[np.intp]
    embedding: SpectralEmbedding

    @classmethod
    def fit(cls, model: Any, views: Views, random_state: np.random.RandomState) -> LinkedGraph | FusedGraph:
        """Embed; one view alone has nothing to agree with, and is embedded by its own affinities."""
        if int(views.presence.any(axis=0).sum()) < 2:
            return FusedGraph.fit(model, views, random_state)
        presence = np.asarray(views.presence)
        links = np.flatnonzero(presence.sum(axis=1) > 1)
        if not len(links):
            raise ViewError(
                "No sample has two views, so nothing says which rows of different views belong together. Cluster each view "
                "alone, or add samples with several views."
            )
        if model.n_landmarks is not None and model.n_landmarks < len(links):
            links = np.sort(random_state.choice(links, model.n_landmarks, replace=False))
        telling = [name for name in views.names if len(views.rows(name)) and not is_constant(views[name])]
        affinities = fit_affinities(model, views, random_state, constant_views=len(telling) > 1)
        _refuse_neighbors_of_landmarks(affinities, list(views.names), links, presence)
        to_links = [
            _training_with_links(a, links, has, model.n_landmarks)
            for a, has in zip(affinities, presence.T, strict=True)
        ]
        return cls(affinities, presence, links, disagreement_embedding(to_links, model.n_clusters))

    def training_rows(self) -> list[Array]:
        """Unit rows of the training samples, view by view."""
        return [self.embedding.rows(v) for v in range(self.presence.shape[1])]

    def new_rows(self, views: Views) -> list[Array]:
        """Unit rows of new samples, view by view."""
        return [self._new_rows_in(v, name, views) for v, name in enumerate(views.names)]

    def _new_rows_in(self, v: int, name: str, views: Views) -> Array:
        affinity, has, new = self.affinities[v], self.presence[:, v], views[name]
        if affinity.kind == "precomputed":
            new = own_columns(new, np.flatnonzero(has), len(has), name)
        parts = [
            self.embedding.new_rows(v, _with_links(affinity, new[block], self.links, has))
            for block in blocks_of_samples(new.shape[0], len(has), [affinity])
        ]
        return np.vstack(parts)


def _refuse_neighbors_of_landmarks(
    affinities: list[ViewAffinity], names: list[str], links: NDArray[np.intp], presence: NDArray[np.bool_]
) -> None:
    """Raise where views are compared through few samples, and a sample is similar to its nearest neighbors alone."""
    if len(links) == int((presence.sum(axis=1) > 1).sum()):
        return
    near = [name for name, affinity in zip(names, affinities, strict=True) if affinity.kind == "nearest_neighbors"]
    if near:
        raise ValueError(
            f"n_landmarks does not go with kernel='nearest_neighbors' (views {', '.join(map(repr, near))}): few samples have a "
            "landmark among their neighbors. Leave n_landmarks out; affinities of neighbors are sparse already."
        )


def blocks_of_samples(n_new: int, n_training: int, affinities: list[ViewAffinity]) -> list[slice]:
    """So many new samples at a time that their affinities with all training samples stay small; one block at least."""
    if all(affinity.kind == "nearest_neighbors" for affinity in affinities):
        return [slice(0, n_new)]
    step = max(1, _BLOCK_VALUES // max(1, n_training))
    return [slice(start, min(start + step, n_new)) for start in range(0, max(1, n_new), step)]


def _training_with_links(
    affinity: ViewAffinity, links: NDArray[np.intp], has: NDArray[np.bool_], n_landmarks: int | None
) -> Any:
    """Affinities of a view's training samples with the links (n_with_view, n_links)."""
    if n_landmarks is None or affinity.kind == "nearest_neighbors" or len(affinity.widths) > 1:
        return _scattered(affinity.training(), links, has)
    return _with_links(affinity, affinity.rows, links, has)


def _with_links(affinity: ViewAffinity, rows: Any, links: NDArray[np.intp], has: NDArray[np.bool_]) -> Any:
    """Affinities of rows of a view with the links (n_rows, n_links), zero where a link lacks the view."""
    if affinity.kind not in ("rbf", "kernel") or len(affinity.widths) > 1:
        return _scattered(affinity.to_training(rows), links, has)
    # Only the columns of the links are ever computed.
    here = has[links]
    known = affinity.rows if len(links) == len(has) and here.all() else affinity.rows[(np.cumsum(has) - 1)[links[here]]]
    few = ViewAffinity(affinity.kind, known, affinity.widths, kernel=affinity.kernel).to_training(rows)
    if here.all():
        return few
    values = np.zeros((rows.shape[0], len(links)))
    values[:, here] = few
    return values


def _scattered(values: Any, links: NDArray[np.intp], has: NDArray[np.bool_]) -> Any:
    """Columns of a view's samples (n, n_with_view) at the links (n, n_links), zero where a link lacks the view."""
    if len(links) == len(has) and has.all():
        return values
    own = np.cumsum(has) - 1
    here = has[links]
    picked = values[:, own[links[here]]]
    if sparse.issparse(picked):
        place = sparse.csr_array(
            (np.ones(here.sum()), (np.arange(here.sum()), np.flatnonzero(here))), (here.sum(), len(links))
        )
        return sparse.csr_array(picked @ place)
    full = np.zeros((values.shape[0], len(links)))
    full[:, here] = picked
    return full


@dataclass(frozen=True)
class FusedGraph:
    """Samples as nodes, by one affinity from those of all views.

    Attributes
    ----------
    affinities : list of ViewAffinity
    presence : ndarray of shape (n_samples, n_views)
    fusion : SharedViewsAffinity or CoTrainingAffinity
    embedding : SpectralEmbedding
    """

    affinities: list[ViewAffinity]
    presence: NDArray[np.bool_]
    fusion: SharedViewsAffinity | CoTrainingAffinity
    embedding: SpectralEmbedding

    @classmethod
    def fit(cls, model: Any, views: Views, random_state: np.random.RandomState) -> FusedGraph:
        """Fuse and embed."""
        presence = np.asarray(views.presence)
        affinities = fit_affinities(model, views, random_state)
        fusion: SharedViewsAffinity | CoTrainingAffinity
        if model.affinity == "co_training":
            fusion = CoTrainingAffinity(
                value_per_view(model.view_variances, list(views.names), "view_variances"), presence
            )
        else:
            fusion = SharedViewsAffinity("joint" if model.affinity == "joint" else "sum", presence)
        fused = fusion.training([affinity.training() for affinity in affinities])
        return cls(affinities, presence, fusion, affinity_embedding(fused, model.n_clusters))

    def training_rows(self) -> list[Array]:
        """Unit rows of the training samples, as a list of one."""
        return [self.embedding.rows(0)]

    def new_rows(self, views: Views) -> list[Array]:
        """Unit rows of new samples, as a list of one."""
        if isinstance(self.fusion, CoTrainingAffinity):
            values = affinities_to_training(self.affinities, views, self.presence)
            training = [affinity.training() for affinity in self.affinities]
            return [self.embedding.new_rows(0, self.fusion.to_training(values, np.asarray(views.presence), training))]
        parts = []
        for block in blocks_of_samples(len(views), len(self.presence), self.affinities):
            part = views[block]
            values = affinities_to_training(self.affinities, part, self.presence)
            parts.append(self.embedding.new_rows(0, self.fusion.to_training(values, np.asarray(part.presence))))
        return [np.vstack(parts)]


def check_similar_to_something(rows: Array, views: Views) -> None:
    """Warn of samples without a row: they are similar to nothing."""
    lost = np.flatnonzero((rows == 0.0).all(axis=1))
    if len(lost):
        warnings.warn(
            f"{len(lost)} samples are similar to no other that tells views apart: {some(views.index[lost])}. Their label is -1; "
            "a wider sigma may reach them.",
            UserWarning,
            stacklevel=4,
        )
