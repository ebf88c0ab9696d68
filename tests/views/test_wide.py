"""100,000 columns: quick, and without copies."""

import time
import tracemalloc

import numpy as np
import pandas as pd
from scipy import sparse

from coview import Views

N_ROWS, N_COLUMNS = 200, 100_000


def test_a_wide_array_is_neither_copied_nor_slow():
    X = np.random.default_rng(0).normal(size=(N_ROWS, N_COLUMNS))
    X[3] = np.nan
    tracemalloc.start()
    start = time.process_time()
    v = Views({"wide": X, "b": np.ones((N_ROWS, 1))})
    part = v[::2]
    repr(v)
    elapsed, peak = time.process_time() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert elapsed < 5
    assert peak < X.nbytes / 4
    assert part.n_features["wide"] == N_COLUMNS
    assert v.presence.sum() == 2 * N_ROWS - 1


def test_a_wide_frame_is_not_converted_column_by_column():
    frame = pd.DataFrame(np.ones((N_ROWS, N_COLUMNS)))
    frame.columns = [f"gene {place}" for place in range(N_COLUMNS)]
    start = time.process_time()
    v = Views({"wide": frame})
    assert time.process_time() - start < 5
    assert v.feature_names["wide"][-1] == f"gene {N_COLUMNS - 1}"


def test_wide_column_groups():
    X = np.ones((20, N_COLUMNS))
    start = time.process_time()
    v = Views(X, view_columns={"even": slice(0, None, 2), "odd": np.arange(1, N_COLUMNS, 2)})
    assert time.process_time() - start < 5
    assert v.n_features == {"even": N_COLUMNS // 2, "odd": N_COLUMNS // 2}


def test_wide_sparse_rows():
    X = sparse.random_array((N_ROWS, 10 * N_COLUMNS), density=1e-5, rng=np.random.default_rng(0), format="csr")
    start = time.process_time()
    assert Views([X])[::3]["view_0"].shape == (67, 10 * N_COLUMNS)
    assert time.process_time() - start < 5
