"""Errors of computations."""

from ._groups import MismatchError, MissingKeyError, NoiseError, ShapeError


class BudgetExceeded(NoiseError):
    """The result might not decrypt."""


class LevelExhausted(NoiseError):
    """No level is left for this operation: ask for more depth, multiply in pairs, or bootstrap."""


class DepthExceeded(LevelExhausted):
    """No level is left in BGV: more multiplications in a row than declared."""


class LevelTooLow(NoiseError):
    """A ciphertext at a level below the one that is needed."""


class MessageBound(NoiseError):
    """A number beyond the declared bound of messages."""


class MessageNoise(NoiseError):
    """Noise that may have led a message to the next one: apply a table earlier, after fewer sums, or take messages of fewer bits."""


class MessageTooLarge(NoiseError):
    """Numbers that may not fit the modulus any more, by the bounds that are known of them."""


class NoiseTooLarge(NoiseError):
    """Errors too large for a polynomial: they may take its argument out of its interval."""


class NotProved(NoiseError):
    """An error that nothing proves: the message names the step that was measured or estimated."""


class NoiseExhausted(NoiseError):
    """The noise may exceed what decryption tolerates; the message names what spent the budget."""


class ShadowMismatch(NoiseError):
    """A result that is not that of the same operation on clear numbers."""


class TooManyRounds(NoiseError):
    """More rounds of refinement than there are levels for."""


class Undeclared(NoiseError):
    """An operation that was not declared for this level."""


class CiphertextCount(MismatchError):
    """An integer has another number of ciphertexts than there are plaintext moduli."""


class CountMismatch(MismatchError):
    """Lists of different lengths."""


class DegreeMismatch(MismatchError):
    """Objects of different ring degrees."""


class Dry(MismatchError):
    """Numbers or files of a ring that stores no residues."""


class GadgetMismatch(MismatchError):
    """A key of a context with other digits."""


class Direction(MismatchError):
    """A Fourier transform of the other direction."""


class KeyLevel(MismatchError):
    """A key for ciphertexts of a lower level."""


class KeyMismatch(MismatchError):
    """Objects of different secret keys."""


class LengthMismatch(MismatchError):
    """Lists of different lengths."""


class MapMismatch(MismatchError):
    """Keys of a linear map with the tables of another map."""


class LengthsDiffer(MismatchError):
    """Lists of different lengths."""


class LevelMismatch(MismatchError):
    """A ciphertext at a level that the context does not have."""


class LevelMissing(MismatchError):
    """A level that the context does not have."""


class Mismatch(MismatchError):
    """Inputs or outputs that do not belong to a plan."""


class ModulusMismatch(MismatchError):
    """Polynomials of different moduli."""


class NoSuchLevel(MismatchError):
    """A level that the context does not have."""


class NotNested(MismatchError):
    """A level whose moduli are not all among those of the other one."""


class OtherModulus(MismatchError):
    """Polynomials of different moduli."""


class OtherStorage(MismatchError):
    """Polynomials or keys of a ring that stores residues another way."""


class PlainModulusMismatch(MismatchError):
    """A ciphertext of another plaintext modulus."""


class PlainModuli(MismatchError):
    """BFV and BGV of different plaintext moduli."""


class PlaintextCount(MismatchError):
    """More or fewer plaintexts than plaintext moduli."""


class PlaintextMismatch(MismatchError):
    """A plaintext of another degree or modulus."""


class PlaintextSlots(MismatchError):
    """A plaintext of more slots than the encoder has."""


class PlanMismatch(MismatchError):
    """A plan for another matrix or other parameters."""


class ScaleMismatch(MismatchError):
    """Operands at different scales."""


class ShapeMismatch(MismatchError):
    """Polynomials of different rings."""


class Shares(MismatchError):
    """Shares of several parties that do not make one key or one result."""


class WrongPartCount(MismatchError):
    """A ciphertext of more or fewer parts: relinearise it first."""


class WrongScheme(MismatchError):
    """An operation of another scheme."""


class MissingAutomorphism(MissingKeyError):
    """No key for an automorphism."""


class MissingGaloisKey(MissingKeyError):
    """No key for a rotation."""


class MissingKey(MissingKeyError):
    """No key of a bootstrapping."""


class MissingRelinearizationKey(MissingKeyError):
    """No key for products."""


class MissingRotation(MissingKeyError):
    """No key for a rotation."""


class Budget(ShapeError):
    """A Fourier transform in more or fewer levels than it can have."""


class ChunkCount(ShapeError):
    """More or fewer ciphertexts than the layout has."""


class ElementDegree(ShapeError):
    """An element of a field of another degree."""


class Empty(ShapeError):
    """No operand at all."""


class EmptyTable(ShapeError):
    """A table without rows or columns."""


class InputCount(ShapeError):
    """More or fewer inputs than declared."""


class IndexOutOfRange(ShapeError):
    """An index beyond the end."""


class LayoutTooLarge(ShapeError):
    """A table that does not fit."""


class MatrixRows(ShapeError):
    """Entries that do not make a matrix of rows."""


class MatrixShape(ShapeError):
    """A matrix that does not fit the slots."""


class NoDimension(ShapeError):
    """A dimension that the slots do not have."""


class NoRows(ShapeError):
    """A ring whose slots have no two rows."""


class Parts(ShapeError):
    """More or fewer ciphertexts than a packing has."""


class Period(ShapeError):
    """Values whose number does not divide the length of a diagonal."""


class RealRing(ShapeError):
    """An operation with complex slots where slots are real."""


class SegmentLength(ShapeError):
    """Segments whose length is no power of two."""


class Shape(ShapeError):
    """Data of different lengths."""


class Size(ShapeError):
    """A matrix whose size is no power of two."""


class Slots(ShapeError):
    """More slots than there are, or no power of two."""


class TooManyElements(ShapeError):
    """More numbers than slots."""


class TooManyValues(ShapeError):
    """More numbers than slots."""


class TooWide(ShapeError):
    """An integer that does not fit its type."""
