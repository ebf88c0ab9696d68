"""The command line: ``coview demo``, ``coview datasets``.

One module per command; none imports the numerical packages before the command runs, so that ``coview --help``
answers at once.
"""

from coview.cli._program import main, program

__all__ = ["main", "program"]
