"""Take the picture of a report, of bundled patients: python docs/images/report.py (needs Chromium)."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

COMMANDS = [
    "datasets heart_disease -o heart",
    "fit heart -o heart.coview",
    "report heart.coview heart -o report.html",
]
PICTURE = Path(__file__).with_suffix(".png")


def main() -> None:
    """Run the commands in an empty folder and look at the page as a browser shows it."""
    with TemporaryDirectory() as folder:
        for command in COMMANDS:
            subprocess.run([sys.executable, "-m", "coview", *command.split()], cwd=folder, check=True)
        browser = [
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--window-size=1100,1400",
        ]
        page = Path(folder, "report.html").as_uri()
        subprocess.run([*browser, f"--screenshot={PICTURE}", page], check=True, capture_output=True)


if __name__ == "__main__":
    main()
