"""Linear models and small networks on encrypted data.

Data of many rows is encrypted column by column: ``encrypt_columns`` makes one array for each feature, with the rows in its slots. A layer is
then a linear combination of arrays and takes no rotation, however many rows there are. Weights stay in the clear, those of whoever
computes; they come from scikit-learn, from PyTorch, or from anywhere else as numpy arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional, Protocol, Union

import numpy as np
import numpy.typing as npt

from . import _native
from ._array import EncryptedArray
from ._encoding import Bounds, checked_bounds
from ._keys import Keys, PublicKeys
from ._known import Known, of_numbers
from ._sklearn import is_network, linear_of, network_of
from ._training import EncryptedTable, LogisticRegression, Ridge, training_keys
from .errors import ShapeError, WrongScheme

Reals = npt.NDArray[np.float64]
Columns = Sequence[EncryptedArray]
#: What is added to either end of an interval of a network, as a share of its width.
_ROOM = 0.01


def encrypt_columns(
    keys: Union[Keys, PublicKeys], rows: npt.ArrayLike, *, bounds: Optional[Bounds] = None
) -> list[EncryptedArray]:
    """One encrypted array for each feature of a table of shape (rows, features). ``bounds`` declares between what all numbers lie, which is checked."""
    table = np.asarray(rows, dtype=np.float64)
    if table.ndim != 2:
        raise ShapeError(f"a table of shape {table.shape}: give rows and features")
    return [keys.encrypt(column, bounds=bounds) for column in table.T]


def decrypt_columns(keys: Keys, columns: Columns) -> Reals:
    """The table of shape (rows, columns) again."""
    return np.stack([keys.decrypt(column) for column in columns], axis=1)


def combine(columns: Columns, weights: Reals, bias: float = 0.0) -> EncryptedArray:
    """Σ w_i·x_i + b, in one level."""
    used = [(float(weight), column) for weight, column in zip(weights, columns) if weight != 0.0]
    if len(columns) != len(weights) or not used:
        raise ShapeError(f"{len(columns)} columns and {len(weights)} weights: give as many, and one that is not 0")
    first = used[0][1]
    if any(column.shape != first.shape for _, column in used):
        raise ShapeError("columns of different lengths")
    if not first.context.is_real:
        raise WrongScheme("linear models take real numbers: encrypt them in a context with dtype=float")
    chunks = [
        _native.Ciphertext.linear_combination([(weight, column.ciphertexts[i]) for weight, column in used], bias)
        for i in range(len(first.ciphertexts))
    ]
    fill: complex | None = bias
    for weight, column in used:
        own = column._fill_at(first._period)
        fill = None if own is None or fill is None else fill + weight * own
    known = of_numbers(np.asarray(bias))
    for weight, column in used:
        known = known.plus(column._now().times(Known(weight, weight)))
    return first._like(chunks, fill=fill, known=known)


class Layer(Protocol):
    """From columns to columns."""

    #: Levels it takes.
    depth: int

    def clear(self, rows: Reals) -> Reals:
        """The same on rows in the clear."""

    def encrypted(self, columns: Columns) -> list[EncryptedArray]:
        """On encrypted columns."""


class Dense:
    """A matrix of shape (outputs, inputs) and a bias."""

    depth = 1

    def __init__(self, weight: npt.ArrayLike, bias: npt.ArrayLike | None = None) -> None:
        self.weight: Reals = np.asarray(weight, dtype=np.float64)
        if self.weight.ndim != 2:
            raise ShapeError(f"weights of shape {self.weight.shape}: give outputs and inputs")
        self.bias: Reals = np.zeros(len(self.weight)) if bias is None else np.asarray(bias, dtype=np.float64)
        if self.bias.shape != (len(self.weight),):
            raise ShapeError(f"a bias of shape {self.bias.shape} for {len(self.weight)} outputs")

    def clear(self, rows: Reals) -> Reals:
        """Rows times the matrix."""
        return rows @ self.weight.T + self.bias

    def encrypted(self, columns: Columns) -> list[EncryptedArray]:
        """One linear combination for each output."""
        return [combine(columns, weights, bias) for weights, bias in zip(self.weight, self.bias)]


class Conv2d(Dense):
    """A convolution as PyTorch has it, without padding: weights of shape (outputs, channels, height, width)."""

    def __init__(
        self, weight: npt.ArrayLike, bias: npt.ArrayLike | None, image: tuple[int, int], *, stride: int = 1
    ) -> None:
        kernel: Reals = np.asarray(weight, dtype=np.float64)
        if kernel.ndim != 4:
            raise ShapeError(f"weights of shape {kernel.shape}: give outputs, channels, height and width")
        outputs, channels, height, width = kernel.shape
        tops = range(0, image[0] - height + 1, stride)
        lefts = range(0, image[1] - width + 1, stride)
        #: Height and width of what comes out.
        self.image = len(tops), len(lefts)
        rows = np.zeros((outputs, *self.image, channels, *image))
        for i, top in enumerate(tops):
            for j, left in enumerate(lefts):
                rows[:, i, j, :, top : top + height, left : left + width] = kernel
        flat = None if bias is None else np.repeat(np.asarray(bias, dtype=np.float64), len(tops) * len(lefts))
        super().__init__(rows.reshape(-1, channels * image[0] * image[1]), flat)


class Square:
    """x², the cheapest of activations."""

    depth = 1

    def clear(self, rows: Reals) -> Reals:
        """Of each number."""
        return rows * rows

    def encrypted(self, columns: Columns) -> list[EncryptedArray]:
        """One product for each column."""
        return [column * column for column in columns]


class Activation:
    """A function by its Chebyshev series on an interval that all inputs must lie in, by the bounds of the columns; with ``declared``, by a promise of
    whoever makes the layer (``EncryptedArray.declared``), which nothing checks.
    """

    def __init__(
        self, function: Union[str, Callable[[float], float]], interval: tuple[float, float], degree: int, *, declared: bool = False
    ) -> None:
        self.interval, self.declared = interval, declared
        self.series = _native.Series.approximate(function, *interval, degree=degree)
        self.depth = self.series.depth

    def clear(self, rows: Reals) -> Reals:
        """The series, not the function."""
        values: Reals = np.vectorize(self.series, otypes=[np.float64])(rows)
        return values

    def encrypted(self, columns: Columns) -> list[EncryptedArray]:
        """One evaluation for each column."""
        promised = [column.declared(*self.interval) for column in columns] if self.declared else columns
        return [column.apply(self.series, self.interval) for column in promised]


class Network:
    """Layers, one after the other."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self.layers = list(layers)

    @property
    def depth(self) -> int:
        """Levels that a score takes: what ``Context.for_depth`` wants to know."""
        return sum(layer.depth for layer in self.layers)

    def clear(self, rows: npt.ArrayLike) -> Reals:
        """Scores of rows in the clear, of shape (rows, outputs)."""
        values: Reals = np.asarray(rows, dtype=np.float64)
        for layer in self.layers:
            values = layer.clear(values)
        return values

    def encrypted(
        self, columns: Columns, *, progress: Callable[[str, int, int], object] | None = None
    ) -> list[EncryptedArray]:
        """Scores of encrypted columns, one array for each output; ``progress`` is told after each layer."""
        values = list(columns)
        for i, layer in enumerate(self.layers):
            values = layer.encrypted(values)
            if progress is not None:
                progress("layers", i + 1, len(self.layers))
        return values

    @classmethod
    def from_torch(cls, state: Mapping[str, Any], image: tuple[int, int] | None = None) -> Network:
        """From a state dict of convolutions and linear layers, in their order, with a square between each two."""
        layers: list[Layer] = []
        for name in state:
            if not name.endswith("weight"):
                continue
            weight = np.asarray(state[name], dtype=np.float64)
            bias = state.get(name[: -len("weight")] + "bias")
            if layers:
                layers.append(Square())
            if weight.ndim == 4:
                if image is None:
                    raise ShapeError("the network has convolutions: give the height and width of an image")
                layer = Conv2d(weight, bias, image)
                image = layer.image
                layers.append(layer)
            else:
                layers.append(Dense(weight, bias))
        return cls(layers)

    @classmethod
    def from_sklearn(cls, model: Any, *, bounds: Optional[Bounds] = None, degree: int = 15) -> Network:
        """From a fitted linear model of scikit-learn, or of this module: its decision function, or its prediction.

        Of scikit-learn a model is taken whose scores are ``rows @ coef_.T + intercept_``, which is tried on rows in the clear: ``LinearRegression``, ``Ridge``,
        ``Lasso``, ``LogisticRegression``, ``LinearSVC``, ``SGDClassifier`` and the like. Any other is a ``TypeError`` that says what to do.

        ``MLPClassifier`` and ``MLPRegressor`` with ``activation="tanh"`` or ``"logistic"`` take ``bounds``, between what the numbers of all columns lie
        (``encrypt_columns(..., bounds=...)``): the intervals of their series, of this degree, follow. Scores are those before the last function: a classifier of two
        classes has one, which is positive for the second class, one of more has one for each class, and the largest decides. ``clear`` tells what the series come to.
        """
        return cls(_layers(model, bounds, degree) if is_network(model) else [Dense(*linear_of(model))])


