"""Estimates what the limits of crates/rlwe/src/security.rs are worth, with the public lattice estimator.

    PYTHONPATH=<folder of lattice-estimator> python estimate.py --group ternary|sparse|cyclotomic|module [--only NAME] > FILE

Needs SageMath, or the packages passagemath-standard and passagemath-symbolics, and a checkout of
https://github.com/malb/lattice-estimator. One JSON object a line, as soon as it is there: log2 of the operations of
each attack and of the best one, and what was estimated.

Errors are those of Sunzi, centred binomial on 21 + 21 bits (σ = 3.24). Between two powers of two Sunzi takes the limit
of the smaller one, so general cyclotomics are estimated at their own degree with that limit. A secret in two polynomials
of weight 32 together is one of dimension 2n.
"""

import argparse
import json
import math
import pathlib
import re
import sys
import time

from estimator import LWE, ND, RC

SIGMA = math.sqrt(10.5)
LIMITS = (pathlib.Path(__file__).parents[3] / "crates/rlwe/src/security.rs").read_text()


def numbers(constant):
    """The numbers of a table in the source of Sunzi, so that they stand in one place."""
    table = re.search(rf"const {constant}: [^=]*=\s*\[(.*?)\];", LIMITS, re.DOTALL).group(1)
    return [int(number) for number in re.findall(r"\d+", table)]


TERNARY = {security: numbers(f"TABLE_{security}") for security in (128, 192, 256)}
SPARSE = list(zip(*[iter(numbers("TABLE_SPARSE_128"))] * 3))
# m, φ(m): the rings of the papers and of the commands.
CYCLOTOMIC = [(3855, 2048), (4369, 4096), (13107, 8192), (21845, 16384), (32767, 27000), (65535, 32768)]


def cases(group):
    """(name, n, log2 q, Hamming weight or None, claimed bits)"""
    if group == "ternary":
        for security, limits in TERNARY.items():
            for log_n, bits in zip(range(10, 18), limits):
                if bits:
                    yield f"ternary, n = 2^{log_n}, {security} bits", 2**log_n, bits, None, security
    elif group == "sparse":
        for weight, log_n, bits in SPARSE:
            yield f"weight {weight}, n = 2^{log_n}", 2**log_n, bits, weight, 128
    elif group == "module":
        # Two polynomials of n = 2^15 with weight 32 together, modulo q_0·P' of the set n15-128: one secret of dimension 2^16.
        yield "n15-128, weight 32 in two polynomials", 2**16, 105, 32, 128
    else:
        for m, n in CYCLOTOMIC:
            for security, limits in TERNARY.items():
                bits = limits[int(math.log2(n)) - 10]
                if bits:
                    yield f"m = {m}, n = {n}, {security} bits", n, bits, None, security


def attacks(parameters, weight):
    """The attacks that can be the best: lattices alone, and guessing beside them where secrets are sparse."""
    model = {"red_cost_model": RC.MATZOV}
    yield "usvp", lambda: LWE.primal_usvp(parameters, **model)
    yield "primal_bdd", lambda: LWE.primal_bdd(parameters, **model)
    yield "dual_hybrid", lambda: LWE.dual_hybrid(parameters, **model)
    if weight:
        yield "primal_hybrid", lambda: LWE.primal_hybrid(parameters, mitm=True, babai=False, **model)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--group", choices=["ternary", "sparse", "cyclotomic", "module"], required=True)
    arguments.add_argument("--only", default="", help="cases whose name contains this")
    arguments = arguments.parse_args()
    for name, n, bits, weight, claimed in cases(arguments.group):
        if arguments.only not in name:
            continue
        # Weight w is w/2 ones and w/2 minus ones.
        secret = ND.SparseTernary(weight // 2, weight // 2, n) if weight else ND.Uniform(-1, 1)
        parameters = LWE.Parameters(n=n, q=2**bits, Xs=secret, Xe=ND.DiscreteGaussian(SIGMA))
        row = {"name": name, "n": n, "log2_q": bits, "weight": weight, "claimed": claimed, "cost_model": "MATZOV"}
        begin = time.time()
        for attack, run in attacks(parameters, weight):
            try:
                operations = run()["rop"]
                row[attack] = round(math.log2(operations), 2) if operations < math.inf else "no attack found"
            except Exception as error:  # An attack that has no solution says so; the others count.
                row[attack] = str(error)
        row["bits"] = min(value for key, value in row.items() if key in ("usvp", "primal_bdd", "dual_hybrid", "primal_hybrid") and isinstance(value, float))
        row["seconds"] = round(time.time() - begin)
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    sys.exit(main())
