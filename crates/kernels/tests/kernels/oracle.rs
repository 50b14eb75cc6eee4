//! Slow and simple arithmetic, and hard operands.

use sunzi_kernels::Isa;

/// Returns the instruction sets of this machine.
pub(crate) fn isas() -> Vec<Isa> {
    Isa::ALL.into_iter().filter(|isa| isa.is_available()).collect()
}

/// Product a·b mod q by division.
pub(crate) fn mul(a: u64, b: u64, q: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(q)) as u64
}

/// Power a^e mod q by squaring.
pub(crate) fn pow(a: u64, mut e: u64, q: u64) -> u64 {
    let (mut base, mut result) = (a % q, 1);
    while e > 0 {
        if e & 1 == 1 {
            result = mul(result, base, q);
        }
        base = mul(base, base, q);
        e >>= 1;
    }
    result
}

/// Tests primality by Miller–Rabin with bases that decide all 64-bit numbers.
pub(crate) fn is_prime(n: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if n < 2 || BASES.iter().any(|&p| n.is_multiple_of(p)) {
        return BASES.contains(&n);
    }
    let twos = (n - 1).trailing_zeros();
    BASES.iter().all(|&base| {
        let mut x = pow(base, (n - 1) >> twos, n);
        let mut witness = x != 1 && x != n - 1;
        for _ in 1..twos {
            x = mul(x, x, n);
            witness &= x != n - 1;
        }
        !witness
    })
}

/// Returns the largest prime below `bound` that is 1 modulo `step`.
pub(crate) fn prime_below(bound: u64, step: u64) -> u64 {
    let top = bound - 1 - (bound - 2) % step;
    (0..).map(|i| top - i * step).find(|&q| is_prime(q)).unwrap()
}

/// Returns one prime just below the top of every range that a table treats alike, and some in between.
pub(crate) fn primes(n: usize) -> Vec<u64> {
    let step = 2 * n as u64;
    let limit = 1u64 << 52;
    [1 << 30, 1 << 46, limit / 18, limit / 10, 1 << 49, 1 << 50, 1 << 60, 1 << 62]
        .into_iter()
        .chain((step < 1 << 14).then_some((1 << 17) + 1))
        .map(|bound| prime_below(bound, step))
        .collect()
}

/// A reproducible stream of words.
pub(crate) struct Words(pub(crate) u64);

impl Words {
    /// Returns the next word of the stream.
    pub(crate) fn word(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns `len` words below `bound`.
    pub(crate) fn below(&mut self, bound: u64, len: usize) -> Vec<u64> {
        (0..len).map(|_| self.word() % bound).collect()
    }
}

/// Returns vectors of words up to `max`: random, all largest, alternating, in runs, a spike, and zeros.
pub(crate) fn hard_vectors(max: u64, len: usize) -> Vec<Vec<u64>> {
    let mut spike = vec![0; len];
    spike[len / 2] = max;
    vec![
        Words(max).below(max + 1, len),
        vec![max; len],
        (0..len).map(|i| if i % 2 == 0 { 0 } else { max }).collect(),
        (0..len).map(|i| if i < len / 2 { max } else { 0 }).collect(),
        (0..len).map(|i| if i.count_ones() % 2 == 0 { max } else { max - 1 }).collect(),
        spike,
        vec![0; len],
    ]
}
