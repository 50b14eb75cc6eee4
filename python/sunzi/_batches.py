"""Encrypted matrices times encrypted matrices, many at once, without rotations."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native
from .errors import ContextMismatch, ShapeError

Values = npt.NDArray[np.float64]


class MatrixKeys:
    """What multiplies encrypted matrices of sides up to ``size`` by each other: made by ``Keys.matrix_keys``. Nothing in it decrypts."""

    __slots__ = ("_encryption", "_native", "capacity", "id", "size")

    #: The longest side of a matrix.
    size: int
    #: The number of matrices that are multiplied at once, at the cost of one.
    capacity: int
    #: The name of the secret key that these belong to.
    id: str

    def __init__(self, native: _native.MatrixKeys, encryption: _native.PublicKey, size: int, capacity: int) -> None:
        self._native, self._encryption, self.size, self.capacity, self.id = native, encryption, size, capacity, encryption.id

    def encrypt(self, values: npt.ArrayLike, *, columns: bool = False) -> EncryptedMatrices:
        """Encrypts a matrix, or an array of matrices of shape (count, rows, columns) with ``count`` up to ``capacity``.

        A ciphertext holds a row of all matrices, or a column with ``columns=True``: the left factor of a product is brought to columns where it is not, which
        costs as much as the rest.
        """
        array = np.asarray(values)
        if array.dtype.kind not in "biuf" or array.ndim not in (2, 3):
            raise ShapeError(f"matrices of {array.dtype} of shape {array.shape}: give real numbers of shape (rows, columns) or (count, rows, columns)")
        rows, width = array.shape[-2:]
        flat = np.ascontiguousarray(array, dtype=np.float64).ravel()
        return EncryptedMatrices(_native.MatrixBatch.encrypt(self._encryption, self.size, (rows, width), flat, columns), self, array.ndim)

    @property
    def nbytes(self) -> int:
        """Bytes of the keys in memory."""
        return self._native.nbytes

    def __repr__(self) -> str:
        return f"<keys for {self.capacity} matrices of sides up to {self.size}>"


class EncryptedMatrices:
    """One encrypted matrix or several of one shape: ``a @ b`` multiplies matrix by matrix, ``a.T`` transposes at no cost. A product takes a level."""

    __slots__ = ("_batch", "keys", "ndim")
    __array_ufunc__ = None

    _batch: _native.MatrixBatch
    keys: MatrixKeys
    ndim: int

    def __init__(self, native: _native.MatrixBatch, keys: MatrixKeys, ndim: int) -> None:
        self._batch, self.keys, self.ndim = native, keys, ndim

    @property
    def shape(self) -> tuple[int, ...]:
        """(rows, columns), or (count, rows, columns)."""
        return self._batch.shape[3 - self.ndim :]

    @property
    def T(self) -> EncryptedMatrices:  # noqa: N802
        """The transposed matrices: their rows become columns, without work."""
        return EncryptedMatrices(self._batch.transposed(), self.keys, self.ndim)

    @property
    def level(self) -> int:
        """The number of products that are left."""
        return self._batch.level

    @property
    def precision(self) -> float:
        """Bits behind the binary point that are right: two thirds of the entries have a smaller error."""
        return float(-np.log2(self._batch.deviation))

    @property
    def nbytes(self) -> int:
        """Bytes of the ciphertexts in memory."""
        return self._batch.nbytes

    def __matmul__(self, other: Any) -> EncryptedMatrices:
        if not isinstance(other, EncryptedMatrices):
            return NotImplemented
        if self.keys.id != other.keys.id:
            raise ContextMismatch("matrices of two secret keys: encrypt both under one")
        ours, theirs = self.shape, other.shape
        if ours[-1] != theirs[-2] or ours[:-2] != theirs[:-2]:
            raise ShapeError(f"{ours} @ {theirs}: the last length of the left must be the rows of the right, and both must have as many matrices")
        return EncryptedMatrices(self._batch.multiply(other._batch, self.keys._native), self.keys, self.ndim)

    def __repr__(self) -> str:
        return f"<encrypted matrices of shape {self.shape}, {self.level} products left>"


def matrix_keys(context: _native.Context, secret: _native.SecretKey, encryption: _native.PublicKey, size: int, few: bool) -> MatrixKeys:
    """The keys for matrices of sides up to a size."""
    return MatrixKeys(_native.MatrixKeys.generate(secret, size, few), encryption, size, _native.MatrixBatch.capacity(context, size))


def opened(matrices: EncryptedMatrices, secret: _native.SecretKey) -> Values:
    """The numbers of matrices."""
    return matrices._batch.decrypt(secret).reshape(matrices.shape)
