"""What a method of ``coview fit`` is, and the facts about data that it may ask for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["BOTH", "CLASSES", "NUMBERS", "DataFacts", "Method", "first_of"]

CLASSES, NUMBERS = ("classification",), ("regression",)
BOTH = (*CLASSES, *NUMBERS)


@dataclass(frozen=True)
class DataFacts:
    """What decides whether a method fits the data, and with which settings.

    Attributes
    ----------
    task : str
        ``"classification"`` or ``"regression"``.
    n_samples, n_labeled : int
    n_features : int
        Columns of all views together, once encoded.
    sparse : bool
        Whether an encoded view is sparse.
    n_views : int
    n_classes : int
        Classes with labels; 0 for regression.
    n_rarest : int
        Labels of the class with fewest; 0 for regression.
    """

    task: str
    n_samples: int
    n_labeled: int
    n_features: int
    sparse: bool
    n_views: int = 2
    n_classes: int = 2
    n_rarest: int = 10

    @property
    def kernel(self) -> str:
        """The kernel that suits all views: of many words the linear one, whose products stay sparse."""
        return "linear" if self.sparse else "rbf"


Objection = Callable[[DataFacts], str | None]


@dataclass(frozen=True)
class Method:
    """One method: its description, its task, why it does not fit some data (None if it does), and how it is made."""

    description: str
    tasks: tuple[str, ...]
    make: Callable[[DataFacts, int], Any]
    objection: Objection = lambda facts: None

    def problem(self, facts: DataFacts) -> str | None:
        """Return why the method does not fit the data, None if it does."""
        if facts.task not in self.tasks:
            return f"it is for {self.tasks[0]}, and the labels ask for {facts.task}"
        return self.objection(facts)


def first_of(*objections: Objection) -> Objection:
    """Return the objection that comes first, of several."""

    def objection(facts: DataFacts) -> str | None:
        return next((found for ask in objections if (found := ask(facts)) is not None), None)

    return objection
