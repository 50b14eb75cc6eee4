"""What is written in Rust of products of matrices."""

from collections.abc import Sequence
from typing import final

import numpy as np
import numpy.typing as npt

from ._native import Ciphertext, Context, PublicKey, SecretKey

@final
class PlainMatrix:
    """A clear matrix that multiplies rows of ciphertexts, without rotations and keys. Products of reals take a level, of integers none."""

    @staticmethod
    def of_integers(context: Context, values: npt.NDArray[np.int64]) -> PlainMatrix: ...
    @staticmethod
    def of_reals(context: Context, values: npt.NDArray[np.float64], level: int) -> PlainMatrix: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def nbytes(self) -> int: ...
    def multiply(self, rows: Sequence[Ciphertext]) -> list[Ciphertext]: ...

@final
class MatrixKeys:
    """Keys of products of encrypted matrices of sides up to a size."""

    @staticmethod
    def generate(secret: SecretKey, size: int, few: bool) -> MatrixKeys: ...
    def multiply(self, columns: Sequence[Ciphertext], rows: Sequence[Ciphertext]) -> list[Ciphertext]:
        """Columns Σ_i X^i·m_ik times rows of any encoding: as many rows as the size, one level lower."""
    @property
    def nbytes(self) -> int: ...

@final
class MatrixBatch:
    """Encrypted matrices of one shape, a ciphertext for each row, or column, of all of them."""

    @staticmethod
    def capacity(context: Context, size: int) -> int: ...
    @staticmethod
    def encrypt(
        key: PublicKey, size: int, shape: tuple[int, int], values: npt.NDArray[np.float64], columns: bool
    ) -> MatrixBatch: ...
    def decrypt(self, key: SecretKey) -> npt.NDArray[np.float64]: ...
    @property
    def shape(self) -> tuple[int, int, int]: ...
    @property
    def by_columns(self) -> bool: ...
    @property
    def level(self) -> int: ...
    @property
    def deviation(self) -> float: ...
    @property
    def nbytes(self) -> int: ...
    def transposed(self) -> MatrixBatch: ...
    def multiply(self, right: MatrixBatch, keys: MatrixKeys) -> MatrixBatch: ...
