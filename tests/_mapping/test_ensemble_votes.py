"""Votes and the weights they carry."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sslart._data.labels import ClassTable, Labels
from sslart._data.samples import Table
from sslart._mapping.ensemble_votes import VotingRecord, held_out, vote_on_labels


def labels(*values: int) -> Labels:
    array = np.array(values)
    return Labels(array, array != -1)


def test_score_is_the_sum_of_the_weights_of_the_votes() -> None:
    votes = np.array([[0, 1, -1], [1, 1, -1], [1, 0, -1]])
    weights = np.array([[0.9, 0.5], [0.5, 0.3], [0.2, 0.1]])
    np.testing.assert_allclose(vote_on_labels(votes, votes, weights).scores, [[0.9, 0.4], [0.2, 0.8], [0, 0]])


def test_votes_without_weight_count_one_each() -> None:
    votes = np.array([[0, 1], [1, 1], [1, 1]])
    weights = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.5]])
    np.testing.assert_allclose(vote_on_labels(votes, votes, np.zeros((3, 2))).scores, [[1, 2], [0, 3]])
    np.testing.assert_allclose(vote_on_labels(votes, votes, weights).scores, [[0, 0.5], [0, 0.5]])


def test_weight_is_right_predictions_over_samples_of_the_class() -> None:
    table = ClassTable().learning(labels(5, 2, 9))
    record = VotingRecord.of_votes(np.array([[1, 1, 0, -1], [1, 0, 0, 0]]), table, labels(5, 5, 2, 2))
    # classes sorted: 2, 5, 9; class 9 has no sample, so it gets the share over all
    np.testing.assert_allclose(record.weights(table), [[0.5, 1.0, 0.75], [1.0, 0.5, 0.75]])


def test_records_add_up_even_when_classes_come_later() -> None:
    one = VotingRecord(np.array([[1], [0]]), np.array([2]))
    two = VotingRecord(np.array([[1, 3], [1, 0]]), np.array([1, 4]))
    both = one + two
    assert both.successes.tolist() == [[2, 3], [1, 0]]
    assert both.trials.tolist() == [3, 4]


def test_held_out_samples_are_labelled_and_leave_one_of_each_class() -> None:
    given = labels(*[0] * 10, *[1] * 4, 2, *[-1] * 20)
    table = Table(np.random.RandomState(0).rand(35, 2))
    apart = held_out(given, 0.5, table, 0)
    assert np.bincount(given.values[apart]).tolist() == [5, 2]
    assert (held_out(given, 0.5, table, 1) != apart).any()
    with pytest.raises(ValueError, match="larger share"):
        held_out(labels(0, 1, 2), 0.9, table[:3], 0)


def test_copies_and_groups_are_held_out_together_in_whatever_order() -> None:
    random = np.random.RandomState(0)
    samples, groups = np.repeat(random.rand(20, 2), 2, axis=0), np.repeat(np.arange(10), 4)
    given = labels(*np.repeat(np.arange(10) % 2, 4))
    order = random.permutation(40)
    for own in (given, replace(given, groups=groups + 1)):
        apart = held_out(own, 0.4, Table(samples), 3)
        assert (apart[::2] == apart[1::2]).all()
        np.testing.assert_array_equal(held_out(own[order], 0.4, Table(samples[order]), 3), apart[order])
    together = apart.reshape(10, 4)
    assert (together == together[:, :1]).all()
