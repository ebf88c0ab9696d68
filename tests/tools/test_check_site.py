"""tools/check_site.py: it passes a sound site and names what is wrong with others."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "check_site.py"


@pytest.fixture
def check(tmp_path):
    def check_site(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return subprocess.run(
            [sys.executable, SCRIPT, tmp_path], capture_output=True, text=True, timeout=60, check=False
        )

    return check_site


SOUND = '<a href="sub/b.html#here">b</a> <a href="https://example.org">e</a> <a href="#top" id="top">t</a>'


def test_a_sound_site_passes(check):
    done = check(
        index_dot_html=SOUND,
        sub__b_dot_html='<p id="here"><img src="../p.svg"> <a href="../index.html">up</a> <a href="mailto:a@b.c">m</a>',
        p_dot_svg="<svg/>",
        s_dot_css='a { background: url("p.svg"); } /* https://example.org */',
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ('<script src="https://cdn.example.org/x.js"></script>', "index.html loads https://cdn.example.org/x.js"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "index.html loads //example.org/x.css"),
        ('<a href="gone.html">x</a>', "index.html: no such place: gone.html"),
        ('<a href="index.html#gone">x</a>', "index.html: no such place: index.html#gone"),
        ('<img src="gone.png">', "index.html: no such place: gone.png"),
    ],
)
def test_what_is_wrong_is_named(check, page, problem):
    done = check(index_dot_html=page)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [problem]


def test_styles_are_read_too(check):
    done = check(index_dot_html="<p>", s_dot_css="@import 'https://fonts.example.org/x.css';")
    assert "s.css loads from another host" in done.stdout


def test_an_empty_folder_is_no_site(check):
    assert "holds no pages" in check().stdout
