"""Run the Python blocks of a README as a reader would: python tools/readme_code.py README.md

All blocks share one namespace. Blocks with ``>>>`` are compared with the output they show; others are run. The
current folder and this file's are taken off the import path, so what runs is the installed coview.
"""

import doctest
import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def run_blocks(text: str, name: str) -> int:
    """Run every Python block; return how many there were.

    Raises
    ------
    SystemExit
        If a shown output differs from what came.
    """
    namespace: dict[str, object] = {"__name__": "__main__"}
    blocks = list(BLOCK.finditer(text))
    for block in blocks:
        line = text.count("\n", 0, block.start(1))
        if ">>>" in block[1]:
            test = doctest.DocTestParser().get_doctest(block[1], namespace, name, name, line)
            runner = doctest.DocTestRunner(optionflags=OPTIONS)
            if runner.run(test, clear_globs=False).failed:
                raise SystemExit(1)
            namespace = test.globs
        else:
            exec(compile("\n" * line + block[1], name, "exec"), namespace)
    return len(blocks)


def main() -> None:
    """Run the blocks of the file that the command line names."""
    path = Path(sys.argv[1]).resolve()
    here = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if entry and Path(entry).resolve() not in (here, Path.cwd())]
    count = run_blocks(path.read_text(encoding="utf-8"), path.name)
    if count == 0:
        raise SystemExit(f"{path.name} has no Python block to run.")
    print(f"{path.name}: {count} Python block{'s' if count > 1 else ''} ran.")


if __name__ == "__main__":
    main()
