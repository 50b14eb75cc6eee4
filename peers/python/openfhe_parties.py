"""Steps of several parties in BGV by OpenFHE's own bindings, for the scheme `parties` of peers/README.md.

OpenFHE's first party leads: its keys hold the uniform halves that all others take over. The second party's steps are timed.
"""

import functools
import math

import openfhe
from protocol import Later, Operation

BINARY = openfhe.BINARY
TAG = "joint"
STEPS = [1]
# Bits of special primes, and of those that make room for flooding noise.
WIDE_BITS = 60
# Number of primes that the mode with flooding puts behind the first.
FLOODING_PRIMES = 2
# log2 of the deviation of the noise in the mode without flooding.
FIXED_BITS = 20
# Bits that a digit of keys must leave below the special primes, or OpenFHE takes one more of these.
DIGIT_ROOM = 4
# Bits above log2 of lcm(2n, t), to which primes of BGV are 1: with fewer there is hardly a prime.
PRIME_ROOM = 3
SWITCH = "no share of a switch to a public key: a switch takes a re-encryption key, made from a whole secret"
REFRESH = "interactive bootstrapping is of CKKS alone"
QUORUM = "pieces rebuild the whole secret of a party that is gone, and nobody acts for all by its own"
WHOLE = "MultipartyDecryptFusion always decodes: compared as open_decode"


