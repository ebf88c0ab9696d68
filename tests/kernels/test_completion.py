"""Missing views filled from the nearest rows, against the rule written out."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview.kernels import ViewCompletion


def problem(seed=0, n=16, widths=(2, 3, 1)):
    rng = np.random.default_rng(seed)
    presence = rng.random((n, len(widths))) < 0.6
    presence[:3] = True
    whole = [rng.normal(size=(n, p)) for p in widths]
    return whole, presence


def held(whole, presence, form=np.asarray):
    return [form(table[mask]) for table, mask in zip(whole, presence.T, strict=True)]


def by_hand(whole, presence, medians, row, row_presence, j, k=5):
    """View j of one row, from the training rows that have it."""
    donors = np.flatnonzero(presence[:, j])
    distances = []
    for donor in donors:
        both = [v for v in range(len(whole)) if v != j and row_presence[v] and presence[donor, v]]
        terms = [((row[v] - whole[v][donor]) ** 2).sum() / medians[v] for v in both]
        distances.append(np.mean(terms) if terms else np.inf)
    order = [at for at in np.argsort(distances, kind="stable")[:k] if np.isfinite(distances[at])]
    chosen = donors[order] if order else donors
    return whole[j][chosen].mean(axis=0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("seed", range(3))
def test_filled_views_are_the_mean_of_the_nearest_donors(seed, form):
    whole, presence = problem(seed)
    blocks = held(whole, presence, form)
    completion = ViewCompletion.of(blocks, presence, np.random.RandomState(0))
    completed = completion.complete(blocks, presence)
    new_whole, new_presence = problem(seed + 10, n=5)
    fresh = completion.complete(held(new_whole, new_presence, form), new_presence)
    for tables, mask, result in [(whole, presence, completed), (new_whole, new_presence, fresh)]:
        for j, block in enumerate(result):
            block = block.toarray() if sp.issparse(block) else block
            for i, present in enumerate(mask[:, j]):
                row = [table[i] for table in tables]
                expected = row[j] if present else by_hand(whole, presence, completion.medians, row, mask[i], j)
                np.testing.assert_allclose(block[i], expected, rtol=1e-9, atol=1e-12)


def test_scales_are_the_medians_of_the_nonzero_squared_distances():
    X = np.array([[0.0], [0.0], [1.0], [3.0]])
    completion = ViewCompletion.of([X], np.ones((4, 1), dtype=bool), np.random.RandomState(0))
    assert completion.medians.tolist() == [np.median([1.0, 9.0, 1.0, 9.0, 4.0])]


def test_a_donor_takes_nothing_of_itself():
    whole, presence = problem(5)
    blocks = held(whole, presence)
    completion = ViewCompletion.of(blocks, presence, np.random.RandomState(0))
    alone = np.zeros_like(presence)
    alone[:, 0] = presence[:, 0]
    rows = np.flatnonzero(alone[:, 0])
    cut = [whole[0][rows], np.zeros((0, 3)), np.zeros((0, 1))]
    filled = completion.complete(cut, alone[rows], rows)
    for at, i in enumerate(rows):
        others = presence.copy()
        others[i] = False
        for j in (1, 2):
            expected = by_hand(whole, others, completion.medians, [table[i] for table in whole], alone[i], j)
            np.testing.assert_allclose(filled[j][at], expected, rtol=1e-9, atol=1e-12)


def test_a_donor_that_shares_no_view_takes_the_mean_of_the_others():
    blocks = [np.array([[1.0]]), np.array([[1.0], [2.0], [6.0]])]
    presence = np.array([[True, True], [False, True], [False, True]])
    completion = ViewCompletion(blocks, presence, np.ones(2))
    bare = [np.zeros((0, 1)), np.zeros((0, 1))]
    filled = completion.complete(bare, np.zeros((2, 2), dtype=bool), np.array([0, -1]))
    np.testing.assert_allclose(filled[1], [[4.0], [3.0]])
    np.testing.assert_allclose(filled[0], [[1.0], [1.0]])


def test_a_training_row_seen_again_is_completed_as_in_training():
    whole, presence = problem(3)
    blocks = held(whole, presence)
    completion = ViewCompletion.of(blocks, presence, np.random.RandomState(0))
    completed = completion.complete(blocks, presence)
    for i in range(16):
        alone = completion.complete(
            held([table[i : i + 1] for table in whole], presence[i : i + 1]), presence[i : i + 1]
        )
        for j in range(3):
            np.testing.assert_allclose(alone[j][0], completed[j][i], rtol=1e-10)


def test_without_a_common_view_the_mean_of_all_donors_is_taken():
    presence = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=bool)
    blocks = [np.array([[1.0], [2.0]]), np.array([[10.0], [20.0]])]
    completion = ViewCompletion.of(blocks, presence, np.random.RandomState(0))
    completed = completion.complete(blocks, presence)
    assert completed[0].ravel().tolist() == [1.0, 2.0, 1.5, 1.5]
    assert completed[1].ravel().tolist() == [15.0, 15.0, 10.0, 20.0]


def test_a_view_nobody_has_stays_zero_and_complete_rows_stay_as_they_are():
    presence = np.array([[1, 0], [1, 0]], dtype=bool)
    blocks = [np.array([[1.0], [2.0]]), np.zeros((0, 3))]
    completed = ViewCompletion.of(blocks, presence, np.random.RandomState(0)).complete(blocks, presence)
    np.testing.assert_array_equal(completed[0], blocks[0])
    np.testing.assert_array_equal(completed[1], np.zeros((2, 3)))


def test_fewer_donors_than_neighbors_are_all_used():
    presence = np.array([[1, 1], [1, 1], [1, 0]], dtype=bool)
    blocks = [np.array([[0.0], [1.0], [0.2]]), np.array([[4.0], [8.0]])]
    completed = ViewCompletion.of(blocks, presence, np.random.RandomState(0)).complete(blocks, presence)
    assert completed[1].ravel().tolist() == [4.0, 8.0, 6.0]


def test_many_rows_are_filled_in_blocks():
    rng = np.random.default_rng(0)
    presence = np.ones((1100, 2), dtype=bool)
    presence[50:, 1] = False
    blocks = [rng.normal(size=(1100, 2)), rng.normal(size=(50, 1))]
    completion = ViewCompletion.of(blocks, presence, np.random.RandomState(0))
    completed = completion.complete(blocks, presence)
    whole = [blocks[0], np.concatenate([blocks[1], np.zeros((1050, 1))])]
    for i in (50, 561, 562, 1099):
        expected = by_hand(whole, presence, completion.medians, [blocks[0][i], None], presence[i], 1)
        np.testing.assert_allclose(completed[1][i], expected, rtol=1e-10)
