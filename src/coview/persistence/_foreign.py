"""What a file is that is no model of coview, told from its first bytes and its members."""

from __future__ import annotations

from collections.abc import Collection

__all__ = ["foreign_archive", "foreign_file"]

_PICKLE = (
    "a pickle (or a joblib file), which can run any code when it is read. coview loads none. If you made it, load it with "
    "what wrote it and save the model with coview.persistence.save_model"
)
_DATA = "Give a file that 'coview fit' or coview.persistence.save_model wrote"
_BEGINNINGS = {
    b"\x80\x02": _PICKLE,
    b"\x80\x03": _PICKLE,
    b"\x80\x04": _PICKLE,
    b"\x80\x05": _PICKLE,
    b"\x78\x01": _PICKLE,
    b"\x78\x5e": _PICKLE,
    b"\x78\x9c": _PICKLE,
    b"\x78\xda": _PICKLE,
    b"\x1f\x8b": f"packed with gzip. {_DATA}",
    b"BZh": f"packed with bzip2. {_DATA}",
    b"\xfd7zXZ": f"packed with xz. {_DATA}",
    b"\x93NUMPY": f"an array of numpy. {_DATA}",
    b"\x89HDF": f"an HDF5 file, such as .h5ad. {_DATA}",
    b"PAR1": f"a Parquet table. {_DATA}",
    b"\xd0\xcf\x11\xe0": f"an old Excel workbook. {_DATA}",
    b"%PDF": f"a PDF document. {_DATA}",
}
_ZIP, _ZIP_END, _ZIP_END_WITHIN = b"PK\x03\x04", b"PK\x05\x06", 2**16 + 22
_READABLE_BYTES = 2048


def foreign_file(data: bytes, what: str) -> str | None:
    """What to say of a file that is no ZIP archive, or a part of one; None for one that begins and ends like one."""
    if data.startswith(_ZIP):
        if _ZIP_END in data[-_ZIP_END_WITHIN:]:
            return None
        return (
            f"{what} is cut off: it begins like a model, but its end is missing ({len(data):,} bytes are there). "
            "Copy it again from where it came, or fit anew."
        )
    if not data:
        return f"{what} is empty. Copy it again from where it came, or fit anew."
    for beginning, kind in _BEGINNINGS.items():
        if data.startswith(beginning):
            return f"{what} is no model of coview but {kind}."
    kind = "a text or a table" if _is_text(data[:_READABLE_BYTES]) else "something else"
    return f"{what} is no model of coview but {kind}. {_DATA}."


def foreign_archive(names: Collection[str], what: str) -> str:
    """What to say of a ZIP archive with other members than a model has."""
    if "schema.json" in names:
        kind = (
            "a plain skops file, without what coview checks. If you trust it, load it with skops.io.load and save the model "
            "with coview.persistence.save_model"
        )
    elif "[Content_Types].xml" in names or "mimetype" in names:
        kind = f"a workbook or document. {_DATA}"
    elif names and all(name.endswith(".npy") for name in names):
        kind = f"arrays of numpy (.npz). {_DATA}"
    else:
        listed = ", ".join(repr(name[:40]) for name in sorted(names)[:5]) or "nothing"
        kind = f"an archive of {listed}, where a model has manifest.json, record.json and model.skops. {_DATA}"
    return f"{what} is no model of coview but {kind}."


def _is_text(beginning: bytes) -> bool:
    """Whether bytes read like text; a letter may be cut at the end."""
    try:
        text = beginning.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(beginning) - 3:
            return False
        text = beginning[: error.start].decode("utf-8")
    return all(letter.isprintable() or letter in "\r\n\t\ufeff" for letter in text)
