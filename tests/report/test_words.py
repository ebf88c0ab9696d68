"""Words for the page: counts, shares, lists, names that fit."""

import pytest

from coview.report._words import counted, listed, share_of, shorten


def test_counts_agree_with_their_noun():
    assert counted(1, "sample") == "1 sample"
    assert counted(12345, "sample") == "12,345 samples"
    assert counted(0, "class", "classes") == "0 classes"


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (2, 425, "2 of 425 (under 1%)"),
        (424, 425, "424 of 425 (over 99%)"),
        (0, 425, "0 of 425 (0%)"),
        (5, 5, "5 of 5 (100%)"),
        (0, 0, "0 of 0"),
    ],
)
def test_a_share_is_nothing_or_all_only_where_it_is(part, whole, text):
    assert share_of(part, whole) == text


def test_lists_name_the_first_and_count_the_rest():
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed("abc") == "a, b and c"
    assert listed(range(1200), 2) == "0, 1 and 1,198 more"
    assert listed([]) == ""


def test_names_become_one_line_cut_in_the_middle():
    assert shorten("a\tb\n c") == "a b c"
    assert shorten("x" * 24) == "x" * 24
    assert shorten("abcdefghij-left", 10) == "abcdef\N{HORIZONTAL ELLIPSIS}eft"
    assert len(shorten("y" * 100)) == 24


def test_names_from_right_to_left_are_set_apart():
    assert shorten("רע 1") == "\u2068רע 1\u2069"
    assert shorten("ill 1") == "ill 1"
