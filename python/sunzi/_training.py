"""Training on encrypted tables: Nesterov's gradient descent over all rows at once, with bootstrapping between the steps.

A row stands in 2·w slots: its numbers, divided by a scale so that none is beyond 1, and zeros. The state of a descent has the same 2·w slots,
the point v that the next gradient is taken at and the weights w behind it, so that row times state is the score of v without any mask. A sum
over a row ends in its first slot, is masked and spread over the row; a sum over all rows goes around and needs no mask. A step then takes
three levels and those of the function of the score.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _native, _wire
from ._array import EncryptedArray
from ._context import Context
from ._keys import Keys, Progress, PublicKeys, keygen
from ._known import Known
from ._layout import power_of_two
from ._stored import Owner, check_key, owner_of
from .errors import LevelTooLow, MessageTooLarge, MissingKey, OutsideInterval, ShapeError

Reals = npt.NDArray[np.float64]

#: What numbers of a table are divided by: those of standardized columns seldom lie beyond.
SCALE = 16.0
_ESTIMATE = "the errors of training are an estimate over all its steps: fit_clear shows what the same steps come to in the clear"


@dataclasses.dataclass(frozen=True)
class EncryptedTable:
    """Rows that a model is trained on, as ``encrypt`` of an estimator makes them. Holds no secret; ``to_bytes`` makes bytes to give away."""

    #: Arrays of shape (rows, 2·width).
    blocks: tuple[EncryptedArray, ...]
    rows: int
    features: int

    @property
    def width(self) -> int:
        """Numbers of a row, rounded up to a power of two."""
        return self.blocks[0].shape[1] // 2

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(block.nbytes for block in self.blocks)

    def with_keys(self, keys: PublicKeys) -> EncryptedTable:
        """The same, computing with these keys."""
        return dataclasses.replace(self, blocks=tuple(block.with_keys(keys) for block in self.blocks))

    def to_bytes(self) -> bytes:
        """The table in bytes that anybody may read by ``from_bytes``: no key is in them, and no pickle."""
        fields = _wire.Fields()
        fields.words([self.rows, self.features])
        return _wire.packed(_wire.TABLE, fields.to_bytes(), [block.to_bytes() for block in self.blocks], like=0)

    @classmethod
    def from_bytes(cls, data: _wire.Bytes, owner: Owner) -> EncryptedTable:
        """From the bytes of ``to_bytes``, which may come from anybody and must belong to these keys or to this context, as those of an array."""
        fields, objects, key = _wire.unpacked(_wire.TABLE, data)
        counts = fields.words("rows and features", 2, 1, 2**40)
        fields.finish()
        check_key(key, owner_of(owner)[1])
        blocks = tuple(EncryptedArray.from_bytes(one, owner) for one in objects)
        shapes = {block.shape for block in blocks}
        shape = shapes.pop() if len(shapes) == 1 else ()
        if len(shape) != 2 or shape[1] % 2 or len(counts) != 2 or counts[0] > shape[0] * len(blocks) or counts[1] + 2 > shape[1] // 2:
            raise _wire.value("rows and features", "those of blocks of one shape", counts)
        return cls(blocks, *counts)


def training_keys(context: Context, rows: int, features: int, *, progress: Optional[Progress] = None) -> Keys:
    """Keys to train on a table of this shape: one for each rotation, and bootstrapping for as many slots as a row has."""
    length, block = _shape(context, rows, features + 2)
    steps = [sign * step for step in _doubling(1, length) for sign in (1, -1)] + list(_doubling(length, length * block))
    # The transforms of the shipped sets take 16 slots at least.
    slots = max(length, 16) if context._set else None
    return keygen(context, rotations=steps, bootstrap_slots=slots, progress=progress)


def _shape(context: Context, rows: int, numbers: int) -> tuple[int, int]:
    """Slots of a row, and rows of a block."""
    length = 2 * power_of_two(numbers)
    if rows < 1 or length > context._row:
        raise ShapeError(f"{rows} rows of {numbers - 2} features: give rows, and at most {context._row // 2 - 2} features")
    return length, min(power_of_two(rows), context._row // length)


def _doubling(start: int, end: int) -> Iterator[int]:
    while start < end:
        yield start
        start *= 2


def _bounded(array: EncryptedArray, bound: float) -> EncryptedArray:
    """The same array, of which it is known that no number lies beyond this bound."""
    chunks = [c if (c.magnitude or 0) <= bound else c.with_magnitude(bound) for c in array.ciphertexts]
    return array._like(chunks, fill=array._fill, known=array._known.within(-bound, bound))


def _error(array: EncryptedArray) -> float:
    """The estimated error of its numbers."""
    return float(2.0 ** -(array.precision or 0.0))


def _declared(array: EncryptedArray, error: float) -> EncryptedArray:
    """The array with the error that is estimated of all steps."""
    known = array._known.doubted(_ESTIMATE)
    return array._like([chunk.with_error(error) for chunk in array.ciphertexts], fill=array._fill, known=known)


def _lowest(array: EncryptedArray) -> EncryptedArray:
    """The array at the lowest level that has room for all that its numbers may be: small to keep and to send."""
    for level in range(array.level or 0):
        try:
            return array.level_to(level)
        except MessageTooLarge:
            continue
    return array


def _curved(scores: EncryptedArray, function: _native.Series) -> EncryptedArray:
    """The function of scores that fill their slots. That they lie in its interval, noise and all, is what ``decrypt`` looks at: ``apply`` would go by estimates
    of their noise that grow with each step."""
    keys = scores._need_keys().evaluation
    known = Known().doubted(_ESTIMATE)
    return scores._like([chunk.series(function, keys) for chunk in scores.ciphertexts], fill=scores._fill, known=known)


def _over_rows(array: EncryptedArray, bound: float) -> EncryptedArray:
    """The sum over all rows, in each of them, where no partial sum lies beyond the bound."""
    length = array.shape[1]
    for step in _doubling(length, array.size):
        array = _bounded(array + array.rotate(step), bound)
    return array._like(array.ciphertexts, shape=(length,), period=length, fill=0)


class Descent:
    """What the estimators here share. ``fit`` holds no secret; ``encrypt`` and ``decrypt`` are of the owner of the data."""

    #: Weights of the intercept and of all features, after ``decrypt``: in the units of the rows that ``encrypt`` was given.
    coef_: Reals
    intercept_: float
    #: The encrypted state after ``fit``.
    state_: EncryptedArray
    #: The encrypted scores of all steps over ``width``, after ``fit`` of a model with a function: what ``decrypt`` checks.
    scores_: tuple[EncryptedArray, ...] = ()
    #: The largest score over ``width``, after ``fit_clear``, or after ``decrypt`` where it could look; else None.
    largest_score_: Optional[float] = None

    def __init__(self, iterations: int, rate: float, width: float, penalty: float) -> None:
        if iterations < 1 or not rate > 0 or not width >= 1 or not penalty >= 0:
            raise ValueError("iterations from 1 on, a positive rate, a width from 1 on and no negative penalty")
        self.iterations, self.rate, self.width, self._penalty = iterations, rate, width, penalty

    # What differs.

    def _rows(self, features: Reals, target: npt.NDArray[Any]) -> Reals:
        """Numbers of a row: of the intercept, of all features, and of the target where it is one of them."""
        raise NotImplementedError

    #: The function of a score over ``width`` that a row is multiplied by in the gradient; None for minus the score itself.
    _function: Optional[_native.Series] = None

    def _start(self, features: int) -> Reals:
        """The weights before the first step, of a row."""
        return np.zeros(features + 2)

    # The owner.

    def encrypt(self, keys: Union[Keys, PublicKeys], rows: npt.ArrayLike, target: npt.ArrayLike) -> EncryptedTable:
        """Standardizes the columns of a table (rows, features) and encrypts it with its target."""
        table, wanted = np.asarray(rows, dtype=np.float64), np.asarray(target)
        if table.ndim != 2 or wanted.shape != (len(table),) or not len(table):
            raise ShapeError(f"rows of shape {table.shape} and a target of shape {wanted.shape}: give (rows, features) and (rows,)")
        self.mean_: Reals = table.mean(axis=0)
        deviation = table.std(axis=0)
        self.deviation_: Reals = np.where(deviation > 0, deviation, 1.0)
        numbers = self._rows((table - self.mean_) / self.deviation_, wanted) / SCALE
        if np.abs(numbers).max() > 1:
            raise ValueError(f"a number lies {np.abs(numbers).max() * SCALE:.0f} deviations away, {SCALE:.0f} at most can: clip the column")
        length, block = _shape(keys.context, *(len(table), table.shape[1] + 2))
        padded = np.zeros((-(-len(table) // block) * block, length))
        padded[: len(table), : numbers.shape[1]] = numbers
        blocks = tuple(keys.encrypt(part, bounds=(-1.0, 1.0)) for part in padded.reshape(-1, block, length))
        return EncryptedTable(blocks, *table.shape)

    def decrypt(
        self, keys: Keys, state: Optional[EncryptedArray] = None, scores: Optional[Iterable[EncryptedArray]] = None
    ) -> Any:
        """Opens the weights that were trained, here or elsewhere: ``coef_`` and ``intercept_``.

        Whoever trains promises that scores lie within ``width``. The promise is checked with the scores that ``fit`` leaves (``scores_``): weights that rest on a
        score beyond it are ``errors.OutsideInterval``. Where a state comes without its scores nothing is checked, and ``largest_score_`` is None.
        """
        if state is None:
            state, scores = self.state_, self.scores_
        self.largest_score_ = max((float(np.abs(keys.decrypt(one)).max()) for one in scores or ()), default=None)
        if self.largest_score_ is not None and not self.largest_score_ <= 1:
            raise OutsideInterval(
                f"a score of {self.largest_score_ * self.width:.3g} where {self.width:g} is the largest that the function of the model takes: the "
                "weights are worth nothing. Train with a larger width, or clip the rows"
            )
        features = len(self.mean_)
        opened = keys.decrypt(state)[state.size // 2 :][: features + 1]
        return self._opened(opened * self.width / SCALE)

    def _opened(self, weights: Reals) -> Any:
        self.coef_ = weights[1:] / self.deviation_ * self._unit()
        self.intercept_ = float(weights[0]) * self._unit() + self._offset() - float(self.mean_ @ self.coef_)
        return self

    def _unit(self) -> float:
        return 1.0

    def _offset(self) -> float:
        return 0.0

    def decision_function(self, rows: npt.ArrayLike) -> Reals:
        """Scores of rows in the clear. Under encryption: ``Network.from_sklearn(model)``."""
        scores: Reals = np.asarray(rows, dtype=np.float64) @ self.coef_ + self.intercept_
        return scores

    # Whoever computes.

    @property
    def depth(self) -> int:
        """Levels of a step: what a context must have, or leave after bootstrapping."""
        return 3 + (self._function.depth if self._function is not None else 0)

    def fit(self, table: EncryptedTable, *, progress: Optional[Progress] = None) -> Any:
        """Trains, and leaves the encrypted weights in ``state_``; ``progress`` is told after each step."""
        keys = table.blocks[0].keys
        if keys is None:
            raise MissingKey("the table has no keys to compute with, as after it was read for a context alone: give it some by with_keys(keys.public)")
        self._seen: list[EncryptedArray] = []
        start = np.zeros(2 * table.width)
        start[: table.features + 2] = start[table.width :][: table.features + 2] = self._start(table.features) * SCALE / self.width
        state = keys.encrypt(start)
        # What a refresh adds, and what all of them have added. The estimate of single operations knows nothing of steps against a convex
        # gradient, which bring neighbours together: it would grow with each step beyond all bounds.
        added = error = _error(state)
        doubled = [_bounded(block + block.rotate(-table.width), 1.0) for block in table.blocks]
        # Some sets bootstrap from levels that no step may take.
        kept = keys.bootstrapper.lowest_level if keys.bootstrapping is not None else 0
        for k in range(self.iterations):
            if (state.level or 0) < self.depth + kept:
                if keys.bootstrapping is None:
                    raise LevelTooLow(
                        f"step {k + 1} of {self.iterations} takes {self.depth} levels, {state.level} are left: take a context from "
                        f"Context.for_bootstrapping, or one for {self.iterations * self.depth} levels"
                    )
                state = _bounded(state, 1.0).bootstrap()
                added, error = max(_error(state) - error, 0.0), _error(state)
            error += added
            state = _declared(self._step(table, doubled, state, k), error)
            if progress is not None:
                progress("steps", k + 1, self.iterations)
        self.state_, self.scores_ = state, tuple(self._seen)
        return self

    def _step(self, table: EncryptedTable, doubled: list[EncryptedArray], state: EncryptedArray, k: int) -> EncryptedArray:
        """v' = w' + η·(w' − w) with w' = v + gradient, for the state (v, w)."""
        eta = k / (k + 3)
        factors = self._factors(table.rows, table.features, table.width)
        # What the sums of a gradient come to, rows and all: whatever is declared of single rows adds up to far more.
        most, parts = max(1.0, 2.5 * float(np.abs(factors).max())), []
        for block, twice in zip(table.blocks, doubled):
            pulls = self._pulls(block, state)
            weighted = twice * np.tile(np.concatenate([(1 + eta) * factors, factors]), (len(block), 1))
            parts.append(_bounded(pulls * weighted, most))
        total = parts[0]
        for part in parts[1:]:
            total = _bounded(total + part, most)
        gradient = _over_rows(total, most)
        keep = np.ones(table.width)
        keep[1 : table.features + 1] = 1 - self.rate * self._penalty / table.rows
        zeros = np.zeros(table.width)
        own = state * np.concatenate([(1 + eta) * keep, zeros])
        other = state.rotate(table.width) * np.concatenate([np.full(table.width, -eta), keep])
        return _bounded(own + other + gradient, 1.0)

    def _factors(self, rows: int, features: int, width: int) -> Reals:
        """What the numbers of a row are multiplied by in the gradient of the state: none moves the weight of the target."""
        unit = SCALE * SCALE / rows * self.rate
        factors = np.zeros(width)
        factors[: features + 1] = unit / self.width if self._function is not None else -unit
        return factors

    def _pulls(self, block: EncryptedArray, state: EncryptedArray) -> EncryptedArray:
        """The function of each row's score, in all slots of the row."""
        rows, length = block.shape
        products = _bounded(block * state, 1.0)
        for step in _doubling(1, length):
            products = products + products.rotate(step)
        mask = np.zeros((rows, length))
        mask[:, 0] = 1
        scores = products * mask
        for step in _doubling(1, length):
            scores = scores + scores.rotate(-step)
        if self._function is not None:
            self._seen.append(_lowest(scores))
        scores = _bounded(scores, 1.0)
        return scores if self._function is None else _bounded(_curved(scores, self._function), 1.25)

    def fit_clear(self, rows: npt.ArrayLike, target: npt.ArrayLike) -> Any:
        """The very same steps in the clear: what ``fit`` and ``decrypt`` come to but for the noise."""
        table = np.asarray(rows, dtype=np.float64)
        self.mean_, deviation = table.mean(axis=0), table.std(axis=0)
        self.deviation_ = np.where(deviation > 0, deviation, 1.0)
        numbers = self._rows((table - self.mean_) / self.deviation_, np.asarray(target)) / SCALE
        features, count = table.shape[1], numbers.shape[1]
        v = self._start(features)[:count] * SCALE / self.width
        w, factors = v, self._factors(len(table), features, count)
        keep = np.ones(count)
        keep[1 : features + 1] = 1 - self.rate * self._penalty / len(table)
        function: Callable[[Reals], Reals] = lambda scores: scores  # noqa: E731
        if self._function is not None:
            function = np.vectorize(self._function, otypes=[np.float64])
        # Beyond 1 the function is not what it should be.
        self.largest_score_ = 0.0
        for k in range(self.iterations):
            scores = numbers @ v
            self.largest_score_ = max(self.largest_score_, float(np.abs(scores).max()))
            new = v * keep + factors * (numbers.T @ function(scores))
            v, w = new + k / (k + 3) * (new - w), new
        return self._opened(w[: features + 1] * self.width / SCALE)


class LogisticRegression(Descent):
    """A logistic regression with penalty |w|²/(2·C), as scikit-learn has it, trained on an encrypted table.

    The logistic function is its Chebyshev series of ``degree`` on scores of at most ``width``, which whoever trains promises; beyond it, training fails: rows
    far from all others take a larger width, or clipping. ``fit_clear`` on rows of the same kind tells (``largest_score_``), and ``decrypt`` checks.
    """

    classes_: npt.NDArray[Any]

    def __init__(
        self, *, C: float = 1.0, iterations: int = 32, rate: float = 2.0, width: float = 64.0, degree: int = 63  # noqa: N803
    ) -> None:
        if not C > 0:
            raise ValueError(f"C = {C}: it must be positive")
        super().__init__(iterations, rate, width, 1 / C)
        self.C, self.degree = C, degree
        self._function = _native.Series.approximate(lambda x: 1 / (1 + math.exp(width * x)), -1.0, 1.0, degree=degree)

    def _rows(self, features: Reals, target: npt.NDArray[Any]) -> Reals:
        self.classes_ = np.unique(target)
        if len(self.classes_) != 2:
            raise ValueError(f"{len(self.classes_)} classes: give two")
        signs = np.where(target == self.classes_[1], 1.0, -1.0)
        return np.column_stack([np.ones(len(features)), features]) * signs[:, None]

    def predict(self, rows: npt.ArrayLike) -> npt.NDArray[Any]:
        """The class of each row in the clear."""
        return np.asarray(self.classes_[(self.decision_function(rows) > 0).astype(np.int64)])

    def score(self, rows: npt.ArrayLike, target: npt.ArrayLike) -> float:
        """The share of rows in the clear that are put into their class."""
        return float(np.mean(self.predict(rows) == np.asarray(target)))


class Ridge(Descent):
    """Least squares with penalty alpha·|w|², as scikit-learn has it, trained on an encrypted table: its weights stay encrypted.

    ``LinearRegression`` takes one level and no bootstrapping, where the owner of the key may solve for the weights.
    """

    def __init__(self, *, alpha: float = 1.0, iterations: int = 32, rate: float = 0.25, width: float = 64.0) -> None:
        super().__init__(iterations, rate, width, alpha)
        self.alpha = alpha

    def _rows(self, features: Reals, target: npt.NDArray[Any]) -> Reals:
        wanted = target.astype(np.float64)
        self._target = float(wanted.mean()), float(wanted.std()) or 1.0
        return np.column_stack([np.ones(len(features)), features, (wanted - self._target[0]) / self._target[1]])

    def _start(self, features: int) -> Reals:
        start = np.zeros(features + 2)
        start[-1] = -1
        return start

    def _unit(self) -> float:
        return self._target[1]

    def _offset(self) -> float:
        return self._target[0]

    def predict(self, rows: npt.ArrayLike) -> Reals:
        """The prediction for each row in the clear."""
        return self.decision_function(rows)

    def score(self, rows: npt.ArrayLike, target: npt.ArrayLike) -> float:
        """The coefficient of determination R² on rows in the clear."""
        wanted = np.asarray(target, dtype=np.float64)
        return float(1 - np.sum((wanted - self.predict(rows)) ** 2) / np.sum((wanted - wanted.mean()) ** 2))
