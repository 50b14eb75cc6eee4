"""A dot product and a chain of products as users of OpenFHE write them, in CKKS, by its own Python bindings."""

import openfhe

parameters = openfhe.CCParamsCKKSRNS()
parameters.SetMultiplicativeDepth(2)
parameters.SetScalingModSize(50)
parameters.SetBatchSize(8)
context = openfhe.GenCryptoContext(parameters)
context.Enable(openfhe.PKESchemeFeature.PKE)
context.Enable(openfhe.PKESchemeFeature.KEYSWITCH)
context.Enable(openfhe.PKESchemeFeature.LEVELEDSHE)
context.Enable(openfhe.PKESchemeFeature.ADVANCEDSHE)

keys = context.KeyGen()
context.EvalMultKeyGen(keys.secretKey)
context.EvalSumKeyGen(keys.secretKey)


def encrypt(numbers):
    return context.Encrypt(keys.publicKey, context.MakeCKKSPackedPlaintext(numbers))


def decrypt(sealed, length):
    plain = context.Decrypt(sealed, keys.secretKey)
    plain.SetLength(length)
    return plain.GetRealPackedValue()


x = encrypt([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
y = encrypt([8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0])

product = context.EvalMult(x, y)
dot = context.EvalSum(product, 8)
chain = context.EvalMult(product, x)

print("dot:", decrypt(dot, 1)[0])
print("chain:", *decrypt(chain, 8))
