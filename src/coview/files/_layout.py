"""Where the table begins in rows of cells: lines above it, its header, or none."""

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from coview.files._marks import SURE_MARKS, is_number_like

__all__ = ["TableStart", "find_start", "is_id_name", "table_width"]

_NOT_DECISIVE = {"", *SURE_MARKS}
# Names of id columns, without case, spaces and signs; the second kind only for a first column, or if nothing else is.
_ID_NAME = re.compile(
    r"(?:(?:sample|patient|subject|case|participant|individual|person|donor|specimen|record|study|animal|mouse|tumou?r|"
    r"aliquot|observation|document|doc|item|image|video|customer|client|user|visit|cell|bcr|tcga|unique|row|entity|"
    r"hospital)?(?:id|ids|identifier|barcode|accession|uuid|guid)|"
    r"pid|eid|iid|uid|sid|mrn|samplename|samplecode|patientcode|subjectcode|rowname|rownames|geoaccession|"
    r"patientnumber|samplenumber|subjectnumber|casenumber)"
)
_WEAK_NAME = re.compile(
    r"(?:sample|samples|patient|patients|subject|subjects|case|cases|name|names|participant|individual|donor|specimen|"
    r"index|key|code|cell|cells|url|unnamed0|row|no|nr|number)"
)

_ENDS_IN_ID = re.compile(r".*[\W_](?:id|ID|Id)|.*[a-z0-9](?:ID|Id)")


def is_id_name(name: str, *, weak: bool = False) -> bool:
    """Whether a column of that name is likely to hold sample ids; ``weak`` takes names that may mean something else."""
    plain = re.sub(r"[\W_]", "", name.casefold())
    if _ID_NAME.fullmatch(plain):
        return True
    return weak and bool(_WEAK_NAME.fullmatch(plain) or _ENDS_IN_ID.fullmatch(name.strip()))


@dataclass(frozen=True)
class TableStart:
    """Where a table begins.

    Attributes
    ----------
    width : int
        Number of columns.
    header : int or None
        Position of the row of names; None where the first row is a sample.
    first : int
        Position of the first sample.
    short_header : bool
        Whether the header has a name less than there are columns: the first is that of the row names (as R writes).
    """

    width: int
    header: int | None
    first: int
    short_header: bool = False


def table_width(widths: Sequence[int]) -> int:
    """Number of cells of most of the last rows; of most rows where that is open."""
    total, tail = Counter(widths), Counter(widths[len(widths) // 3 :])
    return max(tail, key=lambda width: (tail[width], total[width], width))


def find_start(rows: Sequence[Sequence[str]]) -> TableStart:
    """Where the table begins in the first rows of a file; rows without cells may be among them."""
    width = table_width([len(row) for row in rows if len(row)] or [0])
    position = _first_row_of_table(rows, width)
    row = rows[position]
    below = [other for other in rows[position + 1 :] if len(other) == width][:20]
    if len(row) == width - 1:
        trailing = all(other[-1].strip() == "" for other in below)
        return TableStart(width - trailing, position, position + 1, short_header=not trailing)
    if _is_header(row, below):
        return TableStart(width, position, position + 1)
    return TableStart(width, None, position)


def _first_row_of_table(rows: Sequence[Sequence[str]], width: int) -> int:
    """Position of the first row that is neither a title, a comment nor empty."""
    last = max(position for position, row in enumerate(rows) if any(cell.strip() for cell in row))
    for position, row in enumerate(rows):
        n_filled = sum(cell.strip() != "" for cell in row)
        if n_filled == 0:
            continue
        is_title = width >= 3 and n_filled <= 1 and len(rows) > 1
        is_comment = width >= 2 and row[0].startswith(("##", "# ", "!", "//")) and len(row) != width
        one_short = len(row) == width - 1 and position < last and _can_lack_a_name(row, rows[position + 1 :], width)
        if position == last or (len(row) == width and not is_title) or (one_short and not is_title and not is_comment):
            return position
    return last


def _can_lack_a_name(row: Sequence[str], below: Sequence[Sequence[str]], width: int) -> bool:
    """Whether a row with a cell less than the others is a header without a name for the row names."""
    following = [other for other in below if len(other)]
    words = len(row) >= 1 and not all(is_number_like(cell) for cell in row) and all(cell.strip() for cell in row)
    return words and bool(following) and len(following[0]) == width


def _is_header(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a row names columns rather than being a sample."""
    first, others = row[0].strip(), [cell.strip() for cell in row[1:]]
    decisive = [cell for cell in others if cell not in _NOT_DECISIVE]
    if any(not is_number_like(cell) for cell in decisive) or (not decisive and not is_number_like(first)):
        return True
    if not decisive:
        return False
    if first == "" or is_id_name(first, weak=True):
        return True
    if is_number_like(first):
        return _counts_up([first, *others])
    if below and all(is_number_like(other[0]) for other in below):
        return True
    return _rises(others) and not any(_rises([cell.strip() for cell in other[1:]]) for other in below)


def _counts_up(cells: Sequence[str]) -> bool:
    """Whether cells are 0, 1, 2, ..., as pandas names columns."""
    return len(cells) > 1 and list(cells) == [str(place) for place in range(len(cells))]


def _rises(cells: Sequence[str]) -> bool:
    """Whether cells are increasing plain numbers, such as wavelengths."""
    try:
        numbers = [float(cell) for cell in cells]
    except ValueError:
        return False
    return len(numbers) >= 4 and all(a < b for a, b in itertools.pairwise(numbers))
