"""Text files: CSV, TSV and whatever separates cells by one character, read as one table."""

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pandas as pd

from coview.exceptions import ViewError
from coview.files._cell_findings import cell_findings
from coview.files._cells import CellRules, settle
from coview.files._contents import FileTable
from coview.files._dialect import Dialect, find_dialect, read_head
from coview.files._finish import drop_empty, name_columns, take_ids
from coview.files._ids import choose_id
from coview.files._marks import SURE_MARKS, given_marks, missing_words
from coview.files._missing import count_marks
from coview.files._names import clean_names
from coview.files._read_options import ReadOptions
from coview.files._source import Source, find_encoding
from coview.files._table_text import TextTable
from coview.views import Finding, some

__all__ = ["read_text_table"]


def read_text_table(path: Path, options: ReadOptions, name: str) -> FileTable:
    """Read one text file; see ``read_table``."""
    source = Source.of(path)
    encoding, is_quoted = find_encoding(source, options.encoding)
    head, at_end = read_head(source, encoding)
    dialect = find_dialect(source, head, at_end, options.separator, options.decimal)
    table = TextTable(source, encoding, is_quoted, dialect, dialect.start.width)
    where = "standard input" if str(path) == "-" else str(path)
    names, findings = clean_names(_written_names(dialect), where)
    choice = choose_id(names, options.id_column, where, lambda place: _sample_cells(dialect, place))
    marks = given_marks(options.missing)
    frame = table.parse(SURE_MARKS if marks is None else marks, choice.position)
    if len(frame) == 0:
        raise ViewError(f"{where} has a header and no rows below it. Save the table again, with one line per sample.")
    n_spaced = _strip_ids(frame, choice.position)
    counts = _count_marks(table, frame, choice.position, SURE_MARKS if marks is None else marks)
    frame, rows = drop_empty(frame, choice.position, findings, where, table.blank_among)
    rules = CellRules(
        where, dialect.decimal, options.decimal is not None, marks, lambda at: table.lines_of(rows[at].tolist())
    )
    frame.columns = pd.Index(names, dtype=str)
    ids, values = take_ids(frame, choice, rules, findings, n_spaced)
    places = [place for place in range(len(names)) if ids is None or place != choice.position]
    values = name_columns(values, places, findings, where)
    settled = settle(values, rules)
    guesses = _guesses(dialect, encoding.said, settled.thousands)
    counts += settled.marks
    told = missing_words(counts, _n_missing(settled.frame) - counts.total())
    guesses |= {"missing": told} if told else {}
    if ids is not None:
        guesses["id"] = choice.said
    findings += cell_findings(settled, where, rules.lines_of)
    findings += _about_layout(dialect, where, settled.grouped, settled.frame.columns)
    return FileTable(
        name=name,
        path=path,
        values=settled.frame,
        ids=ids,
        id_column=None if ids is None or choice.position is None else names[choice.position],
        guesses=guesses,
        findings=tuple(findings),
        first_line=table.first_line,
    )


def _written_names(dialect: Dialect) -> list[str]:
    """Names as the header has them, or numbers where there is no header."""
    start = dialect.start
    if start.header is None:
        return [f"column_{place}" for place in range(1, start.width + 1)]
    cells = dialect.rows[start.header].cells[: start.width]
    return ["", *cells] if start.short_header else list(cells)


def _sample_cells(dialect: Dialect, place: int) -> list[str]:
    return [row.cells[place].strip() for row in dialect.rows[dialect.start.first :] if len(row.cells) > place]


def _strip_ids(frame: pd.DataFrame, id_at: int | None) -> int:
    """Drop spaces around the ids; return how many had some."""
    if id_at is None:
        return 0
    written = frame.iloc[:, id_at]
    stripped = written.str.strip()
    frame.isetitem(id_at, stripped.array)
    return int((written != stripped).sum())


def _n_missing(frame: pd.DataFrame) -> int:
    """Number of missing cells; a few columns at a time, since the mask of a large frame is large."""
    return sum(int(frame.iloc[:, at : at + 1000].isna().to_numpy().sum()) for at in range(0, frame.shape[1], 1000))


def _count_marks(table: TextTable, frame: pd.DataFrame, id_at: int | None, marks: Sequence[str]) -> Counter[str]:
    """How often each mark was met outside the id column; refuses short rows, which leave the last column empty."""
    last = frame.iloc[:, -1]
    last_is_missing = bool((last == "").any() if id_at == table.width - 1 else last.isna().any())
    if not last_is_missing and not _n_missing(frame):
        return Counter()
    with closing(table.stream()) as stream:
        counts, n_separators = count_marks(stream, table.dialect.separator, marks)
    if last_is_missing and (table.is_quoted or n_separators != len(frame) * (table.width - 1)):
        table.refuse_uneven_rows()
    if id_at is not None:
        ids = frame[id_at]
        counts.subtract(Counter(ids[ids.isin(list(marks))].tolist()))
    return counts


def _guesses(dialect: Dialect, encoding: str, thousands: Counter[str]) -> dict[str, str]:
    """What was found out about the file, in words."""
    header = dialect.start.header
    guesses = {
        "separator": dialect.separator_words,
        "decimal": f'"{dialect.decimal}"',
        "encoding": encoding,
        "header": "none" if header is None else f"line {dialect.rows[header].line}",
    }
    if thousands:
        guesses["thousands"] = ", ".join(f'"{mark}" in {count} column(s)' for mark, count in thousands.most_common())
    return guesses


def _about_layout(dialect: Dialect, where: str, grouped: list[str], columns: pd.Index) -> list[Finding]:
    """Findings about lines above the table, a missing header, and a decimal mark that could be read in two ways."""
    findings = []
    start = dialect.start
    above = [row for row in dialect.rows[: start.first if start.header is None else start.header] if any(row.cells)]
    if above:
        first = " ".join(cell for cell in above[0].cells if cell)[:60]
        findings.append(
            Finding(
                "lines_skipped",
                "note",
                f"{where}: {len(above)} line(s) above the table were left out; the first is '{first}'.",
                count=len(above),
            )
        )
    if start.header is None:
        findings.append(
            Finding(
                "no_header",
                "warning",
                f"{where}: the first line looks like a sample, so the columns were named {some(columns[:2])} and so on.",
                "Put a line of column names on top if this is right.",
            )
        )
    if not dialect.is_decimal_sure:
        findings += _about_decimal(dialect, where, grouped, columns)
    return findings


def _about_decimal(dialect: Dialect, where: str, grouped: list[str], columns: pd.Index) -> list[Finding]:
    """A warning where every number with a comma or point has three digits behind it."""
    names = set(map(str, columns))
    mark = "," if dialect.decimal == "," else "."
    written = _written_names(dialect)
    rows = dialect.rows[dialect.start.first :]
    read = [
        name.strip()
        for place, name in enumerate(written[:1000])
        if name.strip() in names and any(mark in row.cells[place] for row in rows if len(row.cells) > place)
    ]
    concerned = read or grouped
    if not concerned:
        return []
    example = f"'1{mark}234' as 1.234" if read else "'1,234' as 1234"
    return [
        Finding(
            "ambiguous_decimal",
            "warning",
            f"{where}: numbers in column(s) {some(concerned)} can be read in two ways, and no other cell tells which; "
            f"{example} was assumed.",
            "Say --decimal , or --decimal . if you know it.",
            columns=tuple(concerned[:10]),
            count=len(concerned),
        )
    ]
