"""Errors of parameters, numbers and bytes."""

from ._groups import FormatError, MismatchError, ParameterError, SharingError, SystemFault, ValueRangeError


class Algorithms(ParameterError):
    """Algorithms that do not fit the moduli."""


class ContextMismatch(ParameterError):
    """The context is not that of the bootstrapping set, or has another ring or other moduli than the one it goes with."""


class Degree(ParameterError):
    """A ring degree that is not supported."""


class DegreeOutOfRange(ParameterError):
    """A ring degree that is not supported."""


class DegreesDiffer(ParameterError):
    """Encoders of different ring degrees."""


class HalfOddIndex(ParameterError):
    """A ring index that is twice an odd number."""


class IndexTooLarge(ParameterError):
    """A ring index that is too large."""


class Insecure(ParameterError):
    """The modulus is too large for the ring: the secret key could be found."""


class Invalid(ParameterError):
    """A program that cannot be, or that no parameters hold."""


class Memory(ParameterError):
    """More memory than the machine has left."""


class MissingFeature(ParameterError):
    """Parameters of a kind that this build of the library leaves out."""


class KeySwitching(ParameterError):
    """Digits or special moduli that do not fit."""


class LevelsUnusable(ParameterError):
    """Numbers of moduli that make no levels."""


class NotDynamic(ParameterError):
    """Moduli that are not 1 modulo t, which dynamic switching takes: let the builder choose them."""


class ModulusOutOfRange(ParameterError):
    """A modulus that no table takes."""


class NoPlainModuli(ParameterError):
    """No plaintext modulus at all."""


class NoPrimes(ParameterError):
    """Too few primes of a size and form."""


class NotBatchable(ParameterError):
    """A plaintext modulus without slots in this ring."""


class NotCoprime(ParameterError):
    """Moduli with a common factor."""


class NotEnoughPrimes(ParameterError):
    """Too few primes of a size and form."""


class NothingFits(ParameterError):
    """No parameters do what is asked; the message says what to relax."""


class PlainExponent(ParameterError):
    """A power of a prime that cannot be a plaintext modulus."""


class PlainModuliNotCoprime(ParameterError):
    """Plaintext moduli with a common factor."""


class PlainModulusNotCoprime(ParameterError):
    """A plaintext modulus with a factor of a ciphertext modulus."""


class PlainModulusOutOfRange(ParameterError):
    """A plaintext modulus that is too small or too large."""


class PlainPrime(ParameterError):
    """A plaintext modulus that is no power of a prime."""


class PrimeDividesIndex(ParameterError):
    """A plaintext modulus with a factor of the ring index."""


class Refused(ParameterError):
    """A program that no parameters fit."""


class Repeated(ParameterError):
    """A modulus that stands twice in the list."""


class Request(ParameterError):
    """A setting out of its range."""


class ScaleUnusable(ParameterError):
    """A level without room for its scale."""


class Set(ParameterError):
    """A bootstrapping set that is not possible."""


class Table(ParameterError):
    """A table of messages, or a number of one, that is not possible: the message says what is."""


class SlotDegree(ParameterError):
    """Slots of a degree that the ring does not have."""


class TooMany(ParameterError):
    """More moduli than a context takes."""


class TooManySlots(ParameterError):
    """More slots of a field than any ring has, or of a message than its bootstrapping was made for."""


class UnavailableIsa(ParameterError):
    """An instruction set that this machine does not have."""


class UnavailableMatrixKernel(ParameterError):
    """A way to multiply matrices that this machine does not have."""


class UnknownIsa(ParameterError):
    """An instruction set that does not exist."""


class UnknownSet(ParameterError):
    """A bootstrapping set of this name does not exist."""


class UnsupportedIndex(ParameterError):
    """A ring index that is not supported."""


class UnsupportedLength(ParameterError):
    """A transform of a length that is not supported."""


class SharedModuli(ParameterError):
    """Moduli of BGV in which several primes share a word, which BFV has not: ``shared_moduli=False`` makes others."""


class Unusable(ParameterError):
    """A modulus that the ring cannot use."""


class Digits(ValueRangeError):
    """A constant of too many digits."""


class Interval(ValueRangeError):
    """An interval that is empty or unbounded."""


class NoField(ValueRangeError):
    """Slots that are no field."""


class NoRootOfUnity(ValueRangeError):
    """A modulus without the roots of unity that are needed."""


class NotANumber(ValueRangeError):
    """An element that is no number."""


class NotAnAutomorphism(ValueRangeError):
    """An exponent that is no automorphism of the ring."""


class NotAUnit(ValueRangeError):
    """A number without an inverse."""


class NotFinite(ValueRangeError):
    """A number that is infinite or none."""


class NotInvertible(ValueRangeError):
    """A number without an inverse."""


class NotPrime(ValueRangeError):
    """A number that is no prime."""


class NotReached(ValueRangeError):
    """No polynomial of an allowed degree is as close as asked."""


