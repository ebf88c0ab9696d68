"""Problems met while reading: raised at once, or collected so that a check can tell all of them."""

from typing import Any

from coview.exceptions import ViewError
from coview.views import Finding

__all__ = ["Problems"]

_ORDER = {"error": 0, "warning": 1, "note": 2}


class Problems:
    """What was found on the way from files to tables.

    Parameters
    ----------
    strict : bool
        Whether an error is raised as soon as it is met.
    """

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self._found: list[Finding] = []

    def error(self, code: str, message: str, advice: str = "", **where: Any) -> None:
        """Raise a ViewError, or note it and go on."""
        if self.strict:
            raise ViewError(f"{message} {advice}".rstrip())
        self._found.append(Finding(code, "error", message, advice, **where))

    def failure(self, code: str, error: Exception, **where: Any) -> None:
        """Raise the error that a file caused, or note it and go on."""
        if self.strict:
            raise error
        self._found.append(Finding(code, "error", _words_of(error), **where))

    def warning(self, code: str, message: str, advice: str = "", **where: Any) -> None:
        """Note what may spoil a fit."""
        self._found.append(Finding(code, "warning", message, advice, **where))

    def note(self, code: str, message: str, advice: str = "", **where: Any) -> None:
        """Note a fact."""
        self._found.append(Finding(code, "note", message, advice, **where))

    def extend(self, findings: tuple[Finding, ...]) -> None:
        """Add findings made elsewhere; errors among them are raised if that was asked for."""
        for finding in findings:
            if finding.level == "error" and self.strict:
                raise ViewError(f"{finding.message} {finding.advice}".rstrip())
            self._found.append(finding)

    def worst_first(self) -> tuple[Finding, ...]:
        """All findings: errors, warnings, notes, each in the order met."""
        return tuple(sorted(self._found, key=lambda finding: _ORDER[finding.level]))


def _words_of(error: Exception) -> str:
    """The message of an error in one sentence; the file's name first where the system reports one."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    return str(error)
