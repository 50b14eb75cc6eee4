"""HElib behind the line protocol of peers/README.md, through the bindings of peers/native."""

import functools
import importlib
import math
import os
import tempfile

import protocol
from protocol import FACTORS, HOISTED, PAIRS, Later, Operation


def load():
    """The bindings. HElib opens a log where it is loaded: in a place that goes at once."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            return importlib.import_module("native_helib")
        finally:
            os.chdir(here)


helib = load()
FEATURES = os.environ.get("SUNZI_PEER_FEATURES", "")
# Rotations are not hoisted: they cost the least where there are as many baby steps as giant steps.
BABY = 8
# Bits after the point of an encoded slot, where no scale is asked for.
PRECISION = 20
# Slots of BGV cost HElib two tables of n polynomials, the second half as large as the first.
TABLE_BYTES = 12


def hello():
    return {"library": "HElib", "version": helib.__version__, "features": FEATURES}


class Job:
    """Keys and data of one set of parameters. HElib chooses its primes itself, below the bits it is given."""

    def __init__(self, asked):
        self.scheme, self.n = asked["scheme"], asked["n"]
        if self.scheme not in ("bgv", "ckks"):
            raise ValueError(f"HElib has no {self.scheme}")
        self.exact = self.scheme == "bgv"
        self.keys = make_keys(asked)
        self.keys.generate()
        self.left, self.right = self.slots(asked["left"]), self.slots(asked["right"])
        self.entries = asked["right"] if self.exact else protocol.complex_slots(asked["right"])
        self.precision = PRECISION
        if not self.exact:
            # As many bits as bring the scale of a fresh ciphertext next to the one asked for.
            scale = math.log2(self.encrypt(self.encode(self.left)).scale())
            self.precision += round(asked["log_scale"] - scale)
        self.plain = self.encode(self.right)
        left = self.encode(self.left)
        self.a, self.b = self.fresh(left), self.fresh(self.plain)
        # With the bound on the noise that rotations expect.
        self.turned = self.encrypt(left)
        self.tensor, self.result = self.keys.zero(), self.keys.zero()
        self.operations = Later(self.makers())
        self.about = self.make_about()

    def make_about(self):
        keys, polynomial = self.keys, 8 * self.n
        # Half of a key is drawn again from its seed whenever it is used.
        key = keys.digits() * (keys.limbs() + keys.special_limbs()) * polynomial
        return {
            "secret": "ternary, half of it zeros",
            "digits": keys.digits(),
            "log_q": keys.log_q(),
            "log_key_modulus": keys.log_key_modulus(),
            "moduli": self.moduli(),
            "ciphertext_bytes": 2 * keys.limbs() * polynomial,
            "relinearization_key_bytes": key,
            "galois_key_bytes": key,
        }

    def moduli(self):
        """How many primes of how many bits in the mean."""
        keys = self.keys
        each = keys.log_q() / keys.limbs()
        special = (keys.log_key_modulus() - keys.log_q()) / keys.special_limbs()
        return f"{keys.limbs()}×{each:.0f} + {keys.special_limbs()}×{special:.0f}"

    def said(self):
        return {"about": self.about, "not_offered": {}}

    def makers(self):
        lower, product = ("mod_switch", "multiply_relinearize_switch") if self.exact else ("rescale", "multiply_relinearize_rescale")
        return {
            "encrypt_public": lambda: self.simple(lambda out: self.keys.encrypt(self.plain, out)),
            "encode_encrypt": lambda: self.simple(lambda out: self.keys.encrypt(self.encode(self.right), out)),
            "decrypt": self.make_decrypt,
            "decrypt_decode": self.make_decrypt_decode,
            "add": lambda: self.simple(self.add),
            "multiply": lambda: self.simple(self.multiply),
            "relinearize": self.make_relinearize,
            "multiply_relinearize": lambda: self.simple(self.product),
            "rotate": self.make_rotate,
            "rotate_hoisted": self.make_rotations,
            "inner_product_128": self.make_inner_product,
            "product_tree_128": self.make_tree,
            "matrix_vector_64": self.make_matrix,
            lower: self.make_lower,
            product: lambda: self.simple(self.product_and_lower),
        }

    # What ciphertexts are made of.

    def slots(self, values):
        if self.exact:
            return self.keys.load_words(values)
        slots = helib.Slots()
        slots.complexes = protocol.complex_slots(values)
        return slots

    def both_rows(self, diagonal):
        if self.exact:
            return self.keys.load_words(2 * diagonal)
        slots = helib.Slots()
        slots.complexes = diagonal
        return slots

    def encode(self, slots):
        return self.keys.encode(slots, self.precision)

    def encrypt(self, plain):
        ciphertext = self.keys.zero()
        self.keys.encrypt(plain, ciphertext)
        return ciphertext

    def fresh(self, plain):
        """A ciphertext that products take at the whole of Q."""
        ciphertext = self.encrypt(plain)
        ciphertext.settle()
        return ciphertext

    def values(self, slots):
        return self.keys.words(slots) if self.exact else protocol.parts(slots.complexes)

    def open(self, ciphertext):
        slots = helib.Slots()
        self.keys.decrypt_decode(ciphertext, slots)
        return self.values(slots)

    @functools.cached_property
    def pool(self):
        left = self.encode(self.left)
        return [self.fresh([left, self.plain][at % 2]) for at in range(protocol.pool(self.n))]

    # Operations.

    def simple(self, call):
        return Operation(lambda: call(self.result), lambda: self.open(self.result))

    def add(self, out):
        out.assign(self.a)
        out.add(self.b)

    def multiply(self, out):
        out.assign(self.a)
        out.multiply(self.b)

    def product(self, out):
        self.multiply(out)
        out.relinearize()

    def product_and_lower(self, out):
        self.product(out)
        out.switch()

    def make_decrypt(self):
        opened, slots = helib.Polynomial(), helib.Slots()

        def values():
            self.keys.decode(opened, self.a.scale(), slots)
            return self.values(slots)

        return Operation(lambda: self.keys.decrypt(self.a, opened), values)

    def make_decrypt_decode(self):
        slots = helib.Slots()
        return Operation(lambda: self.keys.decrypt_decode(self.a, slots), lambda: self.values(slots))

    def make_relinearize(self):
        tensor = self.keys.zero()
        self.multiply(tensor)

        def call(out):
            out.assign(tensor)
            out.relinearize()

        return self.simple(call)

    def make_lower(self):
        product = self.keys.zero()
        self.product(product)
        self.keys.without_special_primes(product)

        def call(out):
            out.assign(product)
            out.switch()

        return self.simple(call)

    def make_rotate(self):
        self.keys.generate_rotations([1])
        return self.simple(lambda out: self.keys.rotate(self.turned, 1, out))

    def make_rotations(self):
        """One after the other: HElib shares decompositions within its own products with matrices, and nowhere else."""
        self.keys.generate_rotations(list(HOISTED))
        rotated = [self.keys.zero() for _ in HOISTED]

        def call():
            for steps, out in zip(HOISTED, rotated):
                self.keys.rotate(self.turned, steps, out)

        return Operation(call, lambda: [value for out in rotated for value in self.open(out)])

    def make_inner_product(self):
        """All products are summed in three parts, and relinearised once."""
        pool = self.pool
        pairs = [(pool[2 * at % len(pool)], pool[(2 * at + 1) % len(pool)]) for at in range(PAIRS)]

        def call(out):
            (a, b), *rest = pairs
            out.assign(a)
            out.multiply(b)
            for a, b in rest:
                self.tensor.assign(a)
                self.tensor.multiply(b)
                out.add(self.tensor)
            out.relinearize()
            if not self.exact:
                out.switch()

        return self.simple(call)

    def make_tree(self):
        """HElib switches before it multiplies, and so the last product is followed by none."""
        factors = [self.pool[at % len(self.pool)] for at in range(FACTORS)]
        last = []

        def multiply(a, b, root):
            out = a.copy()
            out.multiply(b)
            out.relinearize()
            if root and not self.exact:
                out.switch()
            return out

        def call():
            last[:] = [protocol.tree(multiply, factors)]

        return Operation(call, lambda: self.open(last[0]))

    def make_matrix(self):
        """Baby steps and giant steps, the latter by Horner's rule. Special primes stay until a giant step needs them away."""
        keys = self.keys
        keys.generate_rotations(list(range(1, BABY + 1)))
        matrix = [
            [keys.evaluations(keys.encode(self.both_rows(diagonal), PRECISION)) for diagonal in group]
            for group in protocol.diagonals(self.entries, BABY, self.n // 2)
        ]
        babies = [keys.zero() for _ in range(BABY)]
        rotated = keys.zero()

        def inner(out, plains):
            out.assign(babies[0])
            out.multiply_plain(plains[0])
            for baby, plain in zip(babies[1:], plains[1:]):
                self.tensor.assign(baby)
                self.tensor.multiply_plain(plain)
                out.add(self.tensor)

        def call(out):
            babies[0].assign(self.turned)
            keys.all_primes(babies[0])
            for steps in range(1, BABY):
                keys.rotate(self.turned, steps, babies[steps])
            inner(out, matrix[-1])
            for plains in matrix[-2::-1]:
                keys.rotate(out, BABY, rotated)
                inner(out, plains)
                out.add(rotated)
            if not self.exact:
                out.switch()

        return self.simple(call)


def make_keys(asked):
    """Keys for as many bits of Q as were asked for: fewer, if the special primes that HElib adds bring the whole above the request's."""
    n, t = asked["n"], asked["t"]
    if t and TABLE_BYTES * n * n > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 3 // 4:
        raise ValueError(f"tables of HElib for {n} slots take {TABLE_BYTES * n * n >> 30} GiB")
    keys = helib.Keys(n, t)
    log_q, log_p = [sum(math.log2(prime) for prime in asked[moduli]) for moduli in ("q", "p")]
    columns = -(-len(asked["q"]) // max(1, len(asked["p"])))
    bits = round(log_q)
    while bits > 0:
        above = keys.build_chain(bits, columns) - log_q - log_p
        if above <= 0:
            return keys
        # Special primes grow with the others, so that half of what is too much is never too little.
        bits -= max(1, int(above / 2))
    raise ValueError(f"HElib has no chain of {log_q + log_p:.0f} bits")


if __name__ == "__main__":
    protocol.serve(hello, Job)
