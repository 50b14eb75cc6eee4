"""Models trained on encrypted tables are those that the same steps in the clear come to."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import sunzi
from sunzi import ml

RNG = np.random.default_rng(1)
ROWS = RNG.normal(size=(60, 2)) * [3, 0.5] + [10, -1]
SCORES = (ROWS - [10, -1]) / [3, 0.5] @ [1.0, -2.0] + 0.3
LABELS = np.where(SCORES + RNG.normal(0, 0.5, 60) > 0, "ill", "healthy")
TARGET = 100 + 7 * SCORES + RNG.normal(0, 0.1, 60)


@pytest.fixture(scope="module")
def small() -> sunzi.Keys:
    """Bootstrapping at n = 2^10, without any security: six levels are left."""
    return ml.training_keys(sunzi.Context.for_bootstrapping("insecure-10-6"), 60, 2)


def test_logistic_regression(small: sunzi.Keys) -> None:
    settings: dict[str, Any] = {"iterations": 4, "degree": 5, "width": 16.0}
    owner, server = ml.LogisticRegression(**settings), ml.LogisticRegression(**settings)
    sent = owner.encrypt(small.public, ROWS, LABELS).to_bytes()
    told: list[tuple[str, int, int]] = []
    table = ml.EncryptedTable.from_bytes(sent, small.context)
    assert len(table.blocks) == 1 and table.width == 4 and table.nbytes > 0
    server.fit(table.with_keys(small.public), progress=lambda *step: told.append(step))
    assert told == [("steps", k, 4) for k in (1, 2, 3, 4)]
    owner.decrypt(small, pickle.loads(pickle.dumps(server.state_)))
    assert owner.largest_score_ is None
    owner.decrypt(small, *pickle.loads(pickle.dumps((server.state_, server.scores_))))
    with pytest.raises(sunzi.errors.NotProved, match="training"):
        _ = server.state_.error
    clear = ml.LogisticRegression(**settings).fit_clear(ROWS, LABELS)
    assert clear.largest_score_ < 1
    assert owner.largest_score_ == pytest.approx(clear.largest_score_, abs=1e-3)
    np.testing.assert_allclose(owner.coef_, clear.coef_, rtol=1e-4)
    assert owner.intercept_ == pytest.approx(clear.intercept_, rel=1e-4)
    assert owner.score(ROWS, LABELS) == clear.score(ROWS, LABELS) > 0.85
    assert set(owner.predict(ROWS)) == {"ill", "healthy"}
    # What was trained scores encrypted rows like any other model.
    scores = ml.Network.from_sklearn(owner).encrypted(ml.encrypt_columns(small, ROWS[:32] / 32))
    expected = (ROWS[:32] / 32) @ owner.coef_ + owner.intercept_
    np.testing.assert_allclose(ml.decrypt_columns(small, scores)[:, 0], expected, atol=1e-2)


def test_scores_beyond_the_width_are_found(small: sunzi.Keys) -> None:
    """The series of a function is anything there, and weights that rest on it are refused by name."""
    settings: dict[str, Any] = {"iterations": 3, "degree": 5, "width": 2.0}
    model = ml.LogisticRegression(**settings)
    assert ml.LogisticRegression(**settings).fit_clear(ROWS, LABELS).largest_score_ > 1
    model.fit(model.encrypt(small, ROWS, LABELS))
    with pytest.raises(sunzi.errors.OutsideInterval, match="larger width"):
        model.decrypt(small)


def test_ridge_over_several_ciphertexts() -> None:
    # 128 slots of a row and 4 rows in a ciphertext, so that 60 rows take 15.
    wide = np.column_stack([ROWS, RNG.normal(size=(60, 40))])
    keys = ml.training_keys(sunzi.Context.for_bootstrapping("insecure-10"), *wide.shape)
    model = ml.Ridge(iterations=3, alpha=2.0)
    table = model.encrypt(keys, wide, TARGET)
    assert len(table.blocks) == 15 and model.depth == 3
    model.fit(table).decrypt(keys)
    clear = ml.Ridge(iterations=3, alpha=2.0).fit_clear(wide, TARGET)
    np.testing.assert_allclose(model.predict(wide), clear.predict(wide), atol=0.05)


def test_steps_leave_the_levels_that_a_bootstrapping_begins_on() -> None:
    # A step takes three of the six levels, and the bootstrapping before the next the other three.
    keys = ml.training_keys(sunzi.Context.for_bootstrapping("insecure-10-6-first"), *ROWS.shape)
    model = ml.Ridge(iterations=3, alpha=2.0)
    assert model.depth == 3 and keys.public.bootstrapper.lowest_level == 3
    model.fit(model.encrypt(keys.public, ROWS, TARGET)).decrypt(keys)
    clear = ml.Ridge(iterations=3, alpha=2.0).fit_clear(ROWS, TARGET)
    np.testing.assert_allclose(model.predict(ROWS), clear.predict(ROWS), atol=0.05)


def test_ridge_is_that_of_scikit_learn() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    scaled = (ROWS - ROWS.mean(0)) / ROWS.std(0)
    model = ml.Ridge(iterations=64, alpha=3.0).fit_clear(ROWS, TARGET)
    np.testing.assert_allclose(model.predict(ROWS), linear.Ridge(alpha=3.0).fit(scaled, TARGET).predict(scaled), atol=0.01)
    assert model.score(ROWS, TARGET) > 0.98


def test_logistic_regression_is_that_of_scikit_learn() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    datasets = pytest.importorskip("sklearn.datasets")
    rows, target = datasets.load_breast_cancer(return_X_y=True)
    held = np.arange(len(rows)) % 5 == 4
    scaled = (rows - rows[~held].mean(0)) / rows[~held].std(0)
    usual = linear.LogisticRegression(max_iter=5000).fit(scaled[~held], target[~held])
    ours = ml.LogisticRegression().fit_clear(rows[~held], target[~held])
    assert ours.largest_score_ < 0.95
    for part in (held, ~held):
        assert ours.score(rows[part], target[part]) >= usual.score(scaled[part], target[part]) - 0.005


def test_what_is_refused(small: sunzi.Keys) -> None:
    model = ml.LogisticRegression(iterations=2, degree=5, width=16)
    with pytest.raises(sunzi.errors.ShapeError):
        model.encrypt(small, ROWS, LABELS[:-1])
    with pytest.raises(ValueError, match="classes"):
        model.encrypt(small, ROWS, np.arange(60))
    with pytest.raises(ValueError, match="deviations"):
        model.encrypt(small, np.append(np.zeros((599, 1)), [[1.0]], axis=0), np.arange(600) % 2)
    with pytest.raises(sunzi.errors.ShapeError):
        ml.training_keys(small.context, 4, 400)
    for wrong in ({"C": 0.0}, {"iterations": 0}, {"rate": 0.0}, {"width": 0.5}):
        with pytest.raises(ValueError):
            ml.LogisticRegression(**wrong)
    table = ml.EncryptedTable.from_bytes(model.encrypt(small, ROWS, LABELS).to_bytes(), small.context)
    with pytest.raises(sunzi.errors.MissingKey):
        model.fit(table)
    # Without bootstrapping a context must have the levels of all steps.
    keys = ml.training_keys(sunzi.Context.for_depth(4, security=0, log2_degree=10, bound=2, result_bound=64), 60, 2)
    short = ml.Ridge(iterations=2)
    with pytest.raises(sunzi.errors.LevelTooLow, match="step 2 of 2"):
        short.fit(short.encrypt(keys, ROWS, TARGET))
