"""Bytes of what OpenFHE writes: a JSON object on standard output for parameters on standard input."""

import json
import math
import sys

import openfhe as library


def sizes(asked):
    """Binary; OpenFHE chooses its primes: as many of as many bits, special ones of 60."""
    q, p = asked["q"], asked["p"]
    parameters = library.CCParamsBGVRNS()
    parameters.SetMultiplicativeDepth(len(q) - 1)
    parameters.SetRingDim(asked["n"])
    parameters.SetSecurityLevel(library.HEStd_NotSet)
    parameters.SetSecretKeyDist(library.UNIFORM_TERNARY)
    parameters.SetKeySwitchTechnique(library.HYBRID)
    parameters.SetNumLargeDigits(-(-len(q) // len(p)))
    parameters.SetScalingModSize(int(math.log2(q[-1])))
    parameters.SetFirstModSize(int(math.log2(q[0])))
    parameters.SetScalingTechnique(library.FIXEDMANUAL)
    parameters.SetPlaintextModulus(asked["t"])
    context = library.GenCryptoContext(parameters)
    for feature in (library.PKE, library.KEYSWITCH, library.LEVELEDSHE):
        context.Enable(feature)
    pair = context.KeyGen()
    context.EvalMultKeyGen(pair.secretKey)
    context.EvalRotateKeyGen(pair.secretKey, [1])
    plain = context.MakePackedPlaintext([1, 2, 3])

    def size(thing):
        return len(library.Serialize(thing, library.BINARY))

    return {
        "secret key": size(pair.secretKey),
        "public key": size(pair.publicKey),
        "relinearisation key": len(library.SerializeEvalMultKeyString(library.BINARY, "")),
        "Galois key": len(library.SerializeEvalAutomorphismKeyString(library.BINARY, "")),
        "ciphertext": size(context.Encrypt(pair.publicKey, plain)),
        "ciphertext of the secret key": size(context.Encrypt(pair.secretKey, plain)),
    }


if __name__ == "__main__":
    print(json.dumps(sizes(json.load(sys.stdin))))