class Parties:
    """BGV under a joint secret, whose shares are added up by anybody (a star)."""

    def __init__(self, asked):
        self.n, self.t, self.parties = asked["n"], asked["t"], asked["parties"]
        if self.parties < 2:
            raise ValueError("at least two parties are needed")
        openfhe.ReleaseAllContexts()
        self.digits = -(-len(asked["q"]) // max(1, len(asked["p"])))
        self.sizes = flooded(asked, self.digits) or fixed(asked)
        self.context = make_context(asked, self.sizes, self.digits)
        self.left, self.right = (self.encode(asked[side]) for side in ("left", "right"))
        lead = self.context.KeyGen()
        # The common reference of public keys is the uniform half of the first one.
        self.reference = lead.publicKey
        others = [self.own_key() for _ in range(self.parties - 1)]
        self.secrets = [pair.secretKey for pair in (lead, *others)]
        self.public = self.joint_key([pair.publicKey for pair in (lead, *others)])
        self.a, self.b = (self.context.Encrypt(self.public, plain) for plain in (self.left, self.right))
        self.lowered = self.context.Compress(self.a, self.sizes["open"])
        self.operations = Later(self.makers())
        self.not_offered = {
            "open": WHOLE,
            **dict.fromkeys(["share_switch", "add_switch"], SWITCH),
            **dict.fromkeys(["share_refresh", "refresh"], REFRESH),
            **dict.fromkeys(["add_threshold", "quorum_secret"], QUORUM),
        }
        self.about = self.make_about(len(asked["q"]))
        self.differs = self.make_differs(asked)

    def said(self):
        return {"about": self.about, "not_offered": self.not_offered, "differs": self.differs}

    def makers(self):
        return {
            "share_public_key": lambda: Operation(self.own_key, self.opened_public),
            "add_public_key": self.make_add_public,
            "share_relinearization": self.make_share_relinearization,
            "add_relinearization": self.make_add_relinearization,
            "share_galois": lambda: Operation(lambda: self.galois(self.secrets[1]), self.opened_galois),
            "add_galois": self.make_add_galois,
            "share_decryption": lambda: Operation(lambda: self.decryption(1, self.lowered), self.opened_decryption),
            "open_decode": self.make_open,
            "deal_threshold": lambda: Operation(lambda: self.deal(1), self.opened_threshold),
        }

    # What the rows say.

    def make_about(self, limbs):
        """Sizes of the parameters, and of what is sent; a share of a key has both halves."""
        public, key = self.size(self.reference), self.size(self.first_relinearization)
        special = key // (16 * self.n * self.digits) - limbs
        log_q = self.sizes["log_q"]
        return {
            "secret": f"sum of {self.parties} uniform ternary",
            "digits": self.digits,
            "log_q": log_q,
            "log_key_modulus": log_q + WIDE_BITS * special,
            "moduli": f"{self.sizes['moduli']} + {special}×{WIDE_BITS}",
            "flooding_bits": self.sizes["noise"],
            "open_bits": self.sizes["open_bits"],
            "ciphertext_bytes": self.size(self.a),
            "bytes": {
                "share of the public key": public,
                "public key": public,
                "shares of the relinearisation key": 2 * key,
                "relinearisation key": key,
                "share of a Galois key": key,
                "Galois key": key,
                "share of a decryption": self.size(self.decryption(1, self.lowered)),
                "piece of a threshold": limbs * 8 * self.n,
            },
        }

    def size(self, thing):
        """Bytes as they are serialised, in whole polynomials."""
        polynomial = 8 * self.n
        return len(openfhe.Serialize(thing, BINARY)) // polynomial * polynomial

    def make_differs(self, asked):
        """Work that is not Sunzi's, by step."""
        given = "the common reference is given, and not drawn"
        noise = (
            f"{self.sizes['kind']} at {self.sizes['open_bits']:.0f} bits beside deviation "
            f"2^{asked['flooding_bits']:.1f} at {asked['open_bits']:.0f} bits"
        )
        return {
            "share_public_key": f"the secret is drawn in the same call; {given}",
            "share_relinearization": given,
            "share_galois": given,
            "share_decryption": noise,
            "open_decode": noise,
            "deal_threshold": f"{self.parties - 1} pieces modulo Q beside {self.parties} modulo QP",
        }

    # What parties make.

    def encode(self, values):
        return self.context.MakePackedPlaintext([value - self.t if 2 * value > self.t else value for value in values])

    def own_key(self):
        return self.context.MultipartyKeyGen(self.reference, False, True)

    def joint_key(self, shares):
        return added(self.context.MultiAddPubKeys, shares)

    @functools.cached_property
    def first_relinearization(self):
        """The leader's share of the first round, whose uniform halves all take."""
        return self.context.KeySwitchGen(self.secrets[0], self.secrets[0])

    def round_one(self, secret):
        return self.context.MultiKeySwitchGen(secret, secret, self.first_relinearization)

    def round_two(self, secret, total):
        return self.context.MultiMultEvalKey(secret, total, TAG)

    @functools.cached_property
    def first_galois(self):
        self.context.EvalAtIndexKeyGen(self.secrets[0], STEPS)
        keys = openfhe.CryptoContext.GetEvalAutomorphismKeyMap(self.secrets[0].GetKeyTag())
        openfhe.CryptoContext.ClearEvalAutomorphismKeys()
        return keys

    def galois(self, secret):
        return self.context.MultiEvalAtIndexKeyGen(secret, self.first_galois, STEPS, TAG)

    def decryption(self, party, ciphertext):
        """A share of a decryption: the leader's has the other half of the ciphertext in it."""
        make = self.context.MultipartyDecryptMain if party else self.context.MultipartyDecryptLead
        return make([ciphertext], self.secrets[party])[0]

    def deal(self, party):
        return self.context.ShareKeys(self.secrets[party], self.parties, self.quorum(), party + 1, "shamir")

    def quorum(self):
        return self.parties // 2 + 1

    def each(self, step, first):
        return [first, *(step(secret) for secret in self.secrets[1:])]

    # Sums.

    def make_add_public(self):
        shares = [self.reference, *(self.own_key().publicKey for _ in self.secrets[1:])]
        return Operation(lambda: self.joint_key(shares), self.opened_public)

    def both_rounds(self):
        one = self.each(self.round_one, self.first_relinearization)
        total = added(self.context.MultiAddEvalKeys, one)
        return one, [self.round_two(secret, total) for secret in self.secrets]

    def make_share_relinearization(self):
        secret = self.secrets[1]
        total = added(self.context.MultiAddEvalKeys, self.each(self.round_one, self.first_relinearization))

        def call():
            self.round_one(secret)
            self.round_two(secret, total)

        return Operation(call, self.opened_relinearization)

    def make_add_relinearization(self):
        one, two = self.both_rounds()

        def call():
            added(self.context.MultiAddEvalKeys, one)
            added(self.context.MultiAddEvalMultKeys, two)

        return Operation(call, self.opened_relinearization)

    def make_add_galois(self):
        shares = self.each(self.galois, self.first_galois)
        return Operation(lambda: added(self.context.MultiAddEvalAutomorphismKeys, shares), self.opened_galois)

    def make_open(self):
        shares = self.shares(self.lowered)
        return Operation(lambda: self.context.MultipartyDecryptFusion(shares), self.opened_decryption)

    # What whole protocols end with.

    def shares(self, ciphertext):
        return [self.decryption(party, ciphertext) for party in range(self.parties)]

    def slots(self, ciphertext):
        opened = self.context.MultipartyDecryptFusion(self.shares(ciphertext))
        return [value % self.t for value in opened.GetPackedValue()]

    def opened_public(self):
        """New secrets of all parties, their joint key, and a message under it."""
        kept = self.secrets, self.reference
        try:
            lead = self.context.KeyGen()
            self.reference = lead.publicKey
            pairs = [lead, *(self.own_key() for _ in self.secrets[1:])]
            self.secrets = [pair.secretKey for pair in pairs]
            public = self.joint_key([pair.publicKey for pair in pairs])
            return self.slots(self.context.Encrypt(public, self.left))
        finally:
            self.secrets, self.reference = kept

    def opened_relinearization(self):
        _, two = self.both_rounds()
        openfhe.ClearEvalMultKeys()
        openfhe.CryptoContext.InsertEvalMultKey([added(self.context.MultiAddEvalMultKeys, two)])
        return self.slots(self.context.EvalMult(self.a, self.b))

    def opened_galois(self):
        shares = self.each(self.galois, self.first_galois)
        openfhe.CryptoContext.ClearEvalAutomorphismKeys()
        key = added(self.context.MultiAddEvalAutomorphismKeys, shares)
        openfhe.CryptoContext.InsertEvalAutomorphismKey(key, TAG)
        return self.slots(self.context.EvalRotate(self.a, STEPS[0]))

    def opened_decryption(self):
        return self.slots(self.lowered)

    def opened_threshold(self):
        """The second party is gone: as many as the threshold rebuild its secret, and all shares are made."""
        pieces = dict(list(self.deal(1).items())[: self.quorum()])
        rebuilt = self.own_key().secretKey
        self.context.RecoverSharedKey(rebuilt, pieces, self.parties, self.quorum(), "shamir")
        kept = self.secrets
        try:
            self.secrets = [kept[0], rebuilt, *kept[2:]]
            return self.slots(self.lowered)
        finally:
            self.secrets = kept


def added(add, shares):
    return functools.reduce(lambda total, share: add(total, share, TAG), shares)


def log_sum(primes):
    return sum(math.log2(prime) for prime in primes)


def whole(bits):
    """Whole bits of primes, where one just below 2^50 has 50."""
    return int(bits + 1e-3)


def flooded(asked, digits):
    """Sizes with the two primes that the mode with flooding adds, where Q and special primes have room for them."""
    q = asked["q"]
    others, bits = len(q) - FLOODING_PRIMES, log_sum(q) - FLOODING_PRIMES * WIDE_BITS
    each = min(WIDE_BITS, whole(bits / max(1, others)))
    least = math.ceil(math.log2(math.lcm(2 * asked["n"], asked["t"])) - 1e-3) + PRIME_ROOM
    if others < 1 or each < least:
        return None
    most = min(WIDE_BITS, whole(bits) - (others - 1) * each)
    widest, special = -(-len(q) // digits), WIDE_BITS * len(asked["p"]) - DIGIT_ROOM
    for first in range(most, least - 1, -1):
        sizes = [first, *[WIDE_BITS] * FLOODING_PRIMES, *[each] * (others - 1)]
        if all(sum(sizes[at : at + widest]) <= special for at in range(0, len(sizes), widest)):
            return flooded_sizes(first, each, others)
    return None


def flooded_sizes(first, each, others):
    """Sizes of the first prime, the two of flooding noise and the others."""
    below = FLOODING_PRIMES * WIDE_BITS
    rest = f", {others - 1}×{each}" if others > 1 else ""
    return {
        "mode": openfhe.NOISE_FLOODING_MULTIPARTY,
        "kind": f"uniform noise modulo 2^{below}",
        "depth": others - 1,
        "first": first,
        "each": each,
        "log_q": first + (others - 1) * each + below,
        "moduli": f"1×{first}, {FLOODING_PRIMES}×{WIDE_BITS}{rest}",
        # The fewest primes that this noise takes.
        "open": 1 + FLOODING_PRIMES,
        "open_bits": first + below,
        "noise": below - math.log2(12) / 2,
    }


def fixed(asked):
    """Sizes without room for flooding noise: shares are made at one prime, which holds what OpenFHE adds."""
    q = asked["q"]
    each = whole(log_sum(q) / len(q))
    return {
        "mode": openfhe.FIXED_NOISE_MULTIPARTY,
        "kind": f"noise of deviation 2^{FIXED_BITS} (Q has no room for its flooding)",
        "depth": len(q) - 1,
        "first": each,
        "each": each,
        "log_q": len(q) * each,
        "moduli": f"{len(q)}×{each}",
        "open": 1,
        "open_bits": each,
        "noise": FIXED_BITS,
    }


def make_context(asked, sizes, digits):
    parameters = openfhe.CCParamsBGVRNS()
    parameters.SetPlaintextModulus(asked["t"])
    parameters.SetMultiplicativeDepth(sizes["depth"])
    parameters.SetRingDim(asked["n"])
    parameters.SetSecurityLevel(openfhe.HEStd_NotSet)
    parameters.SetSecretKeyDist(openfhe.UNIFORM_TERNARY)
    parameters.SetKeySwitchTechnique(openfhe.HYBRID)
    parameters.SetNumLargeDigits(digits)
    parameters.SetScalingTechnique(openfhe.FIXEDMANUAL)
    parameters.SetFirstModSize(sizes["first"])
    parameters.SetScalingModSize(sizes["each"])
    parameters.SetThresholdNumOfParties(asked["parties"])
    parameters.SetMultipartyMode(sizes["mode"])
    context = openfhe.GenCryptoContext(parameters)
    for feature in (openfhe.PKE, openfhe.KEYSWITCH, openfhe.LEVELEDSHE, openfhe.ADVANCEDSHE, openfhe.MULTIPARTY):
        context.Enable(feature)
    return context
