"""A dot product and a chain of products as users of SEAL write them, in BFV, by its raw bindings in the wheel tenseal."""

import tenseal.sealapi as seal

parameters = seal.EncryptionParameters(seal.SCHEME_TYPE.BFV)
parameters.set_poly_modulus_degree(8192)
parameters.set_coeff_modulus(seal.CoeffModulus.BFVDefault(8192, seal.SEC_LEVEL_TYPE.TC128))
parameters.set_plain_modulus(seal.PlainModulus.Batching(8192, 20))
context = seal.SEALContext(parameters, True, seal.SEC_LEVEL_TYPE.TC128)

generator = seal.KeyGenerator(context)
secret = generator.secret_key()
public, relin, galois = seal.PublicKey(), seal.RelinKeys(), seal.GaloisKeys()
generator.create_public_key(public)
generator.create_relin_keys(relin)
generator.create_galois_keys(galois)

encoder, evaluator = seal.BatchEncoder(context), seal.Evaluator(context)
encryptor, decryptor = seal.Encryptor(context, public), seal.Decryptor(context, secret)


def encrypt(numbers):
    plain, sealed = seal.Plaintext(), seal.Ciphertext()
    encoder.encode(numbers + [0] * (encoder.slot_count() - len(numbers)), plain)
    encryptor.encrypt(plain, sealed)
    return sealed


def decrypt(sealed):
    if decryptor.invariant_noise_budget(sealed) == 0:
        raise ValueError("the noise budget is used up")
    plain = seal.Plaintext()
    decryptor.decrypt(sealed, plain)
    return encoder.decode_uint64(plain)


x = encrypt([1, 2, 3, 4, 5, 6, 7, 8])
y = encrypt([8, 7, 6, 5, 4, 3, 2, 1])

product = seal.Ciphertext()
evaluator.multiply(x, y, product)
evaluator.relinearize_inplace(product, relin)

dot = product
for step in (4, 2, 1):
    rotated, total = seal.Ciphertext(), seal.Ciphertext()
    evaluator.rotate_rows(dot, step, galois, rotated)
    evaluator.add(dot, rotated, total)
    dot = total

chain = seal.Ciphertext()
evaluator.multiply(product, x, chain)
evaluator.relinearize_inplace(chain, relin)

print("dot:", decrypt(dot)[0])
print("chain:", *decrypt(chain)[:8])
