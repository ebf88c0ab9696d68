"""The README's Python runs as it stands."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_readme_code_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "readme_code.py", ROOT / "README.md"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
