"""One clustering of a user's tables: encoded, grouped, and held against the groups of every view alone."""

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from coview.cli._cluster_methods import ClusterFacts, ClusterMethod, chosen_cluster_method, gap_settings
from coview.cli._layout import progress_bar

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from coview.files import TableSet

__all__ = ["ClusterJob", "cluster_facts"]

_WIDE = 20  # columns of a table of measurements, of which one of categories is odd
_COUNTED_COLUMNS, _ZERO_SHARE = 50, 0.8  # of a table of numbers that is taken for counts
NONE = -1  # the label of samples that belong to no cluster


def cluster_facts(views: Any) -> ClusterFacts:
    """Return what decides which methods fit."""
    return ClusterFacts(
        len(views),
        int((views.presence.sum(axis=1) > 1).sum()),
        dict(views.n_features),
        tuple(name for name in views.names if hasattr(views[name], "tocsr")),
    )


class ClusterJob:
    """Samples and the clusters found among them.

    Attributes
    ----------
    encoder : Pipeline
        What made numbers of the tables.
    views : Views
        Encoded, of the samples that have a view.
    facts : ClusterFacts
    method : ClusterMethod
    model : estimator
        Fitted.
    labels : ndarray of int
        Clusters of the samples of ``views``; -1 for noise and for samples similar to nothing.
    gaps : Series or None
        By which the number of clusters was chosen; None where it was given, or found by the method.
    alone : dict of str to ndarray
        Clusters by every view alone, None for samples that lack it; only views that could be clustered.
    notes : list of str
        What was warned of.
    """

    def __init__(self, table_set: "TableSet", method: str, n_clusters: int | None, seed: int) -> None:
        self.table_set, self.seed = table_set, seed
        self.notes: list[str] = []
        self.encoder, self.views, self.facts = encoded(table_set)
        self._note_counts()
        self._note_classes()
        self.method: ClusterMethod = chosen_cluster_method(method, self.facts)
        self.gaps: pd.Series | None = None
        if self.method.counts and n_clusters is None:
            if len(self.views) < 3:
                raise ValueError(
                    f"With {len(self.views)} samples nothing speaks for a number of clusters. Give it with --n-clusters."
                )
            from coview.cluster import eigengaps

            with warnings.catch_warnings():  # what it has to say of samples, the fit says too
                warnings.simplefilter("ignore")
                try:
                    self.gaps = eigengaps(self.views, **gap_settings(self.facts), random_state=seed)
                except ValueError as error:
                    raise ValueError(
                        "These data suggest no number of clusters: the samples are too few, or too much alike. Give the number "
                        "with --n-clusters."
                    ) from error
            suggested: Any = self.gaps.idxmax()
            n_clusters = int(suggested)
        self.n_clusters = n_clusters
        with progress_bar("clusters") as progress:
            n_steps = 1 + len(self.views.names) * (self.facts.n_paired > 0)
            progress(0, n_steps, f"{method}, all views")
            self.model = self._fit(self.facts, self.views, told=True)
            self.labels: np.ndarray[Any, Any] = self.model.labels_
            self.alone = self._views_alone(lambda done, name: progress(done, n_steps, f"{method}, {name} alone"))

    def _fit(self, facts: ClusterFacts, views: Any, *, told: bool) -> Any:
        """Fit the method; its warnings are notes where they are of the result."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = self.method.make(facts, self.n_clusters, self.seed).fit(views)
            wide = not self.method.counts and len(set(model.labels_.tolist()) - {NONE}) < 2
            if wide:
                model.set_params(eps_quantile="information").fit(views)
        if told:
            self.notes += [str(warning.message) for warning in caught if warning.category is not DeprecationWarning]
            if wide:
                self._note_narrowed(model)
        return model

    def _note_counts(self) -> None:
        """Say of which tables of numbers the cells were taken for counts."""
        told = set(self.facts.sparse_views) - set(self.encoder[0].sparse_views_)
        counted = [f"'{name}'" for name in self.views.names if name in told]
        if counted:
            views = f"View {counted[0]} holds" if len(counted) == 1 else f"Views {', '.join(counted)} hold"
            self.notes.append(f"{views} counts, most of them 0: weighed by TF-IDF, and compared by their directions.")

    def _note_classes(self) -> None:
        """Ask whether the one column of categories in a table is a known class that was left in."""
        if self.table_set.target is not None:
            return
        kinds = self.encoder[0].report_
        for view, columns in kinds.groupby("view", sort=False):
            named = columns.loc[columns["kind"] == "category", "column"].tolist()
            if len(named) == 1 and (len(columns) == 1 or len(columns) > _WIDE):
                self.notes.append(
                    f"Column '{named[0]}' of '{view}' holds categories and counts as a feature. If it is a class to compare "
                    f"the clusters with, name it: --target {named[0]}."
                )

    def _note_narrowed(self, model: Any) -> None:
        """Say that the usual widths told nothing apart, and whether others did."""
        usual = f"At the usual widths the {len(model.labels_)} samples are one cluster, or noise"
        if len(set(model.labels_.tolist()) - {NONE}) > 1:
            self.notes.append(
                f"{usual}, so those were taken whose clusters say most (quantile {model.eps_quantile_:g})."
            )
        else:
            self.notes.append(
                f"{usual}, and no others tell dense regions apart. Near in one view is easy where a view has few different "
                "values (--method dbscan-intersection); other methods take the number of clusters."
            )

    def _views_alone(self, progress: Callable[[int, str], None]) -> "dict[str, np.ndarray[Any, Any]]":
        """What the same method finds in each view by itself."""
        import numpy as np

        if self.facts.n_paired == 0:
            return {}
        alone = {}
        for number, name in enumerate(self.views.names, start=1):
            progress(number, name)
            rows = self.views.rows(name)
            if len(rows) < max(3, (self.n_clusters or 1) + 1):
                self.notes.append(f"View '{name}' has {len(rows)} samples, too few to be clustered by itself.")
                continue
            view = self.views[rows].select([name])
            labels = np.full(len(self.views), None, dtype=object)
            try:
                labels[rows] = self._fit(self.facts.of_view(name, len(rows)), view, told=False).labels_
            except ValueError as error:
                self.notes.append(f"View '{name}' could not be clustered by itself: {error}")
                continue
            alone[name] = labels
        return alone

    def sizes(self) -> dict[int, int]:
        """Samples of each cluster; without those that belong to none."""
        return {c: int((self.labels == c).sum()) for c in sorted(set(self.labels.tolist()) - {NONE})}

    def n_outside(self) -> int:
        """Samples with a view that belong to no cluster."""
        return int((self.labels == NONE).sum())

    def agreement(self) -> "pd.DataFrame | None":
        """Adjusted Rand index between the clusters of all views and those of every view alone."""
        from coview.metrics import clustering_disagreement

        if not self.alone:
            return None
        return 1.0 - clustering_disagreement({"all views": self.labels, **self.alone}, adjusted=True)

    def known(self) -> dict[str, Any] | None:
        """How the clusters lie to known classes, where the data have some: over the samples that have a class."""
        import numpy as np
        from sklearn.metrics import adjusted_rand_score

        from coview.metrics import cluster_entropy

        labels = self.table_set.labels
        if labels is None or labels.dtype.kind == "f" or not labels.notna().any():
            return None
        classes = labels.reindex(self.views.index)
        rows = np.flatnonzero(classes.notna().to_numpy())
        if not len(rows):
            return None
        truth, found = classes.to_numpy()[rows].astype(str), self.labels[rows]
        return {
            "target": self.table_set.target,
            "n_labeled": len(rows),
            "adjusted_rand": float(adjusted_rand_score(truth, found)),
            "entropy_bits": float(cluster_entropy(truth, found)),
            "entropy_bits_without_clusters": float(cluster_entropy(truth, np.zeros(len(rows), dtype=int))),
        }

    def table(self) -> "pd.DataFrame":
        """One row per sample of the tables: id, cluster (empty without a view), the views it has."""
        import pandas as pd

        from coview.views import resolve_presence

        tables = self.table_set.tables
        separator = ";" if any(" " in name for name in tables.names) else " "
        presence = resolve_presence(tables)
        clusters = pd.Series(self.labels, index=self.views.index, dtype=object).reindex(tables.ids)
        frame = pd.DataFrame({"cluster": clusters.astype(object).where(clusters.notna(), None)}, index=tables.ids)
        frame["views"] = [
            separator.join(n for n, has in zip(tables.names, row, strict=True) if has) for row in presence
        ]
        name = self.table_set.id_name if self.table_set.id_name not in frame else "id"
        return frame.rename_axis(name).reset_index()


def encoded(table_set: "TableSet") -> tuple[Any, Any, ClusterFacts]:
    """Return what makes numbers of tables, the samples that have a view, and the facts about them.

    Views of counts of words are weighed by TF-IDF: standardized columns would let the rarest words decide.
    """
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.pipeline import Pipeline

    from coview.compose import TableEncoder, ViewTransformer

    counts = [table.name for table in table_set.tables.tables if _has_counts(table.values)]
    # A column that marks gaps would make a cluster of the samples that have them.
    encoder = TableEncoder(mark_gaps=False, scale=dict.fromkeys(counts, False))
    weights = ViewTransformer(dict.fromkeys(counts, TfidfTransformer(sublinear_tf=True)))
    steps = Pipeline([("encode", encoder), *([("weigh", weights)] if counts else [])])
    views = steps.fit_transform(table_set)
    has = views.presence.any(axis=1)
    views = views if has.all() else views[has]
    return steps, views, cluster_facts(views)


def _has_counts(values: Any) -> bool:
    """Whether a table holds counts, as of words: sparse, or of many columns whose cells are mostly 0."""
    import numpy as np
    import pandas as pd

    if hasattr(values, "tocsr"):
        entries = values.data
        return bool(len(entries) and (entries >= 1.0).all() and (entries % 1.0 == 0.0).all())
    if values.shape[1] < _COUNTED_COLUMNS:
        return False
    frame = pd.DataFrame(values)
    if not all(pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes):
        return False
    cells = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    cells = cells[~np.isnan(cells).all(axis=1)]
    zeros = (cells == 0.0).sum()
    return bool(
        zeros >= _ZERO_SHARE * cells.size and zeros < cells.size and (cells >= 0.0).all() and (cells % 1.0 == 0.0).all()
    )
