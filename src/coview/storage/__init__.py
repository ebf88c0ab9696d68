"""Work that must not be lost: one SQLite file with what was given at the start and every event since."""

from coview.storage._errors import ProjectFileError, ProjectLockedError, ProjectOutdatedError
from coview.storage._events import Event
from coview.storage._project import Project

__all__ = ["Event", "Project", "ProjectFileError", "ProjectLockedError", "ProjectOutdatedError"]
