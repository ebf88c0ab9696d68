"""tools/setup.sh without network: what it finds, what it tells, what it leaves alone.

A fake checkout has fake interpreters on its PATH; each is a shell script that answers the questions setup.sh asks.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "setup.sh"
TOOLS = ["cat", "chmod", "cksum", "cp", "dirname", "id", "ls", "mkdir", "mv", "rm", "sed", "sh", "uname"]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a POSIX shell script")

# $1 is -c or -m; a real interpreter would print these things
FAKE_PYTHON = """#!/bin/sh
case "$*" in
*implementation*) {suitable} && echo "$0" ;;
*ensurepip*) {complete} ;;
"-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && echo home >"$3/pyvenv.cfg" ;;
"-m pip install"*) echo "pip was called" && {installs} ;;
*"python %d.%d-venv"* | *"python%d.%d-venv"*) echo python3.11-venv ;;
*"python %d.%d"*) echo "python {version}" ;;
*) exit 0 ;;
esac
"""


class Checkout:
    """A folder that looks like a checkout, with its own PATH."""

    def __init__(self, folder):
        self.folder = folder
        self.bin = folder / "path"
        (folder / "tools").mkdir()
        self.bin.mkdir()
        shutil.copy(SCRIPT, folder / "tools")
        (folder / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))

    def add_python(self, name="python3", *, suitable=True, complete=True, installs=True, version="3.12"):
        words = {True: "true", False: "false"}
        text = FAKE_PYTHON.format(
            suitable=words[suitable], complete=words[complete], installs=words[installs], version=version
        )
        self.add_program(name, text)

    def add_program(self, name, text):
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def set_up(self, *arguments, system="Linux", **environment):
        self.add_program("uname", f"#!/bin/sh\necho {system}\n")
        return subprocess.run(
            ["/bin/sh", "tools/setup.sh", *arguments],
            cwd=self.folder,
            env={"PATH": str(self.bin), "MAKELEVEL": "1", **environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    @property
    def stamp(self):
        return self.folder / ".venv" / "coview-setup.stamp"


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


@pytest.mark.parametrize(
    ("system", "line"),
    [("Linux", "apt-get install -y python3-venv"), ("Darwin", "brew install python")],
)
def test_without_python_it_says_what_to_install(checkout, system, line):
    done = checkout.set_up(system=system)
    assert done.returncode == 1
    assert "coview needs Python 3.11 or newer; none was found" in done.stderr
    assert line in done.stderr
    assert not (checkout.folder / ".venv").exists()


def test_elsewhere_both_lines_are_shown(checkout):
    done = checkout.set_up(system="FreeBSD")
    assert "apt-get install" in done.stderr
    assert "brew install" in done.stderr


def test_old_python_alone_is_as_none(checkout):
    checkout.add_python(suitable=False)
    done = checkout.set_up()
    assert done.returncode == 1
    assert "none was found" in done.stderr


def test_python_without_venv_module(checkout):
    checkout.add_python(complete=False)
    done = checkout.set_up()
    assert done.returncode == 1
    assert "lacks the venv module" in done.stderr
    assert "apt-get install -y python3.11-venv" in done.stderr


def test_a_later_candidate_serves_where_the_first_does_not(checkout):
    checkout.add_python("python3", suitable=False)
    checkout.add_python("python3.14", complete=False)
    checkout.add_python("python3.12")
    done = checkout.set_up()
    assert done.returncode == 0
    assert f"with {checkout.bin}/python3.12" in done.stderr


def test_make_missing_is_told_when_run_by_hand(checkout):
    checkout.add_python()
    done = checkout.set_up(MAKELEVEL="")
    assert done.returncode == 1
    assert "make is missing" in done.stderr
    assert "apt-get install -y make" in done.stderr


def test_first_run_installs_and_second_is_silent(checkout):
    checkout.add_python()
    assert checkout.set_up().returncode == 0
    assert checkout.stamp.read_text(encoding="utf-8").startswith("python 3.12\ncheckout ")
    done = checkout.set_up()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_failed_install_shows_pips_words_and_leaves_no_stamp(checkout):
    checkout.add_python(installs=False)
    done = checkout.set_up()
    assert done.returncode == 1
    assert "pip was called" in done.stderr
    assert "pip could not install coview" in done.stderr
    assert not checkout.stamp.exists()


def test_successful_install_keeps_pip_quiet(checkout):
    checkout.add_python()
    assert "pip was called" not in checkout.set_up().stderr


def half_built(folder):
    (folder / ".venv").mkdir()
    (folder / ".venv" / "pyvenv.cfg").touch()


def a_file(folder):
    (folder / ".venv").touch()


def dangling_link(folder):
    (folder / ".venv").symlink_to(folder / "nowhere")


def without_stamp(folder):
    half_built(folder)
    (folder / ".venv" / "bin").mkdir()
    shutil.copy(folder / "path" / "python3", folder / ".venv" / "bin" / "python")


@pytest.mark.parametrize("prepare", [half_built, a_file, dangling_link, without_stamp])
def test_what_is_no_complete_environment_is_made_anew(checkout, prepare):
    checkout.add_python()
    prepare(checkout.folder)
    done = checkout.set_up()
    assert done.returncode == 0
    assert "making it anew" in done.stderr
    assert checkout.stamp.exists()


def test_environment_whose_python_is_gone_is_made_anew(checkout):
    checkout.add_python()
    checkout.set_up()
    (checkout.folder / ".venv" / "bin" / "python").unlink()
    assert "making it anew" in checkout.set_up().stderr
    assert (checkout.folder / ".venv" / "bin" / "python").exists()


def test_moved_checkout_gets_a_new_environment(checkout, tmp_path):
    checkout.add_python()
    checkout.set_up()
    stamp = checkout.stamp.read_text(encoding="utf-8").replace(str(tmp_path.resolve()), "/elsewhere")
    checkout.stamp.write_text(stamp, encoding="utf-8")
    assert "making it anew" in checkout.set_up().stderr


def test_changed_pyproject_updates_in_place(checkout):
    checkout.add_python()
    checkout.set_up()
    (checkout.folder / ".venv" / "kept").touch()
    (checkout.folder / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    done = checkout.set_up()
    assert done.returncode == 0
    assert "Installing coview" in done.stderr
    assert (checkout.folder / ".venv" / "kept").exists()
    assert checkout.set_up().stderr == ""


def test_asking_for_another_python_makes_it_anew(checkout):
    checkout.add_python()
    checkout.set_up()
    checkout.add_python("python3.13", version="3.13")
    assert "making it anew" in checkout.set_up(PYTHON="python3.13").stderr
    assert checkout.stamp.read_text(encoding="utf-8").startswith("python 3.13\n")
    assert checkout.set_up().stderr == ""


def test_asking_for_no_python_destroys_nothing(checkout):
    checkout.add_python()
    checkout.set_up()
    done = checkout.set_up(PYTHON="nonsense")
    assert done.returncode == 1
    assert "'nonsense' is not one" in done.stderr
    assert checkout.stamp.exists()


def test_another_folder_that_is_no_environment_is_left_alone(checkout):
    checkout.add_python()
    (checkout.folder / "thesis").mkdir()
    (checkout.folder / "thesis" / "chapter.txt").touch()
    done = checkout.set_up("thesis")
    assert done.returncode == 1
    assert "is no virtual environment; it is left alone" in done.stderr
    assert (checkout.folder / "thesis" / "chapter.txt").exists()
