"""Models score under encryption as they do in the clear."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import Party

import sunzi
from sunzi import ml


def test_layers(reals: Party) -> None:
    rng = np.random.default_rng(1)
    rows = rng.uniform(-1, 1, (20, 12))
    kernel, bias = rng.uniform(-0.5, 0.5, (2, 1, 2, 3)), rng.uniform(-0.5, 0.5, 2)
    convolution = ml.Conv2d(kernel, bias, (3, 4))
    assert convolution.image == (2, 2) and convolution.weight.shape == (8, 12)
    image = rows[0].reshape(3, 4)
    expected = (image[1:3, 0:3] * kernel[1, 0]).sum() + bias[1]
    assert convolution.clear(rows)[0, 4 + 2] == pytest.approx(expected)
    network = ml.Network(
        [convolution, ml.Square(), ml.Dense(rng.uniform(-0.25, 0.25, (3, 8)) / 16), ml.Activation(np.tanh, (-2, 2), 3)]
    )
    assert network.depth == 6
    told: list[tuple[str, int, int]] = []
    columns = ml.encrypt_columns(reals.keys, rows, bounds=(-1, 1))
    scores = network.encrypted(columns, progress=lambda *step: told.append(step))
    assert told == [("layers", i, 4) for i in (1, 2, 3, 4)]
    np.testing.assert_allclose(ml.decrypt_columns(reals.keys, scores), network.clear(rows), atol=1e-3)
    # As far as anybody knows who computes, an input of the activation may lie beyond its interval: a promise says that none does.
    wide = ml.encrypt_columns(reals.keys, rows)
    with pytest.raises(sunzi.errors.OutsideInterval, match="declared"):
        network.encrypted(wide)
    network.layers[-1] = ml.Activation(np.tanh, (-2, 2), 3, declared=True)
    np.testing.assert_allclose(ml.decrypt_columns(reals.keys, network.encrypted(wide)), network.clear(rows), atol=1e-3)


def test_shapes(reals: Party, integers: Party) -> None:
    x = reals.encrypt(np.ones(3))
    for wrong in (
        lambda: ml.Dense(np.ones(3)),
        lambda: ml.Dense(np.ones((2, 3)), np.ones(3)),
        lambda: ml.Conv2d(np.ones((2, 2)), None, (3, 3)),
        lambda: ml.encrypt_columns(reals.keys, np.ones(3)),
        lambda: ml.combine([x], np.ones(2)),
        lambda: ml.combine([x], np.zeros(1)),
        lambda: ml.combine([x, reals.encrypt(np.ones(4))], np.ones(2)),
        lambda: ml.Network.from_torch({"0.weight": np.ones((1, 1, 2, 2))}),
    ):
        with pytest.raises(sunzi.errors.ShapeError):
            wrong()
    with pytest.raises(sunzi.errors.WrongScheme):
        ml.combine([integers.encrypt([1])], np.ones(1))


def test_linear_regression(reals: Party) -> None:
    rng = np.random.default_rng(2)
    rows = rng.uniform(-1, 1, (300, 3))
    target = rows @ np.array([0.5, -1.0, 0.25]) + 0.125 + rng.normal(0, 0.05, 300)
    columns = ml.encrypt_columns(reals.keys, rows)
    model = ml.LinearRegression().fit(columns, reals.encrypt(target)).open(reals.keys)
    wanted = np.linalg.lstsq(np.column_stack([rows, np.ones(300)]), target, rcond=None)[0]
    np.testing.assert_allclose([*model.coef_, model.intercept_], wanted, atol=1e-3)
    reals.check(model.predict(columns), rows @ wanted[:-1] + wanted[-1], 1e-2)


def test_a_model_of_scikit_learn(reals: Party) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    datasets = pytest.importorskip("sklearn.datasets")
    table = datasets.load_breast_cancer()
    rows = (table.data - table.data.mean(0)) / table.data.std(0) / 8
    model = linear.LogisticRegression().fit(rows[:400], table.target[:400])
    network = ml.Network.from_sklearn(model)
    assert network.depth == 1
    scores = network.encrypted(ml.encrypt_columns(reals.keys, rows[400:]))
    opened = ml.decrypt_columns(reals.keys, scores)[:, 0]
    np.testing.assert_allclose(opened, model.decision_function(rows[400:]), atol=1e-2)
    assert ((opened > 0) == model.predict(rows[400:])).mean() > 0.98


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_networks_of_scikit_learn() -> None:
    """With the functions that have a series: what is opened is what the model says in the clear."""
    neural = pytest.importorskip("sklearn.neural_network")
    rng = np.random.default_rng(8)
    rows, three = rng.uniform(-1, 1, (64, 3)), rng.integers(0, 3, 64)
    target = np.tanh(rows @ [0.5, -0.25, 0.125])
    between: dict[str, Callable[[Any], Any]] = {"tanh": np.tanh, "logistic": lambda v: 1 / (1 + np.exp(-v)), "identity": lambda v: v}
    for model, labels, degree, layers in (
        (neural.MLPRegressor(hidden_layer_sizes=(4,), activation="tanh", max_iter=50, random_state=1), target, 15, 3),
        (neural.MLPClassifier((3, 2), activation="logistic", max_iter=50, random_state=1), three, 7, 5),
        (neural.MLPClassifier((3,), activation="tanh", max_iter=50, random_state=1), three > 0, 15, 3),
        (neural.MLPRegressor(hidden_layer_sizes=(3,), activation="identity", max_iter=50, random_state=1), target, 15, 2),
    ):
        network = ml.Network.from_sklearn(model.fit(rows, labels), bounds=(-1, 1), degree=degree)
        assert len(network.layers) == layers
        values = rows
        for i, (weight, bias) in enumerate(zip(model.coefs_, model.intercepts_)):
            values = values @ weight + bias
            if i + 1 < len(model.coefs_):
                values = between[model.activation](values)
        np.testing.assert_allclose(network.clear(rows), values, atol=2e-2)
        keys = sunzi.keygen(sunzi.Context.for_depth(network.depth, bound=1, result_bound=64, precision=16, security=0, log2_degree=10))
        scores = ml.decrypt_columns(keys, network.encrypted(ml.encrypt_columns(keys, rows, bounds=(-1, 1))))
        np.testing.assert_allclose(scores, values, atol=2e-2)
        if model.__class__.__name__ == "MLPRegressor":
            np.testing.assert_allclose(scores[:, 0], model.predict(rows), atol=2e-2)
        elif scores.shape[1] == 1:
            clear = np.abs(values[:, 0]) > 0.05
            assert ((scores[:, 0] > 0) == model.predict(rows))[clear].all()
        else:
            assert (scores.argmax(axis=1) == model.predict(rows)).mean() > 0.9


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_other_models_of_scikit_learn_are_refused_by_name(reals: Party) -> None:
    """What would give other scores than the model has, and what has no weights."""
    linear, svm = pytest.importorskip("sklearn.linear_model"), pytest.importorskip("sklearn.svm")
    pipeline, scaling = pytest.importorskip("sklearn.pipeline"), pytest.importorskip("sklearn.preprocessing")
    ensemble, neural = pytest.importorskip("sklearn.ensemble"), pytest.importorskip("sklearn.neural_network")
    rng = np.random.default_rng(3)
    rows, three = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    target = np.exp(rows @ [0.5, -0.25, 0.125])
    for model, what in [
        (ensemble.RandomForestClassifier(n_estimators=3).fit(rows, three), "no coef_"),
        (ensemble.RandomForestClassifier(), "fit"),
        (linear.LogisticRegression(), "call fit first"),
        (linear.LogisticRegression, "class"),
        (linear.PoissonRegressor().fit(rows, target), "exponential.*np.exp"),
        (linear.GammaRegressor().fit(rows, target), "scores are not those"),
        (svm.SVC(kernel="linear").fit(rows, three), "SVC.*scores are not those"),
        (svm.SVC(kernel="rbf").fit(rows, three), "SVC.*no coef_"),
        (pipeline.make_pipeline(scaling.StandardScaler(), linear.Ridge()).fit(rows, target), "in the clear.*model\\[-1\\]"),
        (neural.MLPClassifier((4,), max_iter=5).fit(rows, three), "relu.*follows no polynomial.*activation='tanh'"),
        (neural.MLPRegressor(hidden_layer_sizes=(4,), activation="tanh"), "call fit first"),
        (neural.MLPRegressor(hidden_layer_sizes=(4,), activation="tanh", max_iter=5).fit(rows, target), "give bounds"),
        ("model", "str"),
    ]:
        with pytest.raises(TypeError, match=what) as told:
            ml.Network.from_sklearn(model)
        assert "bounds" in what or "supported are" in str(told.value) and "LogisticRegression" in str(told.value)
    columns = ml.encrypt_columns(reals.keys, rows / 8)
    for model in (
        linear.LinearRegression(fit_intercept=False).fit(rows, np.column_stack([target, -target])),
        linear.LogisticRegression().fit(rows, three),
        linear.SGDClassifier().fit(rows, three > 0).sparsify(),
        linear.Ridge().fit(rows, target),
        svm.LinearSVC().fit(rows, three),
        svm.SVR(kernel="linear").fit(rows, target),
    ):
        scores = ml.decrypt_columns(reals.keys, ml.Network.from_sklearn(model).encrypted(columns))
        wanted = (getattr(model, "decision_function", None) or model.predict)(rows / 8)
        np.testing.assert_allclose(scores, wanted.reshape(len(rows), -1), atol=1e-2)
