"""A table of bytes: files of Sunzi beside those of Lattigo, SEAL and OpenFHE, for the same degree and the same moduli.

    cargo xtask peers --quick                           # Lattigo, and a wheel of OpenFHE
    peers/native/build.sh target/peers/native $PREFIX   # seal_sizes, for a SEAL that is installed there
    python3 peers/sizes.py --sunzi target/release/sunzi --rivals target/peers --seal target/peers/native/build/seal_sizes --log-n 13,14,15

Sizes of SEAL are those without compression and, where there is the program zstd, with Zstandard at its usual level.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
# As `bench wire` has them: the largest primes below 2^52/18, of which as many as 128-bit security allows; one is special.
BOUND, T = (1 << 52) // 18, 65537
LIMITS = {12: 106, 13: 214, 14: 430, 15: 868, 16: 1746}
OBJECTS = {
    "ciphertext": "ciphertext",
    "ciphertext of the secret key": "ciphertext with a seed",
    "secret key": "secret key",
    "public key": "public key",
    "relinearisation key": "relinearisation key",
    "Galois key": "Galois key",
}


def is_prime(n):
    d, s = n - 1, 0
    while d % 2 == 0:
        d, s = d // 2, s + 1
    for a in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        x = pow(a, d, n)
        if x in (1, n - 1):
            continue
        for _ in range(s - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def primes(step, count):
    found, candidate = [], (BOUND - 1) // step * step + 1
    while len(found) < count:
        if candidate < BOUND and is_prime(candidate):
            found.append(candidate)
        candidate -= step
    return found


def asked(log_n):
    special, *others = primes(2 << log_n, math.floor(LIMITS[log_n] / math.log2(BOUND)))
    return {"n": 1 << log_n, "t": T, "q": others, "p": [special]}


def ours(sunzi, log_n):
    command = [sunzi, "bench", "wire", "--log-n", str(log_n), "--rounds", "1", "--json", "--quiet"]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    named = {}
    for row in rows:
        name, size = row["name"].split(", ")
        named[name.removeprefix("store a ")] = int(size.split()[0])
    return {name: named[own] for name, own in OBJECTS.items()}


def lattigo(rivals, parameters):
    request = {"id": 1, "do": "sizes", **parameters}
    text = json.dumps(request) + "\n" + '{"id": 2, "do": "quit"}\n'
    run = subprocess.run([os.path.join(rivals, "lattigo")], input=text, check=True, capture_output=True, text=True)
    return json.loads(run.stdout.splitlines()[0])["bytes"]


def openfhe(rivals, parameters):
    python = os.path.join(rivals, "openfhe-environment", "bin", "python")
    command = [python, os.path.join(FOLDER, "python", "openfhe_sizes.py")]
    run = subprocess.run(command, input=json.dumps(parameters), check=True, capture_output=True, text=True)
    return json.loads(run.stdout)


def seal(program, parameters):
    """Without compression, and with."""
    primes, special = (",".join(map(str, parameters[moduli])) for moduli in "qp")
    with tempfile.TemporaryDirectory() as folder:
        command = [program, str(parameters["n"]), str(parameters["t"]), primes, special, folder]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        plain = {name: sizes[0] for name, sizes in json.loads(run.stdout).items()}
        packed = {}
        for name in plain if shutil.which("zstd") else ():
            compressed = subprocess.run(["zstd", "-c", os.path.join(folder, name)], check=True, capture_output=True)
            packed[name] = len(compressed.stdout)
    return plain, packed


def information(name, parameters):
    """n·log2 Q bits for each uniform polynomial, 32 bytes for a seed; secrets have 2 bits a coefficient."""
    n, q = parameters["n"], parameters["q"]
    log_q, log_qp = (sum(map(math.log2, moduli)) for moduli in (q, q + parameters["p"]))
    encryption = log_q + math.log2(parameters["p"][0])
    bits = {
        "ciphertext": 2 * n * log_q,
        "ciphertext of the secret key": n * log_q + 256,
        "secret key": 2 * n,
        "public key": n * encryption + 256,
        "relinearisation key": len(q) * n * log_qp + 256,
        "Galois key": len(q) * n * log_qp + 256,
    }
    return bits[name] / 8


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sunzi", required=True, help="the program sunzi")
    parser.add_argument("--rivals", required=True, help="the folder in which cargo xtask peers has built them")
    parser.add_argument("--seal", required=True, help="the program seal_sizes of peers/native")
    parser.add_argument("--log-n", default="13,14,15")
    options = parser.parse_args()
    names = ["n", "object", "information", "Sunzi", "over it", "Lattigo", "SEAL", "SEAL, Zstandard", "OpenFHE"]
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}")
    for log_n in map(int, options.log_n.split(",")):
        parameters = asked(log_n)
        plain, packed = seal(options.seal, parameters)
        rivals = [lattigo(options.rivals, parameters), plain, packed, openfhe(options.rivals, parameters)]
        own = ours(options.sunzi, log_n)
        for name in OBJECTS:
            least = information(name, parameters)
            sizes = [rival.get(name) for rival in rivals]
            others = " | ".join("–" if size is None else f"{size} ({size / own[name]:.2f})" for size in sizes)
            print(f"| 2^{log_n} | {name} | {least:.0f} | {own[name]} | {own[name] / least:.4f} | {others} |")


if __name__ == "__main__":
    main()