class NotReal(ValueRangeError):
    """A number with an imaginary part for a real slot."""


class NotReduced(ValueRangeError):
    """A residue that is not below its modulus."""


class Operand(ValueRangeError):
    """A clear number that an operation on encrypted integers does not take: the message says which it takes."""


class OutOfRange(ValueRangeError):
    """A number out of its range."""


class OutsideBounds(ValueRangeError):
    """Numbers outside of the bounds that are declared for them, or bounds that exclude each other."""


class OutsideInterval(ValueRangeError):
    """Numbers that may lie outside of the interval that a function is approximated on."""


class Overflow(ValueRangeError, OverflowError):
    """A result that may be beyond its type, of integers encrypted with ``overflow="refuse"``: declare tighter bounds, or take a wider type."""


class RangeExceeded(ValueRangeError, OverflowError):
    """Integers that may be beyond the range of the plaintext modulus, where they would wrap around."""


class Scale(ValueRangeError):
    """A scale that no plaintext has."""


class TooLarge(ValueRangeError):
    """A number too large for its scale."""


class TooManyTerms(ValueRangeError):
    """More terms than a sum can take at once."""


class UnknownFunction(ValueRangeError):
    """A name that no function has."""


class ValueOutOfRange(ValueRangeError):
    """An integer beyond the range of the plaintext modulus."""


class Cell(ValueRangeError):
    """A cell of a table that does not fit its column."""


class Column(ValueRangeError):
    """A column of a table that cannot be used as it is."""


class Changed(FormatError):
    """A table that changed while it was read."""


class Form(FormatError):
    """Bytes that are no table."""


class Checksum(FormatError):
    """Bytes that changed since they were written."""


class Flags(FormatError):
    """Bytes of a later version."""


class Io(FormatError):
    """Bytes that did not come or go."""


class Key(FormatError):
    """An object of another secret key."""


class Kind(FormatError):
    """An object of another kind."""


class Length(FormatError):
    """An object of another length than its header says."""


class Magic(FormatError):
    """Bytes that are not of Sunzi."""


class MixedKeys(FormatError):
    """Ciphertexts of several keys in one object."""


class NotRegular(FormatError):
    """A path that names no regular file."""


class PackedLength(FormatError):
    """Residues in more or fewer bytes than they take."""


class Parse(FormatError):
    """A text that is no program, or no plan."""


class Padding(FormatError):
    """Bits that must be 0 and are not."""


class Parameters(FormatError):
    """An object of other parameters."""


class Schema(FormatError):
    """A table that cannot be."""


class Residue(FormatError):
    """A residue that is not below its modulus."""


class Trailing(FormatError):
    """Bytes after the object."""


class Truncated(FormatError):
    """Bytes that end before the object does."""


class Value(FormatError):
    """A number that no object, or no operation, has."""


class Version(FormatError):
    """Bytes of a later version."""


class WordLength(FormatError):
    """Words of a length that is not supported."""


class InternalError(SystemFault):
    """A fault of the library: please report it."""


class MissingTable(SystemFault):
    """A table that the library lacks: please report it."""


class Randomness(SystemFault):
    """The operating system has no randomness to give."""


class ReentrantCall(SystemFault):
    """A progress callback that computes."""


class Ledger(SharingError):
    """The file that counts shared decryptions cannot be used."""


class NoiseDeclaredTooLow(SharingError):
    """A ciphertext that says it has more noise than was declared."""


class ReencryptionRoom(SharingError):
    """A modulus without room for one more re-encryption."""


class SameKey(ValueRangeError):
    """A re-encryption key that leads to where it starts."""


class SameSecret(ValueRangeError):
    """A rekeying key that leads from a secret key to itself."""


class Sharing(SharingError):
    """A setting of shared decryptions that is not possible."""


class SharingRoom(SharingError):
    """A modulus without room for what hides the noise."""


class SharingSpent(SharingError):
    """As many decryptions were shared as the policy allows."""


class DerivationCost(FormatError):
    """A file under a passphrase that asks for a derivation of its key that is not taken."""


class DerivationMemory(SystemFault):
    """Too little memory to derive a key from a passphrase."""


class NotSecret(FormatError):
    """A file without a secret, which is put under no passphrase."""


class PassphraseLength(ValueRangeError):
    """A passphrase that is empty or too long."""


class PassphraseMissing(MismatchError):
    """A secret key under a passphrase that was not given."""


class PassphraseWrong(MismatchError):
    """A passphrase that does not open the file, or a file that was changed."""


class DataKeyWrong(MismatchError):
    """A data key of a service that does not open the file, or a file that was changed."""


class DataKeyLength(ValueRangeError):
    """A data key that does not have 32 bytes."""


class WrappedLength(ValueRangeError):
    """A wrapped data key that is empty or too long."""


class PropertiesChanged(MismatchError):
    """A label or an expiry of a key that somebody set who does not have the key."""
