"""Microsoft SEAL behind the line protocol of peers/README.md: through the raw bindings of the wheel tenseal, or those of peers/native."""

import functools
import math
import os
from importlib.metadata import version

import protocol
from protocol import FACTORS, HOISTED, PAIRS, Later, Operation

# A build of one's own says what it is.
FEATURES = os.environ.get("SUNZI_PEER_FEATURES")
if FEATURES:
    import native_seal as seal

    VERSION = seal.__version__
else:
    import tenseal.sealapi as seal

    VERSION = f"4 (tenseal {version('tenseal')})"

# The bindings name two of the three.
SCHEMES = {"bfv": 1, "ckks": 2, "bgv": 3}
# Without hoisting, rotations cost the least where there are as many baby steps as giant steps.
BABY = 8
LISTS = "the bindings take and give lists of Python numbers, which is no cost of the library"


def hello():
    return {
        "library": "SEAL with HEXL" if FEATURES else "SEAL",
        "version": VERSION,
        "features": FEATURES or "wheel: no HEXL, no vector instructions beyond SSE2",
    }


class Job:
    """Keys and data of one set of parameters."""

    def __init__(self, asked):
        self.scheme, self.n = asked["scheme"], asked["n"]
        self.exact = self.scheme != "ckks"
        q, p = asked["q"], asked["p"]
        if len(p) != 1:
            raise ValueError("SEAL has one special modulus")
        parameters = seal.EncryptionParameters(SCHEMES[self.scheme])
        parameters.set_poly_modulus_degree(self.n)
        parameters.set_coeff_modulus([seal.Modulus(prime) for prime in q + p])
        if self.exact:
            parameters.set_plain_modulus(asked["t"])
        self.context = seal.SEALContext(parameters, True, seal.SEC_LEVEL_TYPE.NONE)
        if not self.context.parameters_set():
            raise ValueError(self.context.parameters_error_message())
        self.scale = 2.0 ** asked.get("log_scale", 0)
        self.left, self.right = self.slots(asked["left"]), self.slots(asked["right"])
        self.generator = seal.KeyGenerator(self.context)
        public = seal.PublicKey()
        self.generator.create_public_key(public)
        self.relin = seal.RelinKeys()
        self.generator.create_relin_keys(self.relin)
        self.encryptor = seal.Encryptor(self.context, public)
        self.decryptor = seal.Decryptor(self.context, self.generator.secret_key())
        self.evaluator = seal.Evaluator(self.context)
        encoder = seal.BatchEncoder if self.exact else seal.CKKSEncoder
        self.encoder = encoder(self.context)
        self.rotate = self.evaluator.rotate_rows if self.exact else self.evaluator.rotate_vector
        self.lower = self.evaluator.rescale_to_next if not self.exact else self.evaluator.mod_switch_to_next
        self.plain = self.encode(self.right)
        self.a, self.b = self.encrypt(self.encode(self.left)), self.encrypt(self.plain)
        self.tensor, self.result, self.opened = seal.Ciphertext(), seal.Ciphertext(), seal.Plaintext()
        self.operations = Later(self.makers())
        self.not_offered = {"encode_encrypt": LISTS, "decrypt_decode": LISTS}
        polynomial = 8 * self.n
        self.about = {
            "secret": "uniform ternary",
            "log_q": math.log2(math.prod(q)),
            "log_key_modulus": math.log2(math.prod(q + p)),
            "digits": len(q),
            "ciphertext_bytes": 2 * len(q) * polynomial,
            "relinearization_key_bytes": 2 * len(q) * len(q + p) * polynomial,
            "galois_key_bytes": 2 * len(q) * len(q + p) * polynomial,
        }

    def said(self):
        return {"about": self.about, "not_offered": self.not_offered}

    def makers(self):
        makers = {
            "encrypt_public": self.make_encrypt,
            "decrypt": self.make_decrypt,
            "add": lambda: self.simple(lambda out: self.evaluator.add(self.a, self.b, out)),
            "multiply": lambda: self.simple(lambda out: self.evaluator.multiply(self.a, self.b, out)),
            "relinearize": self.make_relinearize,
            "multiply_relinearize": lambda: self.simple(lambda out: self.product(self.a, self.b, out)),
            "rotate": lambda: self.simple(functools.partial(self.rotate, self.a, 1, self.keys([1]))),
            "rotate_hoisted": self.make_rotations,
            "inner_product_128": self.make_inner_product,
            "product_tree_128": self.make_tree,
            "matrix_vector_64": self.make_matrix,
        }
        if self.scheme == "bgv":
            makers["mod_switch"] = self.make_lower
            makers["multiply_relinearize_switch"] = self.make_product_and_lower
        if self.scheme == "ckks":
            makers["rescale"] = self.make_lower
            makers["multiply_relinearize_rescale"] = self.make_product_and_lower
        return makers

    # What ciphertexts are made of.

    def slots(self, values):
        return values if self.exact else protocol.complex_slots(values)

    def encode(self, values):
        plain = seal.Plaintext()
        if self.exact:
            self.encoder.encode(values, plain)
        else:
            self.encoder.encode(values, self.scale, plain)
        return plain

    def encrypt(self, plain):
        ciphertext = seal.Ciphertext()
        self.encryptor.encrypt(plain, ciphertext)
        return ciphertext

    def open(self, ciphertext):
        self.decryptor.decrypt(ciphertext, self.opened)
        return self.decode()

    def decode(self):
        if self.exact:
            return self.encoder.decode_uint64(self.opened)
        return protocol.parts(self.encoder.decode_complex(self.opened))

    def keys(self, steps):
        keys = seal.GaloisKeys()
        self.generator.create_galois_keys([pow(3, step, 2 * self.n) for step in steps], keys)
        return keys

    @functools.cached_property
    def pool(self):
        left = self.encode(self.left)
        return [self.encrypt([left, self.plain][at % 2]) for at in range(protocol.pool(self.n))]

    # Operations.

    def simple(self, call):
        return Operation(lambda: call(self.result), lambda: self.open(self.result))

    def product(self, a, b, out):
        self.evaluator.multiply(a, b, out)
        self.evaluator.relinearize_inplace(out, self.relin)

    def circuit(self, steps):
        """The slots of the last value: 0 and 1 are the operands."""
        values, turns = [self.a, self.b], self.turns
        for name, left, right in steps:
            value, out = values[left], seal.Ciphertext()
            if name == "add":
                self.evaluator.add(value, values[right], out)
            elif name == "subtract":
                self.evaluator.sub(value, values[right], out)
            elif name == "negate":
                self.evaluator.negate(value, out)
            elif name == "multiply":
                self.product(value, values[right], out)
            elif name == "rotate":
                self.rotate(value, right, turns, out)
            else:
                raise ValueError(f"no step {name}")
            values.append(out)
        return self.open(values[-1])

    @functools.cached_property
    def turns(self):
        return self.keys(HOISTED)

    def make_encrypt(self):
        return self.simple(lambda out: self.encryptor.encrypt(self.plain, out))

    def make_decrypt(self):
        return Operation(lambda: self.decryptor.decrypt(self.a, self.opened), self.decode)

    def make_relinearize(self):
        tensor = seal.Ciphertext()
        self.evaluator.multiply(self.a, self.b, tensor)
        return self.simple(lambda out: self.evaluator.relinearize(tensor, self.relin, out))

    def make_lower(self):
        product = seal.Ciphertext()
        self.product(self.a, self.b, product)
        return self.simple(lambda out: self.lower(product, out))

    def make_product_and_lower(self):
        def call(out):
            self.product(self.a, self.b, self.tensor)
            self.lower(self.tensor, out)

        return self.simple(call)

    def make_rotations(self):
        """One after the other: SEAL does not share decompositions."""
        keys = self.keys(HOISTED)
        rotated = [seal.Ciphertext() for _ in HOISTED]

        def call():
            for steps, out in zip(HOISTED, rotated):
                self.rotate(self.a, steps, keys, out)

        return Operation(call, lambda: [value for out in rotated for value in self.open(out)])

    def make_inner_product(self):
        """All products are summed in three parts, and relinearised once."""
        pool = self.pool
        pairs = [(pool[2 * at % len(pool)], pool[(2 * at + 1) % len(pool)]) for at in range(PAIRS)]

        def call(out):
            first, *rest = pairs
            self.evaluator.multiply(*first, out)
            for a, b in rest:
                self.evaluator.multiply(a, b, self.tensor)
                self.evaluator.add_inplace(out, self.tensor)
            self.evaluator.relinearize_inplace(out, self.relin)
            if self.scheme == "ckks":
                self.evaluator.rescale_to_next_inplace(out)

        return self.simple(call)

    def make_tree(self):
        factors = [self.pool[at % len(self.pool)] for at in range(FACTORS)]
        last = []

        def multiply(a, b, root):
            out = seal.Ciphertext()
            self.product(a, b, out)
            if self.scheme == "bgv" and not root:
                self.evaluator.mod_switch_to_next_inplace(out)
            if self.scheme == "ckks":
                self.evaluator.rescale_to_next_inplace(out)
            return out

        def call():
            last[:] = [protocol.tree(multiply, factors)]

        return Operation(call, lambda: self.open(last[0]))

    def make_matrix(self):
        """Baby steps and giant steps, the latter by Horner's rule; everything but rotations of BFV on evaluations."""
        evaluator, bfv = self.evaluator, self.scheme == "bfv"
        keys = self.keys(range(1, BABY + 1))
        matrix = []
        for group in protocol.diagonals(self.right, BABY, self.n // 2):
            plains = [self.encode(2 * diagonal if self.exact else diagonal) for diagonal in group]
            if self.exact:
                for plain in plains:
                    evaluator.transform_to_ntt_inplace(plain, self.a.parms_id())
            matrix.append(plains)
        last = []

        def baby(steps):
            out = self.a
            if steps > 0:
                out = seal.Ciphertext()
                self.rotate(self.a, steps, keys, out)
            if bfv:
                evaluated = seal.Ciphertext()
                evaluator.transform_to_ntt(out, evaluated)
                out = evaluated
            return out

        def inner(babies, plains):
            out = seal.Ciphertext()
            evaluator.multiply_plain(babies[0], plains[0], out)
            for baby, plain in zip(babies[1:], plains[1:]):
                evaluator.multiply_plain(baby, plain, self.tensor)
                evaluator.add_inplace(out, self.tensor)
            if bfv:
                evaluator.transform_from_ntt_inplace(out)
            return out

        def call():
            babies = [baby(steps) for steps in range(BABY)]
            sum = inner(babies, matrix[-1])
            for plains in matrix[-2::-1]:
                self.rotate(sum, BABY, keys, self.result)
                sum = inner(babies, plains)
                evaluator.add_inplace(sum, self.result)
            if not self.exact:
                evaluator.rescale_to_next_inplace(sum)
            last[:] = [sum]

        return Operation(call, lambda: self.open(last[0]))


if __name__ == "__main__":
    protocol.serve(hello, Job)
