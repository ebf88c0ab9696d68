"""``coview.toml``: what a user says about data, kept beside them."""

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from coview.exceptions import ViewError
from coview.files._options import TableOptions, ViewSettings
from coview.files._places import same_file, split_column, split_sheet, split_view
from coview.files._toml import read_toml
from coview.files._toml_keys import FIT_KEYS, TOP_KEYS, VIEW_KEYS, KeyRule

__all__ = ["CONFIG_NAME", "options_from_toml", "with_config"]

CONFIG_NAME = "coview.toml"


def with_config(options: TableOptions) -> TableOptions:
    """What the user says, completed by the ``coview.toml`` that goes with the data; what is said directly wins.

    Parameters
    ----------
    options : TableOptions

    Returns
    -------
    complete : TableOptions
        With the views of the file in place of a folder, or of the file itself, among the data.

    Raises
    ------
    ViewError
        If there are several such files, or one says what cannot be.
    """
    if options.complete:
        return options
    path = _config_of(options)
    if path is None:
        return replace(options, complete=True)
    said = options_from_toml(path)
    files = tuple(text for text in options.data if not _is_config(text))
    asked = len(files) < len(options.data) or not (files or options.view)
    data, view = _merge_views(files, options.view, said, asked=asked)
    unsaid = [
        name
        for name in said
        if getattr(options, name) is None or (name in ("id", "leave_out") and not getattr(options, name))
    ]
    merged = {name: said[name] for name in unsaid}
    if options.labels is not None and split_column(options.labels)[1] is not None:
        merged.pop("target", None)
    if options.target is not None and "labels" in merged:
        merged["labels"] = split_column(merged["labels"])[0]
    kept: dict[str, Any] = {name: said[name] for name in ("per_view", "fit") if name in said}
    return replace(options, **kept, **merged, data=data, view=view, config=path, complete=True)


def _is_config(text: str) -> bool:
    """Whether a word among the data leads to a ``coview.toml``: the file, or a folder that has one."""
    return text.endswith(".toml") or os.path.isfile(os.path.join(text, CONFIG_NAME))


def _config_of(options: TableOptions) -> str | None:
    """The one file to read."""
    named = [
        text if text.endswith(".toml") else os.path.join(text, CONFIG_NAME) for text in options.data if _is_config(text)
    ]
    if options.config is not None:
        named.append(options.config)
    if len(named) > 1:
        raise ViewError(f"One {CONFIG_NAME} can be read at a time; {' and '.join(named)} were named.")
    if named:
        return named[0]
    files = [*options.data, *(split_view(text)[1] for text in options.view)]
    if not files or files[0] == "-":
        return None
    beside = os.path.join(os.path.dirname(split_sheet(files[0])[0]), CONFIG_NAME)
    return beside if os.path.isfile(beside) else None


def _merge_views(
    files: tuple[str, ...], view: tuple[str, ...], said: Mapping[str, Any], *, asked: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Files and views to read: those of the config where it was asked for, else those given, named as it names them."""
    views = dict(split_view(text) for text in said.get("view", ()))
    given = dict(split_view(text) for text in view)
    if asked:
        return (*files, *said.get("data", ())), tuple(f"{name}={file}" for name, file in {**views, **given}.items())
    rest, named = [], {}
    for text in files:
        names = {name: file for name, file in views.items() if same_file(split_sheet(file)[0], split_sheet(text)[0])}
        if names and split_sheet(text)[1] is None:
            named.update(names)
        else:
            rest.append(text)
    return tuple(rest), (*(f"{name}={file}" for name, file in named.items() if name not in given), *view)


def options_from_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a ``coview.toml`` says, as arguments of `TableOptions`; its paths are relative to its own folder.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    said : dict
        Only what the file says; views as ``view`` and ``per_view``.

    Raises
    ------
    ViewError
        If the file is not TOML, or has an unknown key or a value of the wrong type.
    """
    path = os.fspath(path)
    document = read_toml(path)
    folder = os.path.dirname(path)
    said: dict[str, Any] = {}
    for key, value in document.items():
        if key == "views":
            said["view"], said["per_view"] = _views(_table(value, path, "views"), path, folder)
        elif key == "fit":
            table = _table(value, path, "fit")
            said["fit"] = {name: _checked(FIT_KEYS, name, cell, path, " in [fit]", "") for name, cell in table.items()}
        else:
            said[key.replace("-", "_")] = _checked(TOP_KEYS, key, value, path, "", folder)
    return said


def _views(table: Mapping[str, Any], path: str, folder: str) -> tuple[tuple[str, ...], dict[str, ViewSettings]]:
    view, per_view = [], {}
    for name, value in table.items():
        entry = {"file": value} if isinstance(value, str) else _table(value, path, f"views.{name}")
        where = f" in [views.{name}]"
        said = {key: _checked(VIEW_KEYS, key, cell, path, where, folder) for key, cell in entry.items()}
        if "file" not in said:
            raise ViewError(f"{path}: view '{name}' names no file. Write file = \"NAME.csv\"{where}.")
        if not name.strip() or not name.isprintable() or "=" in name:
            raise ViewError(f"{path}: a view cannot be called {name!r}; use printable text without '='.")
        view.append(f"{name}={said.pop('file')}")
        if said:
            per_view[name] = ViewSettings(**said)
    return tuple(view), per_view


def _table(value: Any, path: str, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ViewError(f"{path}: '{name}' must be a table, as in [{name}]; got {value!r}.")
    return value


def _checked(rules: Mapping[str, KeyRule], key: str, value: Any, path: str, where: str, folder: str) -> Any:
    """The value of a key in the form of `TableOptions`, or an error that says what it must be."""
    if key not in rules:
        known = [*rules, *(("views", "fit") if rules is TOP_KEYS else ())]
        close = get_close_matches(key, known, n=1, cutoff=0.5)
        hint = f" Did you mean '{close[0]}'?" if close else f" The keys are {', '.join(known)}."
        raise ViewError(f"{path}{_line_of(path, key)}: there is no key '{key}'{where}.{hint}")
    rule = rules[key]
    if not rule.fits(value):
        raise ViewError(f"{path}{_line_of(path, key)}: '{key}'{where} must be {rule.meaning}; got {value!r}.")
    return rule.convert(value, folder)


def _line_of(path: str, key: str) -> str:
    """Where a key stands, as far as a search can tell."""
    pattern = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*=""")
    lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    found = [number for number, line in enumerate(lines, start=1) if pattern.match(line)]
    return f", line {found[0]}" if len(found) == 1 else ""
