"""``coview.toml``: what it may say, what it means beside the command line, and that it can be written back."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coview.exceptions import ViewError
from coview.files import TableOptions, ViewSettings, data_toml, options_from_toml, read_table_set, with_config

CONFIG = """
id = "patient"
labels = "outcome/labels.csv:died"
na = ["NA", "-"]
almost-equal = "join"

[views]
clinical = "clinical.csv"

[views.ct]
file = "ct.xlsx#Sheet 1"
decimal = ","
columns = ["ct_*", "volume"]

[fit]
method = "gradient-boosting"
cv = 3
seed = 7
"""


@pytest.fixture
def write(tmp_path):
    def write_file(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write_file


def test_everything_a_config_says(write, tmp_path):
    assert options_from_toml(write("coview.toml", CONFIG)) == {
        "id": ("patient",),
        "labels": str(tmp_path / "outcome/labels.csv:died"),
        "na": ("NA", "-"),
        "almost_equal": "join",
        "view": (f"clinical={tmp_path / 'clinical.csv'}", f"ct={tmp_path / 'ct.xlsx#Sheet 1'}"),
        "per_view": {"ct": ViewSettings(decimal=",", columns=("ct_*", "volume"))},
        "fit": {"method": "gradient-boosting", "cv": 3, "seed": 7},
    }


def test_paths_of_a_config_in_this_folder_stay_short(write, tmp_path, monkeypatch):
    write("coview.toml", 'labels = "l.csv"')
    monkeypatch.chdir(tmp_path)
    assert options_from_toml("coview.toml") == {"labels": "l.csv"}


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('id = "p"\nlables = "l.csv"', r"coview\.toml, line 2: there is no key 'lables'\. Did you mean 'labels'\?"),
        ('id_map = "l.csv"', r"line 1: there is no key 'id_map'\. Did you mean 'id-map'\?"),
        ("xyzzy = 1", r"there is no key 'xyzzy'\. The keys are data, view-columns, id, .*views, fit"),
        ("target = 3", r"line 1: 'target' must be text.*; got 3"),
        ('duplicates = "firs"', r"'duplicates' must be \"error\" or \"first\" or .*; got 'firs'"),
        ("na = [1]", r"'na' must be text or a list of texts.*; got \[1\]"),
        ('[views.ct]\nfile = "a.csv"\nseparator = ","', r"line 3: there is no key 'separator' in \[views\.ct\]\. Did"),
        ('[views.ct]\nsep = ","', r"view 'ct' names no file"),
        ("views = 3", r"'views' must be a table"),
        ("[views]\nct = 3", r"'views\.ct' must be a table"),
        ('[views]\n"a=b" = "x.csv"', r"a view cannot be called 'a=b'"),
        ('[views]\n" " = "x.csv"', r"a view cannot be called ' '"),
        ("[fit]\ncv = true", r"'cv' in \[fit\] must be a whole number, at least 0; got True"),
        ("[fit]\nfolds = 3", r"no key 'folds' in \[fit\]\. The keys are method, cv, seed"),
        ('labels = "a\\b\\q.csv"', r"is not valid TOML: .*Write paths with / or in 'single quotes'"),
        ("id = ", r"is not valid TOML: Invalid value \(at .*line 1|is not valid TOML: Invalid value \(at end"),
    ],
)
def test_a_wrong_config_is_refused(write, text, match):
    with pytest.raises(ViewError, match=match):
        options_from_toml(write("coview.toml", text))


def test_a_config_in_another_encoding_is_refused(tmp_path):
    path = tmp_path / "coview.toml"
    path.write_bytes('target = "größe"'.encode("latin-1"))
    with pytest.raises(ViewError, match=r"is not UTF-8 text \(byte 12\)"):
        options_from_toml(path)


def test_a_byte_order_mark_does_no_harm(tmp_path):
    path = tmp_path / "coview.toml"
    path.write_bytes(b"\xef\xbb\xbf" + b'target = "died"')
    assert options_from_toml(path) == {"target": "died"}


@pytest.mark.parametrize("named", ["", "coview.toml"])
def test_a_folder_or_the_config_itself_gives_its_views(write, tmp_path, named):
    write("coview.toml", CONFIG)
    options = with_config(TableOptions(data=(str(tmp_path / named),)))
    assert options.data == ()
    assert [text.partition("=")[0] for text in options.view] == ["clinical", "ct"]
    assert options.fit["seed"] == 7
    assert options.complete
    assert with_config(options) is options


def test_a_view_given_beside_a_folder_takes_the_place_of_its_own(write, tmp_path):
    write("coview.toml", CONFIG)
    options = with_config(TableOptions(data=(str(tmp_path),), view=("ct=new.csv", "mri=m.csv")))
    assert options.view == (f"clinical={tmp_path / 'clinical.csv'}", "ct=new.csv", "mri=m.csv")


def test_files_given_are_read_alone_but_under_the_names_and_settings_of_the_config(write, tmp_path):
    write("coview.toml", '[views.scan]\nfile = "ct.csv"\nsep = ";"\n[views.clinical]\nfile = "c.csv"')
    ct = write("ct.csv", "")
    options = with_config(TableOptions(data=(ct, str(tmp_path / "new.csv"))))
    assert (options.data, options.view) == ((str(tmp_path / "new.csv"),), (f"scan={ct}",))
    assert options.per_view["scan"].sep == ";"


def test_a_view_given_takes_the_place_of_a_file_that_the_config_names_so(write, tmp_path):
    write("coview.toml", '[views]\nscan = "ct.csv"\n')
    ct = write("ct.csv", "")
    assert with_config(TableOptions(data=(ct,), view=("scan=new.csv",))).view == ("scan=new.csv",)


def test_the_command_line_wins(write, tmp_path):
    write("coview.toml", CONFIG)
    given = TableOptions(data=(str(tmp_path),), na=(), id=("case",), almost_equal="keep", duplicates="last")
    options = with_config(given)
    assert (options.na, options.id, options.almost_equal, options.duplicates) == ((), ("case",), "keep", "last")


def test_a_target_given_replaces_the_column_of_the_labels(write, tmp_path):
    write("coview.toml", CONFIG)
    options = with_config(TableOptions(data=(str(tmp_path),), target="grade"))
    assert (options.labels, options.target) == (str(tmp_path / "outcome/labels.csv"), "grade")


def test_labels_given_with_their_column_replace_the_target(write, tmp_path):
    write("coview.toml", 'target = "died"')
    labels = write("l.csv", "id,grade")
    assert with_config(TableOptions(data=(str(tmp_path),), labels=f"{labels}:grade")).target is None
    assert with_config(TableOptions(data=(str(tmp_path),), labels=labels)).target == "died"


def test_a_config_given_by_name_is_read_instead_of_the_one_beside(write, tmp_path):
    write("coview.toml", CONFIG)
    other = write("other.toml", 'target = "x"')
    options = with_config(TableOptions(data=(str(tmp_path / "c.csv"),), config=other))
    assert (options.target, options.labels, options.config) == ("x", None, other)


def test_two_configs_are_refused(write, tmp_path):
    one, two = write("a/coview.toml", CONFIG), write("b/coview.toml", CONFIG)
    with pytest.raises(ViewError, match=r"One coview\.toml can be read at a time"):
        with_config(TableOptions(data=(one, two)))


def test_without_a_config_nothing_changes(tmp_path):
    options = with_config(TableOptions(data=(str(tmp_path / "c.csv"),), target="y"))
    assert options == TableOptions(data=(str(tmp_path / "c.csv"),), target="y", complete=True)


def test_settings_of_one_view_reach_its_file(write, tmp_path):
    config = '[views.ct]\nfile = "ct.csv"\nsep = ";"\nid = "scan"\ncolumns = ["v*", "died"]\n[views]\nc = "c.csv"\n'
    write("coview.toml", f'target = "died"\n{config}')
    write("ct.csv", "w;scan;v1;v2;died\n1;a;2;3;yes\n4;b;5;6;no\n1;d;1;1;no\n")
    write("c.csv", "patient,age\nb,1\na,2\n")
    table_set = read_table_set(TableOptions(data=(str(tmp_path),)))
    columns = {table.name: list(table.columns) for table in table_set.tables.tables}
    assert columns == {"c": ["age"], "ct": ["v1", "v2"]}
    assert table_set.labels.to_dict() == {"a": "yes", "b": "no", "d": "no"}


def test_one_file_may_be_several_views_by_its_columns(write, tmp_path):
    write(
        "coview.toml",
        '[views.one]\nfile = "all.csv"\ncolumns = ["a*"]\n[views.two]\nfile = "all.csv"\ncolumns = ["b"]\n',
    )
    write("all.csv", "id,a1,a2,b\np,1,2,3\nq,4,5,6\n")
    tables = read_table_set(TableOptions(data=(str(tmp_path),))).tables.tables
    assert [(table.name, list(table.columns)) for table in tables] == [("one", ["a1", "a2"]), ("two", ["b"])]


_text = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=6)
_name = _text.filter(lambda name: name == name.strip() and name.isprintable() and "=" not in name and name.strip())
_file = st.text("abc/ #'\"\\é.", min_size=1, max_size=8).filter(lambda name: name.strip("/") == name)
_settings = st.builds(
    ViewSettings,
    id=st.none() | _text,
    sep=st.none() | _text,
    na=st.none() | st.lists(_text, max_size=3).map(tuple),
    columns=st.none() | st.lists(_text, min_size=1, max_size=3).map(tuple),
)


@given(
    st.builds(
        TableOptions,
        data=st.lists(_file, max_size=2).map(tuple),
        id=st.lists(_text, max_size=2).map(tuple),
        labels=st.none() | _file,
        target=st.none() | _text,
        na=st.none() | st.lists(st.text(max_size=3), max_size=3).map(tuple),
        duplicates=st.sampled_from([None, "error", "drop"]),
    ),
    st.dictionaries(_name, st.tuples(_file, st.none() | _settings), max_size=3),
)
def test_what_is_written_is_read_again(tmp_path_factory, options, views):
    """The text of any options gives the same options."""
    per_view = {name: settings for name, (_, settings) in views.items() if settings not in (None, ViewSettings())}
    view = tuple(f"{name}={file}" for name, (file, _) in views.items())
    options = replace(options, view=view, per_view=per_view, fit={"method": "x", "cv": 3})
    path = tmp_path_factory.mktemp("config") / "coview.toml"
    path.write_text(data_toml(options), encoding="utf-8", newline="")
    said = options_from_toml(path)
    folder = f"{path.parent}/"
    short = {name: _without(folder, value) for name, value in said.items()}
    assert replace(TableOptions(), **short) == options


def _without(folder, value):
    if isinstance(value, str):
        return value.replace(folder, "")
    return tuple(item.replace(folder, "") for item in value) if isinstance(value, tuple) else value
