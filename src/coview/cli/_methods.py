"""The methods that ``coview fit`` knows: chosen by name, listed with what fits the data and why the rest does not."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from coview.cli._method_catalog import METHODS
from coview.cli._method_facts import DataFacts, Method

__all__ = ["DEFAULT", "METHODS", "SIMPLE", "DataFacts", "Method", "MethodCommand", "chosen_method", "method_lines"]

DEFAULT = "bayesian-co-training"
# What every other method is held against, and what its row of the scores is called.
SIMPLE = {
    "classification": ("imputation-logistic-regression", "imputation + logistic regression"),
    "regression": ("imputation-ridge", "imputation + ridge"),
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
        return [f"{name:<{width}}  {text}" for name, text in _described()]
    problems = {name: method.problem(facts) for name, method in METHODS.items()}
    fitting = [f"{name:<{width}}  {METHODS[name].description}" for name, problem in problems.items() if not problem]
    return fitting + [f"{name:<{width}}  not here: {problem}" for name, problem in problems.items() if problem]


def _described() -> Sequence[tuple[str, str]]:
    """Return every method with what it is and what it is for."""
    return [(name, f"{method.description} ({' and '.join(method.tasks)})") for name, method in METHODS.items()]


class MethodCommand(click.Command):
    """A command whose help lists the methods."""

    methods: Mapping[str, Any] = METHODS

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one entry per method."""
        with formatter.section("Methods"):
            formatter.write_dl([(name, method.description) for name, method in self.methods.items()])
