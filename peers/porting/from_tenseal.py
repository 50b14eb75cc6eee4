"""A dot product and a chain of products as users of TenSEAL write them, in CKKS."""

import tenseal as ts

# The owner.
context = ts.context(ts.SCHEME_TYPE.CKKS, poly_modulus_degree=8192, coeff_mod_bit_sizes=[60, 40, 40, 60])
context.global_scale = 2**40
context.generate_galois_keys()
x = ts.ckks_vector(context, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
y = ts.ckks_vector(context, [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0])


# The server: a context without its secret key, and two vectors.
def compute(public, first, second):
    served = ts.context_from(public)
    a, b = ts.ckks_vector_from(served, first), ts.ckks_vector_from(served, second)
    return a.dot(b).serialize(), (a * b * a).serialize()


dot, chain = compute(context.serialize(save_secret_key=False), x.serialize(), y.serialize())

# The owner again.
print("dot:", ts.ckks_vector_from(context, dot).decrypt()[0])
print("chain:", *ts.ckks_vector_from(context, chain).decrypt())
