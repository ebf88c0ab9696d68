"""Why a method of ``coview fit`` may not fit some data, in words."""

from coview.cli._method_facts import DataFacts, Objection

__all__ = [
    "many_columns",
    "needs_columns",
    "needs_dense",
    "needs_trees",
    "pairs",
    "repeats",
    "tied",
    "ties",
    "unlabeled",
]

_LEAST_LABELS_OF_TREES = 40


def needs_dense(facts: DataFacts) -> str | None:
    """Return an objection to sparse views."""
    return "it needs dense columns, and a view has prose or very many categories" if facts.sparse else None


def needs_columns(facts: DataFacts) -> str | None:
    """Return an objection to so few columns that there is nothing to reduce."""
    few = facts.n_features < 4 or facts.n_samples < 4
    return f"it reduces columns, and there are {facts.n_features} of {facts.n_samples} samples" if few else None


def needs_trees(facts: DataFacts) -> str | None:
    """Return an objection to fewer labels than trees can split."""
    if facts.n_labeled < _LEAST_LABELS_OF_TREES:
        return f"its trees need {_LEAST_LABELS_OF_TREES} labels to split at all, and there are {facts.n_labeled}"
    return needs_dense(facts)


def ties(facts: DataFacts) -> str | None:
    """Return an objection to a single view."""
    return "it makes views agree, and there is one" if facts.n_views < 2 else None


def unlabeled(facts: DataFacts) -> str | None:
    """Return an objection to labels for all samples."""
    if facts.n_labeled < facts.n_samples:
        return None
    return "it learns from samples without a label, and all have one"


def pairs(most: int) -> Objection:
    """Return the objection of a method that compares all pairs of samples, up to so many."""

    def objection(facts: DataFacts) -> str | None:
        if facts.n_samples <= most:
            return None
        return f"it compares all pairs of samples, and there are {facts.n_samples}; here it takes up to {most}"

    return objection


def tied(most: int) -> Objection:
    """Return the objection of a method whose program has an unknown per sample and pair of views, up to so many."""

    def objection(facts: DataFacts) -> str | None:
        n_ties = facts.n_samples * facts.n_views * (facts.n_views - 1) // 2
        if n_ties <= most:
            return None
        return f"it ties every pair of views of every sample, and there are {n_ties} ties; here it takes up to {most}"

    return objection


def many_columns(most: int) -> Objection:
    """Return the objection of a method that looks at how all columns vary together, up to so many."""

    def objection(facts: DataFacts) -> str | None:
        if facts.n_features <= most:
            return None
        return f"it learns how columns vary together, and there are {facts.n_features}; here it takes up to {most}"

    return objection


def repeats(facts: DataFacts) -> str | None:
    """Return an objection to labels of which none can be left out."""
    if facts.task == "regression" or facts.n_rarest >= 2:
        return None
    return "it leaves labels out to weigh the views, and a class has one label only"
