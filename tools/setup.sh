#!/bin/sh
# Make the virtual environment of this checkout and install coview with its test tools into it.
#
#   sh tools/setup.sh [DIR]         DIR is .venv unless given; PYTHON=... chooses the interpreter
#
# The stamp file is written last, so an environment without a right one is half-built or somebody else's and is
# made anew. A complete environment whose pyproject.toml has changed since is brought up to date in place.
set -u

venv=${1:-.venv}
wanted_python=${PYTHON:-}
unset PYTHON PYTHONHOME PYTHONPATH PIP_TARGET PIP_PREFIX
PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1
export PIP_USER PIP_DISABLE_PIP_VERSION_CHECK

say() { printf '%s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
interrupted() { say "Set-up was interrupted; the next run starts it again."; exit 130; }
trap interrupted INT TERM HUP

here=$(dirname -- "$0")
CDPATH='' cd -- "$here/.." || exit 1
stamp=$venv/coview-setup.stamp

# What is missing, and the one line that installs it.

apt_python() { # the Debian packages that give a recent enough Python with venv; $1: a good Python that only lacks venv
    if [ -n "$1" ]; then
        "$1" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'
        return
    fi
    if python3 -c 'import sys' >/dev/null 2>&1; then # the system's own is too old: another one may be packaged
        for version in 3.14 3.13 3.12 3.11; do
            if apt-cache show "python$version-venv" >/dev/null 2>&1; then
                echo "python$version-venv"
                return
            fi
        done
    fi
    echo "python3-venv"
}

how_to_install() { # $1: Debian packages, $2: Homebrew packages
    say "Install it with this line, then try again:"
    sudo=
    [ "$(id -u)" = 0 ] || sudo='sudo '
    [ "$(uname -s)" = Darwin ] || say "    ${sudo}apt-get update && ${sudo}apt-get install -y $1      # Debian, Ubuntu"
    [ "$(uname -s)" = Linux ] || say "    brew install $2      # macOS"
    exit 1
}

# Find a Python: the base interpreter's path, also where a virtual environment is active (it may be the one to replace).

base_python() { # $1: a command; prints the interpreter behind it where that is CPython 3.11 or newer
    "$1" -c '
import sys
if sys.implementation.name != "cpython" or sys.version_info < (3, 11):
    sys.exit(1)
inside = sys.prefix != sys.base_prefix
print(getattr(sys, "_base_executable", sys.executable) if inside else sys.executable)' 2>/dev/null
}

find_python() { # sets python, or tells what to install
    without_venv=
    set -- python3 python3.14 python3.13 python3.12 python3.11 python
    [ -z "$wanted_python" ] || set -- "$wanted_python"
    for candidate in "$@"; do
        python=$(base_python "$candidate") || continue
        if "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
            return
        fi
        without_venv=${without_venv:-$python}
    done
    if [ -n "$without_venv" ]; then
        say "coview sets itself up in a virtual environment, and $without_venv lacks the venv module (or ensurepip)."
    elif [ -n "$wanted_python" ]; then
        fail "coview needs Python 3.11 or newer, and '$wanted_python' is not one. Give another, or leave PYTHON out."
    else
        say "coview needs Python 3.11 or newer; none was found (python3, python3.11 to python3.14, python)."
    fi
    how_to_install "$(apt_python "$without_venv")" python
}

# The state of the environment.

identity() { # which Python and which checkout the environment belongs to; fails where it does not run
    "$venv/bin/python" -c 'import sys; print("python %d.%d" % sys.version_info[:2])' 2>/dev/null || return 1
    echo "checkout $(pwd -P)"
}

requirements() { cksum <pyproject.toml; }

stamp_is() { # $1: what the stamp must hold
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$1" ]
}

same_checkout_and_python() { # true for an environment that was once complete and is still this checkout's
    [ -f "$stamp" ] && [ "$(sed '$d' "$stamp")" = "$1" ]
}

other_python_wanted() {
    [ -n "$wanted_python" ] &&
        [ "$("$wanted_python" -c 'import sys; print("python %d.%d" % sys.version_info[:2])' 2>/dev/null)" != "$(
            sed -n 1p "$stamp" 2>/dev/null)" ]
}

remove_environment() {
    [ -e "$venv" ] || [ -L "$venv" ] || return 0
    if [ "$venv" != .venv ] && [ ! -f "$venv/pyvenv.cfg" ] && [ -n "$(ls -A "$venv" 2>/dev/null)" ]; then
        fail "$venv is there and is no virtual environment; it is left alone. Name another one with VENV=..."
    fi
    say "$venv is unfinished, or belongs to another Python or place: making it anew."
    rm -rf -- "$venv" || fail "$venv cannot be removed."
}

works() { "$venv/bin/python" -c 'import click, coview, pytest' >/dev/null 2>&1; }

# The work.

install() {
    say "Installing coview and what it needs into $venv; this takes a minute or two, once."
    log=$venv/coview-setup.log
    if ! "$venv/bin/python" -m pip install --no-input -e '.[test,excel,parquet]' </dev/null >"$log" 2>&1; then
        cat "$log" >&2
        fail "pip could not install coview (its words stand above). If the network failed, simply run the command again."
    fi
    printf '%s\n%s\n' "$(identity)" "$(requirements)" >"$stamp.new" && mv "$stamp.new" "$stamp" || exit 1
}

if [ -z "${MAKELEVEL:-}" ] && ! command -v make >/dev/null 2>&1; then
    say "make is missing; it runs 'make demo' and 'make test'."
    how_to_install make make
fi

current=$(identity) || current=
if [ -n "$current" ] && ! other_python_wanted; then
    if stamp_is "$(printf '%s\n%s' "$current" "$(requirements)")" && works; then
        exit 0
    fi
    if same_checkout_and_python "$current" && works; then
        rm -f "$stamp"
        install
        exit 0
    fi
fi

find_python
remove_environment
say "Making $venv with $python ($("$python" -c 'import platform; print(platform.python_version())'))."
words=$("$python" -m venv "$venv" 2>&1) || {
    say "$words"
    fail "$python could not make a virtual environment in $venv (its words stand above)."
}
install
