"""Weights of linear models and of small networks of scikit-learn, which is not needed for it."""

from __future__ import annotations

import warnings
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float64]

_SUPPORTED = (
    "supported are linear models whose scores are rows @ coef_.T + intercept_: LinearRegression, Ridge, Lasso, ElasticNet, BayesianRidge, LinearSVR, "
    "LogisticRegression, RidgeClassifier, LinearSVC, SGDClassifier, Perceptron, LinearDiscriminantAnalysis, and those of sunzi.ml; and MLPClassifier and MLPRegressor with "
    "activation='tanh', 'logistic' or 'identity'"
)
#: What to do about some that are not.
_INSTEAD = {
    "Pipeline": "apply the first steps to the rows in the clear and give the last one (model[-1])",
    "PoissonRegressor": "its prediction is an exponential: build sunzi.ml.Network([Dense(model.coef_[None], [model.intercept_]), Activation(np.exp, interval, degree)])",
}
#: Activations of networks, by the names of their series.
_ACTIVATIONS = {"tanh": "tanh", "logistic": "sigmoid", "identity": None}
#: Rows that a model is tried on.
_TRIES = 8


def linear_of(model: Any) -> tuple[Reals, Reals]:
    """The weights (outputs, features) and the biases of a fitted linear model; ``TypeError`` for any other."""
    if isinstance(model, type):
        raise _refusal(model.__name__, "this is a class: make a model of it and fit it")
    coef, intercept = (_attribute(model, name) for name in ("coef_", "intercept_"))
    name = type(model).__name__
    if coef is None or intercept is None:
        fits = hasattr(model, "fit") and not any(part.endswith("_") and not part.startswith("_") for part in getattr(model, "__dict__", ()))
        raise _refusal(name, _INSTEAD.get(name, "it is not fitted: call fit first" if fits else "it has no coef_ and intercept_"))
    try:
        dense = coef.toarray() if hasattr(coef, "toarray") else coef
        weight: Reals = np.atleast_2d(np.asarray(dense, dtype=np.float64))
        bias: Reals = np.broadcast_to(np.asarray(intercept, dtype=np.float64).reshape(-1), (len(weight),)).copy()
    except (TypeError, ValueError):
        raise _refusal(name, "its coef_ and intercept_ are no matrix and numbers") from None
    if weight.ndim != 2:
        raise _refusal(name, f"its coef_ has the shape {weight.shape}")
    if type(model).__module__.partition(".")[0] == "sklearn":
        _try(model, weight, bias)
    return weight, bias


def is_network(model: Any) -> bool:
    """Whether this is one of the networks of scikit-learn."""
    return type(model).__name__ in ("MLPClassifier", "MLPRegressor") and type(model).__module__.partition(".")[0] == "sklearn"


def network_of(model: Any) -> tuple[list[tuple[Reals, Reals]], Optional[str]]:
    """The weights (outputs, inputs) and biases of each layer of a fitted network, and the name of the function between each two, if there is one."""
    name, coefs, intercepts = type(model).__name__, _attribute(model, "coefs_"), _attribute(model, "intercepts_")
    if coefs is None or intercepts is None:
        raise _refusal(name, "it is not fitted: call fit first")
    if model.activation not in _ACTIVATIONS:
        raise _refusal(name, f"activation={model.activation!r} follows no polynomial: fit it with activation='tanh' or 'logistic'")
    layers = [(np.asarray(weight, dtype=np.float64).T, np.asarray(bias, dtype=np.float64)) for weight, bias in zip(coefs, intercepts)]
    return layers, _ACTIVATIONS[model.activation]


def _attribute(model: Any, name: str) -> Any:
    """None where it is missing: some raise other errors than ``AttributeError``."""
    try:
        return getattr(model, name, None)
    except Exception:
        return None


def _try(model: Any, weight: Reals, bias: Reals) -> None:
    """Fails where the model computes something else of its weights."""
    name, rows = type(model).__name__, np.random.default_rng(1).normal(size=(_TRIES, weight.shape[1]))
    score = getattr(model, "decision_function", None) or model.predict
    try:
        with warnings.catch_warnings():
            # Models that were fitted on named columns say so.
            warnings.simplefilter("ignore")
            own: Reals = np.asarray(score(rows), dtype=np.float64).reshape(_TRIES, -1)
    except Exception as wrong:
        raise _refusal(name, f"it takes no rows of {weight.shape[1]} numbers ({wrong})") from wrong
    expected = rows @ weight.T + bias
    if own.shape != expected.shape or not np.allclose(own, expected, rtol=1e-6, atol=1e-6 * max(1.0, float(np.abs(expected).max()))):
        raise _refusal(name, _INSTEAD.get(name, "its scores are not those of its coef_ and intercept_"))


def _refusal(name: str, why: str) -> TypeError:
    return TypeError(f"{name} cannot score encrypted rows: {why}; {_SUPPORTED}")
