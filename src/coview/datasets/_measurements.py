"""Fetched sets of measurements and tables: people, mice, digits, radar and radio, texts in several languages."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.datasets._fetched_files import numbered, read_arrays, read_table_file, text_index, to_views

__all__ = ["MEASUREMENT_READERS"]

_YEAR = 365.25
_UCI = {
    "ionosphere": "return",
    "sonar": "return",
    "pima_diabetes": "woman",
    "bupa_liver": "man",
    "breast_wisconsin": "sample",
    "wine": "wine",
    "balance_scale": "setting",
    "optdigits": "digit",
}


def _arrays(
    blocks: Mapping[str, NDArray[Any]], labels: Any, *, word: str, target: str, meta: pd.DataFrame | None = None
) -> dict[str, Any]:
    """Views of dense arrays whose samples have no ids of their own."""
    ids = numbered(len(np.asarray(labels)), word)
    return {
        "views": to_views({name: np.asarray(block, dtype=np.float64) for name, block in blocks.items()}, ids),
        "target": pd.Series(np.asarray(labels), index=ids, name=target),
        "meta": pd.DataFrame(index=ids) if meta is None else meta.set_axis(ids, axis=0),
    }


def _tables(frames: Mapping[str, pd.DataFrame], target: pd.Series, meta: pd.DataFrame) -> dict[str, Any]:
    """Frames with gaps and words, each over the samples that have a value of it."""
    return {
        "frames": {name: frame.dropna(how="all") for name, frame in frames.items()},
        "target": target,
        "meta": meta,
    }


def _mfeat(folder: Path) -> dict[str, Any]:
    blocks = {view: read_arrays(folder / f"{view}.npz")["X"] for view in ("fou", "fac", "kar", "pix", "zer", "mor")}
    return _arrays(blocks, read_table_file(folder / "labels.csv.gz")["label"], word="digit", target="digit")


def _msrc_v1(folder: Path) -> dict[str, Any]:
    labels = read_table_file(folder / "labels.csv.gz")["label"]
    return _arrays(read_arrays(folder / "views.npz"), labels, word="photo", target="object")


def _protein_folds(folder: Path) -> dict[str, Any]:
    proteins = read_table_file(folder / "proteins.csv.gz")
    return _arrays(
        read_arrays(folder / "views.npz"),
        proteins["fold_name"],
        word="protein",
        target="fold_name",
        meta=proteins[["id", "part", "fold", "sequence"]],
    )


def _landmine(folder: Path) -> dict[str, Any]:
    stored = read_arrays(folder / "landmine.npz")
    meta = pd.DataFrame({"task": stored["task"].astype(np.int64)})
    return _arrays({"radar": stored["X"]}, stored["y"].astype(np.int64), word="spot", target="mine", meta=meta)


def _satimage(folder: Path) -> dict[str, Any]:
    stored = read_arrays(folder / "satimage.npz")
    labels = stored.pop("y").astype(np.int64)
    return _arrays(stored, labels, word="spot", target="soil")


def _phonemes(folder: Path) -> dict[str, Any]:
    stored = read_arrays(folder / "phonemes.npz")
    classes = read_table_file(folder / "reference_classes.csv.gz")
    ids = text_index(stored["phones"])
    blocks = {
        "acoustic": stored["acoustic_mfcc39"].astype(np.float64),
        "articulatory": stored["articulatory"].astype(np.float64),
        "next": stored["next_prob_dictionary"].astype(np.float64),
    }
    columns = {"articulatory": pd.Index(stored["articulatory_names"], dtype="str"), "next": ids}
    return {
        "views": to_views(blocks, ids, columns=columns),
        "target": pd.Series(classes["family"].to_numpy(), index=ids, name="family"),
        "meta": classes[["ipa", "subfamily"]].set_axis(ids, axis=0),
    }


def _spoken_digits(folder: Path) -> dict[str, Any]:
    split = read_table_file(folder / "ssml_split.csv.gz")
    ids = numbered(len(split), "digit")
    stored = {
        "audio": (read_arrays(folder / "audio_mfcc.npz")["mean_std"], split["audio_row"].to_numpy()),
        "image": (read_arrays(folder / "image_digits.npz")["X"], split["image_row"].to_numpy()),
    }
    presence = np.column_stack([rows >= 0 for _, rows in stored.values()])
    blocks = {
        view: np.where((rows >= 0)[:, None], values.astype(np.float64)[rows], np.nan)
        for view, (values, rows) in stored.items()
    }
    truth = pd.Series(split["digit"].to_numpy(), index=ids, name="digit")
    return {
        "views": to_views(blocks, ids, presence=presence),
        "target": truth.astype(np.float64).where(split["role"].to_numpy() == "labelled_audio"),
        "meta": pd.DataFrame({"truth": truth, "role": split["role"].to_numpy()}, index=ids),
    }


def _nutrimouse(folder: Path) -> dict[str, Any]:
    read = {name: read_table_file(folder / f"{name}.csv.gz") for name in ("gene", "lipid", "diet", "genotype")}
    ids = numbered(len(read["diet"]), "mouse")
    blocks = {view: read[view].to_numpy(dtype=np.float64) for view in ("gene", "lipid")}
    return {
        "views": to_views(blocks, ids, columns={view: read[view].columns for view in blocks}),
        "target": pd.Series(read["diet"]["diet"].to_numpy(), index=ids, name="diet"),
        "meta": read["genotype"].set_axis(ids, axis=0),
    }


def _nsclc_survival(folder: Path) -> dict[str, Any]:
    parts = ("train", "test")

    def stacked(kind: str) -> pd.DataFrame:
        table = pd.concat([read_table_file(folder / f"{kind}_{part}.csv.gz").assign(part=part) for part in parts])
        return table.set_index(text_index(table.pop("PatientID")))

    clinical, radiomics = stacked("clinical"), stacked("radiomics").drop(columns="part")
    outcome = read_table_file(folder / "outcome_train.csv.gz")
    outcome = outcome.set_index(text_index(outcome.pop("PatientID"))).reindex(clinical.index)
    return _tables(
        {"clinical": clinical[["age", "Tstage", "Nstage", "Mstage", "Histology"]], "radiomics": radiomics},
        outcome["two_year"].map({1: "alive", -1: "dead"}).rename("two_year"),
        pd.DataFrame(
            {
                "part": clinical["part"],
                "source": clinical["SourceDataset"],
                "days": outcome["SurvivalTime"],
                "event": outcome["Event"],
            }
        ),
    )


def _lung_ncctg(folder: Path) -> dict[str, Any]:
    table = read_table_file(folder / "lung.csv.gz")
    table.index = numbered(len(table), "patient")
    is_alive, is_dead = table["time"] >= _YEAR, (table["time"] < _YEAR) & (table["status"] == 1)
    target = pd.Series(None, index=table.index, name="one_year", dtype="str")
    target[is_alive], target[is_dead] = "alive", "dead"
    return _tables(
        {
            "person": table[["age", "sex"]],
            "performance": table[["ph.ecog", "ph.karno", "pat.karno"]],
            "nutrition": table[["meal.cal", "wt.loss"]],
        },
        target,
        table[["inst", "time", "status"]].rename(columns={"inst": "institution", "time": "days"}),
    )


def _sib200(folder: Path) -> dict[str, Any]:
    passages = read_table_file(folder / "sib200.csv.gz", dtype={"id": "str"})
    ids = text_index("passage-" + passages["id"].str.zfill(4))
    languages = ("en", "fr", "de", "fr_mt", "en_mt")
    return _tables(
        {language: passages[[language]].set_axis(ids, axis=0).set_axis(["text"], axis=1) for language in languages},
        pd.Series(passages["topic"].to_numpy(), index=ids, name="topic"),
        passages[["part"]].set_axis(ids, axis=0),
    )


def _uci(name: str) -> Callable[[Path], dict[str, Any]]:
    """A reader of one table of numbers with a column ``label``."""

    def read(folder: Path) -> dict[str, Any]:
        table = read_table_file(folder / f"{name}.csv.gz")
        ids = numbered(len(table), _UCI[name])
        target = pd.Series(table.pop("label").to_numpy(), index=ids, name="label")
        meta = pd.DataFrame({"part": table.pop("part").to_numpy()} if "part" in table else None, index=ids)
        values = table.to_numpy(dtype=np.float64)
        views = to_views({"features": values}, ids, columns={"features": table.columns})
        return {"views": views, "target": target, "meta": meta}

    return read


MEASUREMENT_READERS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "mfeat": _mfeat,
    "msrc_v1": _msrc_v1,
    "protein_folds": _protein_folds,
    "nsclc_survival": _nsclc_survival,
    "lung_ncctg": _lung_ncctg,
    "nutrimouse": _nutrimouse,
    "landmine": _landmine,
    "satimage": _satimage,
    "spoken_digits": _spoken_digits,
    "phonemes": _phonemes,
    "parallel/sib200": _sib200,
    **{f"uci/{name}": _uci(name) for name in _UCI},
}