def _layers(model: Any, bounds: Optional[Bounds], degree: int) -> list[Layer]:
    """Layers of a network of scikit-learn, with series on the intervals that bounds on all inputs lead to."""
    dense, function = network_of(model)
    layers: list[Layer] = [Dense(*dense[0])]
    if function is not None and bounds is None:
        raise TypeError(f"{type(model).__name__} has functions between its layers: give bounds=(low, high), between what the numbers of all columns lie")
    low, high = (0.0, 0.0) if bounds is None else checked_bounds(*bounds)
    for (weight, bias), following in zip(dense, dense[1:]):
        if function is not None:
            up, down = np.maximum(weight, 0), np.minimum(weight, 0)
            least = float((up.sum(axis=1) * low + down.sum(axis=1) * high + bias).min())
            most = float((up.sum(axis=1) * high + down.sum(axis=1) * low + bias).max())
            # With room for what noise and the series before it add.
            room = _ROOM * max(most - least, 1.0)
            series = Activation(function, (least - room, most + room), degree)
            layers.append(series)
            # The series leaves the range of its function by no more than its error.
            error = series.series.error or 0.0
            low, high = (-1.0 if function == "tanh" else 0.0) - error, 1.0 + error
        layers.append(Dense(*following))
    return layers


class LinearRegression:
    """Least squares on encrypted columns: the server sums products, the owner of the key solves.

    ``fit`` needs no secret and leaves encrypted moments; ``open`` makes ``coef_`` and ``intercept_`` of them.
    """

    coef_: Reals
    intercept_: float

    def fit(self, columns: Columns, target: EncryptedArray) -> LinearRegression:
        """All sums and products: one level."""
        both = [*columns, target]
        self._count = target.size
        self._sums = [column.sum() for column in both]
        self._products = [(i, j, both[i] @ both[j]) for i in range(len(both)) for j in range(i + 1)]
        return self

    def open(self, keys: Keys) -> LinearRegression:
        """Decrypts the moments and solves."""
        means: Reals = np.array([float(keys.decrypt(one)) / self._count for one in self._sums], dtype=np.float64)
        moments = np.zeros((len(means), len(means)))
        for i, j, product in self._products:
            moments[i, j] = moments[j, i] = float(keys.decrypt(product)) / self._count
        moments -= np.outer(means, means)
        self.coef_ = np.asarray(np.linalg.lstsq(moments[:-1, :-1], moments[:-1, -1], rcond=None)[0], dtype=np.float64)
        self.intercept_ = float(means[-1] - means[:-1] @ self.coef_)
        return self

    def predict(self, columns: Columns) -> EncryptedArray:
        """The prediction for each row, encrypted."""
        return combine(columns, self.coef_, self.intercept_)


__all__ = [
    "Activation",
    "Columns",
    "Conv2d",
    "Dense",
    "EncryptedTable",
    "Layer",
    "LinearRegression",
    "LogisticRegression",
    "Network",
    "Reals",
    "Ridge",
    "Square",
    "combine",
    "decrypt_columns",
    "encrypt_columns",
    "training_keys",
]
