"""Colors, shapes, lines and hatches by which classes, patterns and methods are told apart; none relies on color alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coview.report._figures_scores import BASELINE, OTHER, OURS_LOOK, Look

__all__ = ["MARKERS", "OTHER_CLASSES", "ClassLook", "class_looks", "method_looks"]

PRIOR_LOOK = Look("printed", (0, (1, 1.6)), "X")
MARKERS = ("o", "s", "^", "D", "v", "P")
OTHER_CLASSES = "other classes"
_ROLES = ("class-1", "class-2", "class-3", "ours", "baseline", "wrong")
_HATCHES = ("", "///", "\\\\\\", "|||", "---", "xxx")


@dataclass(frozen=True)
class ClassLook:
    """Color role and hatch of a class."""

    role: str
    hatch: str


def class_looks(classes: Sequence[str]) -> dict[str, ClassLook]:
    """A look for each class; beyond six classes, the last ones share one under the name `OTHER_CLASSES`."""
    looks = [ClassLook(role, hatch) for role, hatch in zip(_ROLES, _HATCHES, strict=True)]
    if len(classes) <= len(looks):
        return dict(zip(classes, looks, strict=False))
    named = dict(zip(classes, looks[:-1], strict=False))
    return named | {OTHER_CLASSES: ClassLook("printed", "xxx")}


def method_looks(method: str, simple: Sequence[str], prior: str | None) -> dict[str, Look]:
    """The method reported first, then those it is held against."""
    looks = {method: OURS_LOOK}
    looks |= dict(zip(simple, (BASELINE, OTHER), strict=False))
    return looks if prior is None else looks | {prior: PRIOR_LOOK}
