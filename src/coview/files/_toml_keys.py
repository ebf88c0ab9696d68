"""The keys of ``coview.toml``: what each may hold, and how it is written."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from coview.files._options import TableOptions, ViewSettings
from coview.files._places import split_view

__all__ = ["FIT_KEYS", "TOP_KEYS", "VIEW_KEYS", "KeyRule", "data_toml"]


@dataclass(frozen=True)
class KeyRule:
    """What a key may hold.

    Attributes
    ----------
    meaning : str
        In words, after "must be".
    fits : callable
        Whether a value of the file will do.
    convert : callable
        Value and the file's folder to what `TableOptions` holds.
    """

    meaning: str
    fits: Callable[[Any], bool]
    convert: Callable[[Any, str], Any] = lambda value, _folder: value


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_texts(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))


def _as_tuple(value: Any, _folder: str = "") -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _beside(value: str, folder: str) -> str:
    return os.path.join(folder, value)


def _one_of(*choices: str) -> KeyRule:
    return KeyRule(" or ".join(f'"{choice}"' for choice in choices), lambda value: value in choices)


def _whole_number(least: int) -> KeyRule:
    return KeyRule(
        f"a whole number, at least {least}",
        lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least,
    )


_TEXT = KeyRule('text, as in "COL"', _is_text)
_TEXTS = KeyRule('text or a list of texts, as in ["A", "B"]', _is_texts, _as_tuple)
_PATH = KeyRule('the path of a file, as in "labels.csv"', _is_text, _beside)
_PATHS = KeyRule(
    'the path of a file, or a list of them, as in ["clinical.csv", "ct.csv"]',
    _is_texts,
    lambda value, folder: tuple(_beside(item, folder) for item in _as_tuple(value)),
)
_HOW_TO_READ = {"sep": _TEXT, "decimal": _TEXT, "encoding": _TEXT, "na": _TEXTS}

TOP_KEYS: Mapping[str, KeyRule] = {
    "data": _PATHS,
    "view-columns": _PATH,
    "id": _TEXTS,
    "leave-out": _TEXTS,
    "labels": _PATH,
    "target": _TEXT,
    "task": _one_of("auto", "classification", "regression"),
    **_HOW_TO_READ,
    "id-map": _PATH,
    "duplicates": _one_of("error", "first", "last", "drop"),
    "almost-equal": _one_of("keep", "join"),
}
VIEW_KEYS: Mapping[str, KeyRule] = {"file": _PATH, "id": _TEXT, **_HOW_TO_READ, "columns": _TEXTS}
FIT_KEYS: Mapping[str, KeyRule] = {"method": _TEXT, "cv": _whole_number(0), "seed": _whole_number(0)}


def data_toml(options: TableOptions) -> str:
    """What the user said as the text of a ``coview.toml`` for the folder that its paths start from.

    Parameters
    ----------
    options : TableOptions

    Returns
    -------
    text : str
        `coview.files.options_from_toml` reads the same options from it.

    Examples
    --------
    >>> print(data_toml(TableOptions(view=("ct=ct.csv",), target="died", na=("NA", "-"))), end="")
    target = "died"
    na = ["NA", "-"]
    <BLANKLINE>
    [views]
    ct = "ct.csv"
    """
    said = {key: getattr(options, key.replace("-", "_")) for key in TOP_KEYS}
    lines = [
        f"{key} = {_written(value)}" for key, value in said.items() if value is not None and (value or key == "na")
    ]
    views = dict(split_view(text) for text in options.view)
    if views and not options.per_view:
        lines += ["", "[views]", *(f"{_key(name)} = {_written(file)}" for name, file in views.items())]
    elif views:  # one form for all keeps their order
        for name, file in views.items():
            settings = _settings(options.per_view.get(name, ViewSettings()))
            lines += ["", f"[views.{_key(name)}]", f"file = {_written(file)}", *settings]
    if options.fit:
        lines += ["", "[fit]", *(f"{_key(key)} = {_written(value)}" for key, value in options.fit.items())]
    return "\n".join(lines).lstrip("\n") + "\n"


def _settings(settings: ViewSettings) -> list[str]:
    said = {key: getattr(settings, key) for key in VIEW_KEYS if key != "file"}
    return [f"{key} = {_written(value)}" for key, value in said.items() if value is not None]


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _written(name)


def _written(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, str):
        return '"' + re.sub(r'[\x00-\x1f"\\\x7f]', _escape, value) + '"'
    if isinstance(value, tuple | list):
        if len(value) == 1:
            return _written(value[0])
        return "[" + ", ".join(map(_written, value)) + "]"
    return str(value)


def _escape(match: re.Match[str]) -> str:
    letter = match.group()
    return f"\\{letter}" if letter in '"\\' else f"\\u{ord(letter):04x}"
