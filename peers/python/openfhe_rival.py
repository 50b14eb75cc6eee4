"""OpenFHE behind the line protocol of peers/README.md: through its own Python bindings, or those of peers/native."""

import functools
import math
import os
import time

import protocol
from protocol import FACTORS, HOISTED, PAIRS, Later, Operation

# A build of one's own says what it is.
FEATURES = os.environ.get("SUNZI_PEER_FEATURES")
if FEATURES:
    import native_openfhe as openfhe
else:
    import openfhe

# Hoisted baby steps are cheap, giant steps are not.
BABY = 16
LISTS = "the bindings take lists of Python numbers, which is no cost of the library"
WHOLE = "Decrypt of OpenFHE always decodes"
BINARY = openfhe.BINARY
# Bits of special primes, whatever the others have.
SPECIAL_BITS = 60


def hello():
    return {
        "library": "OpenFHE with HEXL" if FEATURES else "OpenFHE",
        "version": openfhe.__version__,
        "features": FEATURES or "wheel: no HEXL, no vector instructions beyond SSE2",
    }


class Job:
    """Keys and data of one set of parameters. OpenFHE chooses its primes itself: as many as were asked for, of as many bits."""

    def __init__(self, asked):
        self.scheme, self.n, self.t = asked["scheme"], asked["n"], asked["t"]
        self.exact, self.log_scale = self.scheme != "ckks", asked.get("log_scale", 0)
        openfhe.ReleaseAllContexts()
        self.digits = -(-len(asked["q"]) // max(1, len(asked["p"])))
        self.context = make_context(asked, self.digits)
        context = self.context
        self.left, self.right = self.slots(asked["left"]), self.slots(asked["right"])
        pair = context.KeyGen()
        self.secret, self.public = pair.secretKey, pair.publicKey
        context.EvalMultKeyGen(self.secret)
        self.plain = self.encode(self.right)
        self.a, self.b = self.encrypt(self.encode(self.left)), self.encrypt(self.plain)
        self.last = []
        self.rotations = set()
        self.operations = Later(self.makers())
        self.not_offered = {"encode_encrypt": LISTS, "decrypt": WHOLE}
        self.bits = sum(math.log2(prime) for prime in asked["q"])
        self.about = self.make_about(len(asked["q"]))

    def make_about(self, limbs):
        """Bytes in memory, of what is serialised in whole polynomials."""
        polynomial = 8 * self.n
        key = len(openfhe.SerializeEvalMultKeyString(BINARY, "")) // polynomial
        log_q = math.log2(self.context.GetModulus())
        # Too large for a floating-point number: as many primes as asked for, of as many bits.
        log_q = log_q if math.isfinite(log_q) else self.bits
        special = key // (2 * self.digits) - limbs
        return {
            "secret": "uniform ternary",
            "digits": self.digits,
            "log_q": log_q,
            "log_key_modulus": log_q + SPECIAL_BITS * special,
            "moduli": f"{self.moduli(limbs, log_q)} + {special}×{SPECIAL_BITS}",
            "ciphertext_bytes": len(openfhe.Serialize(self.a, BINARY)) // polynomial * polynomial,
            "relinearization_key_bytes": key * polynomial,
            "galois_key_bytes": key * polynomial,
        }

    def moduli(self, limbs, log_q):
        """How many primes of how many bits: those of CKKS but the first have the bits of the scale."""
        if self.exact:
            return f"{limbs}×{round(log_q / limbs)}"
        above = (limbs - 1) * self.log_scale
        return f"1×{round(log_q - above)}, {limbs - 1}×{self.log_scale}"

    def said(self):
        return {"about": self.about, "not_offered": self.not_offered}

    def makers(self):
        context = self.context
        makers = {
            "encrypt_public": lambda: self.simple(lambda: self.encrypt(self.plain)),
            "decrypt_decode": self.make_decrypt,
            "add": lambda: self.simple(lambda: context.EvalAdd(self.a, self.b)),
            "multiply": lambda: self.simple(lambda: context.EvalMultNoRelin(self.a, self.b)),
            "relinearize": self.make_relinearize,
            "multiply_relinearize": lambda: self.simple(lambda: context.EvalMult(self.a, self.b)),
            "rotate": self.make_rotate,
            "rotate_hoisted": self.make_rotations,
            "inner_product_128": self.make_inner_product,
            "product_tree_128": self.make_tree,
            "matrix_vector_64": self.make_matrix,
        }
        lower, product = {
            "bfv": (None, None),
            "bgv": ("mod_switch", "multiply_relinearize_switch"),
            "ckks": ("rescale", "multiply_relinearize_rescale"),
        }[self.scheme]
        if lower is not None:
            makers[lower] = self.make_lower
            makers[product] = lambda: self.simple(lambda: self.lower(context.EvalMult(self.a, self.b)))
        return makers

    # What ciphertexts are made of.

    def slots(self, values):
        return values if self.exact else protocol.complex_slots(values)

    def encode(self, values):
        if not self.exact:
            return self.context.MakeCKKSPackedPlaintext(values)
        return self.context.MakePackedPlaintext([value - self.t if 2 * value > self.t else value for value in values])

    def encrypt(self, plain):
        return self.context.Encrypt(self.public, plain)

    def decode(self, plain):
        if self.exact:
            return [value % self.t for value in plain.GetPackedValue()]
        return protocol.parts(plain.GetCKKSPackedValue()[: self.n // 2])

    def open(self, ciphertext):
        return self.decode(self.context.Decrypt(self.secret, ciphertext))

    def rotation_keys(self, steps):
        missing = [step for step in steps if step not in self.rotations]
        if missing:
            self.context.EvalRotateKeyGen(self.secret, missing)
            self.rotations.update(missing)

    @functools.cached_property
    def pool(self):
        left = self.encode(self.left)
        return [self.encrypt([left, self.plain][at % 2]) for at in range(protocol.pool(self.n))]

    # Operations.

    def simple(self, call):
        """An operation with one ciphertext as its result."""
        def kept():
            self.last = call()

        return Operation(kept, lambda: self.open(self.last))

    def lower(self, ciphertext):
        return self.context.ModReduce(ciphertext) if self.exact else self.context.Rescale(ciphertext)

    def make_decrypt(self):
        def call():
            self.last = self.context.Decrypt(self.secret, self.a)

        return Operation(call, lambda: self.decode(self.last))

    def make_relinearize(self):
        tensor = self.context.EvalMultNoRelin(self.a, self.b)
        return self.simple(lambda: self.context.Relinearize(tensor))

    def make_lower(self):
        product = self.context.EvalMult(self.a, self.b)
        return self.simple(lambda: self.lower(product))

    def circuit(self, steps):
        """The slots of the last value: 0 and 1 are the operands."""
        context, values = self.context, [self.a, self.b]
        self.rotation_keys(HOISTED)
        for name, left, right in steps:
            value = values[left]
            if name == "add":
                out = context.EvalAdd(value, values[right])
            elif name == "subtract":
                out = context.EvalSub(value, values[right])
            elif name == "negate":
                out = context.EvalNegate(value)
            elif name == "multiply":
                out = context.EvalMult(value, values[right])
            elif name == "rotate":
                out = context.EvalRotate(value, right)
            else:
                raise ValueError(f"no step {name}")
            values.append(out)
        return self.open(values[-1])

    def make_rotate(self):
        self.rotation_keys([1])
        return self.simple(lambda: self.context.EvalRotate(self.a, 1))

    def hoisted(self, ciphertext, steps):
        digits = self.context.EvalFastRotationPrecompute(ciphertext)
        order = 2 * self.n
        return [self.context.EvalFastRotation(ciphertext, step, order, digits) for step in steps]

    def make_rotations(self):
        self.rotation_keys(HOISTED)

        def call():
            self.last = self.hoisted(self.a, HOISTED)

        return Operation(call, lambda: [value for out in self.last for value in self.open(out)])

    def make_inner_product(self):
        """All products are summed in three parts, and relinearised once."""
        pool, context = self.pool, self.context
        pairs = [(pool[2 * at % len(pool)], pool[(2 * at + 1) % len(pool)]) for at in range(PAIRS)]

        def call():
            (a, b), *rest = pairs
            total = context.EvalMultNoRelin(a, b)
            for a, b in rest:
                context.EvalAddInPlace(total, context.EvalMultNoRelin(a, b))
            total = context.Relinearize(total)
            return total if self.exact else context.Rescale(total)

        return self.simple(call)

    def make_tree(self):
        factors = [self.pool[at % len(self.pool)] for at in range(FACTORS)]

        def multiply(a, b, root):
            product = self.context.EvalMult(a, b)
            done = self.scheme == "bfv" or (self.scheme == "bgv" and root)
            return product if done else self.lower(product)

        return self.simple(lambda: protocol.tree(multiply, factors))

    def make_matrix(self):
        """Hoisted baby steps, and giant steps by Horner's rule."""
        context = self.context
        self.rotation_keys([*range(1, BABY), BABY])
        matrix = [
            [self.encode(2 * diagonal if self.exact else diagonal) for diagonal in group]
            for group in protocol.diagonals(self.right, BABY, self.n // 2)
        ]

        def inner(babies, plains):
            total = context.EvalMult(babies[0], plains[0])
            for baby, plain in zip(babies[1:], plains[1:]):
                context.EvalAddInPlace(total, context.EvalMult(baby, plain))
            return total

        def call():
            babies = [self.a, *self.hoisted(self.a, range(1, BABY))]
            total = inner(babies, matrix[-1])
            for plains in matrix[-2::-1]:
                rotated = context.EvalRotate(total, BABY)
                total = inner(babies, plains)
                context.EvalAddInPlace(total, rotated)
            return total if self.exact else context.Rescale(total)

        return self.simple(call)


def make_context(asked, digits):
    """A context with as many primes as asked for."""
    q, n = asked["q"], asked["n"]
    if asked["scheme"] == "bfv":
        # Its primes follow from the depth.
        for depth in range(1, 100):
            context = generate(openfhe.CCParamsBFVRNS(), asked, depth, digits)
            if context is not None and bfv_limbs(context, q) >= len(q):
                return context
        raise ValueError(f"no depth gives {len(q)} primes at n = {n}")
    kind = openfhe.CCParamsBGVRNS if asked["scheme"] == "bgv" else openfhe.CCParamsCKKSRNS
    return generate(kind(), asked, len(q) - 1, digits)


def bfv_limbs(context, q):
    return round(math.log2(context.GetModulus()) / bits(q[0]))


def bits(prime):
    """Whole bits of a prime, where one just below 2^50 has 50."""
    return int(math.log2(prime) + 1e-3)


def generate(parameters, asked, depth, digits):
    scheme, q = asked["scheme"], asked["q"]
    parameters.SetMultiplicativeDepth(depth)
    parameters.SetRingDim(asked["n"])
    parameters.SetSecurityLevel(openfhe.HEStd_NotSet)
    parameters.SetSecretKeyDist(openfhe.UNIFORM_TERNARY)
    parameters.SetKeySwitchTechnique(openfhe.HYBRID)
    parameters.SetNumLargeDigits(digits)
    parameters.SetScalingModSize(bits(q[-1]))
    if scheme != "bfv":
        parameters.SetFirstModSize(bits(q[0]))
        parameters.SetScalingTechnique(openfhe.FIXEDMANUAL)
    else:
        parameters.SetMultiplicationTechnique(openfhe.HPSPOVERQLEVELED)
    if scheme == "ckks":
        parameters.SetScalingModSize(asked["log_scale"])
        parameters.SetBatchSize(asked["n"] // 2)
        parameters.SetCKKSDataType(openfhe.COMPLEX)
    else:
        parameters.SetPlaintextModulus(asked["t"])
    try:
        context = openfhe.GenCryptoContext(parameters)
    except RuntimeError as error:
        # Too few primes for so many digits: the next depth has more.
        if scheme == "bfv" and "digits" in str(error):
            return None
        raise
    for feature in (openfhe.PKE, openfhe.KEYSWITCH, openfhe.LEVELEDSHE, openfhe.ADVANCEDSHE):
        context.Enable(feature)
    return context


class Bootstrapping:
    """Bootstrapping of all n/2 slots with a sparse secret that is encapsulated, in either order.

    A set is its name: which of the linear maps is first, and of how many levels each is.
    """

    SETS = {
        "encapsulated, CoeffsToSlots first, budget 3 + 3, 6 levels": ([3, 3], False),
        "encapsulated, SlotsToCoeffs first, budget 3 + 3, 6 levels": ([3, 3], True),
    }
    # One more than is left: a level scales the message before the modulus is raised.
    LEVELS = 7
    # The fewest digits, with the most special moduli, that OpenFHE's own table has 128 bits of security for.
    DIGITS = range(3, 13)
    FIRST_BITS, BITS = 60, 59
    SECRET = openfhe.SPARSE_ENCAPSULATED

    def __init__(self, asked):
        if asked.get("set") not in self.SETS:
            raise ValueError(f"no set {asked.get('set')!r}")
        self.n = asked["n"]
        budget, slots_first = self.SETS[asked["set"]]
        openfhe.ReleaseAllContexts()
        # The levels of SlotsToCoeffs are below those of all else, or behind them.
        below = budget[1] if slots_first else 0
        above = openfhe.CryptoContext.GetBootstrapDepth([budget[0], budget[1] - below], self.SECRET)
        depth = above + self.LEVELS + below
        self.context = self.make_context(depth)
        self.bottom = depth - 1 - below
        begin = time.perf_counter()
        self.context.EvalBootstrapSetup(budget, slots=self.n // 2, BTSlotsEncoding=slots_first)
        pair = self.context.KeyGen()
        self.secret, self.public = pair.secretKey, pair.publicKey
        self.context.EvalMultKeyGen(self.secret)
        self.context.EvalBootstrapKeyGen(self.secret, self.n // 2)
        seconds = time.perf_counter() - begin
        self.replace(asked)
        self.operations = Later({"bootstrap": lambda: Operation(self.bootstrap, self.opened)})
        self.facts = self.make_facts(depth, seconds)

    def make_context(self, depth):
        for self.digits in self.DIGITS:
            try:
                context = openfhe.GenCryptoContext(self.parameters(depth))
            except RuntimeError:
                continue
            for feature in (openfhe.PKE, openfhe.KEYSWITCH, openfhe.LEVELEDSHE, openfhe.ADVANCEDSHE, openfhe.FHE):
                context.Enable(feature)
            return context
        raise ValueError(f"OpenFHE has no 128 bits of security for depth {depth} at n = {self.n}")

    def parameters(self, depth):
        parameters = openfhe.CCParamsCKKSRNS()
        parameters.SetRingDim(self.n)
        parameters.SetBatchSize(self.n // 2)
        parameters.SetSecurityLevel(openfhe.HEStd_128_classic)
        parameters.SetSecretKeyDist(self.SECRET)
        parameters.SetKeySwitchTechnique(openfhe.HYBRID)
        parameters.SetNumLargeDigits(self.digits)
        parameters.SetScalingTechnique(openfhe.FLEXIBLEAUTO)
        parameters.SetFirstModSize(self.FIRST_BITS)
        parameters.SetScalingModSize(self.BITS)
        parameters.SetCKKSDataType(openfhe.COMPLEX)
        parameters.SetMultiplicativeDepth(depth)
        return parameters

    def make_facts(self, depth, seconds):
        polynomial = 8 * self.n
        key = len(openfhe.SerializeEvalMultKeyString(BINARY, "")) // polynomial
        rotations = len(openfhe.CryptoContext.GetExistingEvalAutomorphismKeyIndices(self.secret.GetKeyTag()))
        special = key // (2 * self.digits) - depth - 1
        return {
            "key_seconds": seconds,
            "key_bytes": (rotations + 1) * key * polynomial,
            "galois_keys": rotations,
            "log_key_modulus": self.FIRST_BITS + depth * self.BITS + special * SPECIAL_BITS,
            "log_left": self.FIRST_BITS + (self.LEVELS - 1) * self.BITS,
            "levels": self.LEVELS - 1,
        }

    def said(self):
        return {"facts": self.facts}

    def replace(self, asked):
        slots = protocol.complex_slots(asked["left"])
        self.exhausted = self.context.Encrypt(
            self.public, self.context.MakeCKKSPackedPlaintext(slots, 1, self.bottom)
        )

    def bootstrap(self):
        self.last = self.context.EvalBootstrap(self.exhausted)

    def opened(self):
        opened = self.context.Decrypt(self.secret, self.last)
        return protocol.parts(opened.GetCKKSPackedValue()[: self.n // 2])


def prepare(asked):
    if asked["scheme"] == "parties":
        # It asks for more than the bindings of peers/native have.
        from openfhe_parties import Parties

        return Parties(asked)
    return Bootstrapping(asked) if asked["scheme"] == "bootstrapping" else Job(asked)


if __name__ == "__main__":
    protocol.serve(hello, prepare)
