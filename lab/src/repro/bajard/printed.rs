//! What `[BEHMSZ17]` prints. Its archived text lost digits: they are none here.

/// One row of Tables 1 and 2.
pub(super) struct Reductions {
    pub(super) m: u64,
    pub(super) n: u64,
    pub(super) slots: Option<u64>,
    pub(super) degree: Option<u64>,
    pub(super) alpha: u64,
    pub(super) weight: Option<u64>,
    pub(super) log2_a: Option<u64>,
    pub(super) log2_n: Option<u64>,
    /// Theoretical speed-up of Alg. 2, in Table 1.
    pub(super) sparse: Option<f64>,
    /// Theoretical speed-up of Alg. 3, in Table 2.
    pub(super) montgomery: f64,
}

const fn row(
    [m, n, alpha]: [u64; 3],
    [slots, degree, weight]: [u64; 3],
    [log2_a, log2_n]: [u64; 2],
    [sparse, montgomery]: [f64; 2],
) -> Reductions {
    const fn given(value: u64) -> Option<u64> {
        if value == 0 { None } else { Some(value) }
    }
    Reductions {
        m,
        n,
        alpha,
        slots: given(slots),
        degree: given(degree),
        weight: given(weight),
        log2_a: given(log2_a),
        log2_n: given(log2_n),
        sparse: if sparse == 0.0 { None } else { Some(sparse) },
        montgomery,
    }
}

/// Tables 1 and 2; 0 stands for what is not legible.
pub(super) const REDUCTIONS: [Reductions; 6] = [
    row([3855, 2048, 7], [128, 2056, 7], [0, 12], [0.0, 2.62]),
    row([4369, 4096, 15], [256, 4112, 17], [0, 13], [0.0, 2.62]),
    row([13107, 8192, 545], [0, 8738, 0], [11, 0], [0.0, 2.63]),
    row([21845, 16384, 1091], [1024, 17476, 5], [12, 15], [1.86, 2.63]),
    row([32767, 27000, 1085], [0, 0, 0], [12, 0], [0.0, 2.63]),
    row([65535, 32768, 2183], [2048, 34952, 7], [13, 16], [1.85, 2.63]),
];

/// One row of Table 3: theoretical depths, and those observed.
pub(super) struct Depths {
    pub(super) m: u64,
    /// Moduli of 62 bits.
    pub(super) moduli: usize,
    pub(super) factor: u64,
    pub(super) inverse: u64,
    /// δ_R/n.
    pub(super) expansion: u64,
    /// BGV, BGV with Montgomery, FV, FV with Montgomery.
    pub(super) theory: [u64; 4],
    pub(super) observed: [u64; 4],
}

/// Table 3.
pub(super) const DEPTHS: [Depths; 5] = [
    Depths {
        m: 4369,
        moduli: 2,
        factor: 1,
        inverse: 1,
        expansion: 35,
        theory: [1, 1, 1, 1],
        observed: [1, 1, 4, 3],
    },
    Depths {
        m: 13107,
        moduli: 5,
        factor: 2,
        inverse: 1,
        expansion: 205,
        theory: [4, 4, 6, 4],
        observed: [4, 4, 17, 10],
    },
    Depths {
        m: 21845,
        moduli: 11,
        factor: 2,
        inverse: 1,
        expansion: 739,
        theory: [10, 6, 13, 8],
        observed: [10, 10, 40, 22],
    },
    Depths {
        m: 32767,
        moduli: 18,
        factor: 1,
        inverse: 9,
        expansion: 2621,
        theory: [8, 7, 19, 12],
        observed: [17, 17, 66, 39],
    },
    Depths {
        m: 65535,
        moduli: 22,
        factor: 4,
        inverse: 1,
        expansion: 9886,
        theory: [7, 7, 22, 14],
        observed: [21, 21, 80, 45],
    },
];
