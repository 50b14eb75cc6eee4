//! Polynomials without a constant that take values at given nodes, modulo a prime below 2^28.

/// Arithmetic modulo a prime t below 2^28.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    modulus: u64,
    /// ⌊2^64/t⌋.
    reciprocal: u64,
}

impl Field {
    pub(super) fn new(modulus: u64) -> Self {
        Self { modulus, reciprocal: u64::MAX / modulus }
    }

    /// Reduces any word modulo t.
    #[inline]
    fn reduced(self, x: u64) -> u64 {
        let quotient = ((u128::from(x) * u128::from(self.reciprocal)) >> 64) as u64;
        // The quotient is at most 2 too small.
        let mut rest = x.wrapping_sub(quotient.wrapping_mul(self.modulus));
        while rest >= self.modulus {
            rest -= self.modulus;
        }
        rest
    }

    #[inline]
    pub(super) fn product(self, a: u64, b: u64) -> u64 {
        self.reduced(a * b)
    }

    pub(super) fn power(self, base: u64, mut exponent: u64) -> u64 {
        let (mut square, mut power) = (base, 1);
        while exponent > 0 {
            if exponent & 1 == 1 {
                power = self.product(power, square);
            }
            square = self.product(square, square);
            exponent >>= 1;
        }
        power
    }

    /// Replaces numbers, none of them 0, by their inverses.
    fn invert(self, numbers: &mut [u64]) {
        let (mut all, mut before) = (1, Vec::with_capacity(numbers.len()));
        for number in numbers.iter() {
            before.push(all);
            all = self.product(all, *number);
        }
        let mut inverse = self.power(all, self.modulus - 2);
        for (number, before) in numbers.iter_mut().zip(before).rev() {
            (*number, inverse) = (self.product(inverse, before), self.product(inverse, *number));
        }
    }

    /// Returns the coefficients of ∏(x − y) over the nodes y, the constant first; the leading 1 is left out.
    fn master(self, nodes: &[u64]) -> Vec<u64> {
        let mut coefficients: Vec<u64> = Vec::with_capacity(nodes.len() + 1);
        coefficients.push(1);
        for node in nodes {
            let negative = self.modulus - node;
            coefficients.push(1);
            for at in (1..coefficients.len() - 1).rev() {
                if let Some([low, high]) = coefficients.get_mut(at - 1..=at) {
                    *high = self.reduced(*high * negative + *low);
                }
            }
            if let Some(constant) = coefficients.first_mut() {
                *constant = self.product(*constant, negative);
            }
        }
        coefficients.pop();
        coefficients
    }

    /// Returns, for every list of values at the nodes, the coefficients r_1, …, r_d of the polynomial Σ r_e·x^e that takes them. Nodes differ, and none is 0.
    ///
    /// With the quotients Q_i = ∏_(j≠i) (x − y_j), the polynomial is x·Σ_i v_i/(y_i·Q_i(y_i))·Q_i. Synthetic division makes a coefficient of all Q_i in a row.
    pub(super) fn interpolate(self, nodes: &[u64], values: &[Vec<u64>]) -> Vec<Vec<u32>> {
        let count = nodes.len();
        let master = self.master(nodes);
        let (mut quotient, mut weights) = (vec![1; count], vec![1; count]);
        let mut rows: Vec<Vec<u32>> = vec![vec![1; count]];
        for coefficient in master.iter().skip(1).rev() {
            for ((quotient, weight), node) in quotient.iter_mut().zip(&mut weights).zip(nodes) {
                *quotient = self.reduced(*quotient * node + coefficient);
                *weight = self.reduced(*weight * node + *quotient);
            }
            rows.push(quotient.iter().map(|&one| one as u32).collect());
        }
        weights.iter_mut().zip(nodes).for_each(|(weight, node)| *weight = self.product(*weight, *node));
        self.invert(&mut weights);
        let weigh = |values: &Vec<u64>| {
            let weighed: Vec<u32> = values
                .iter()
                .zip(&weights)
                .map(|(value, weight)| self.product(*value, *weight) as u32)
                .collect();
            rows.iter().rev().map(|row| self.dot(&weighed, row)).collect()
        };
        values.iter().map(weigh).collect()
    }

    /// The inner product of at most 256 numbers.
    fn dot(self, a: &[u32], b: &[u32]) -> u32 {
        self.reduced(a.iter().zip(b).map(|(a, b)| u64::from(*a) * u64::from(*b)).sum()) as u32
    }
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn words_are_reduced_at_the_ends_of_their_range() {
        for modulus in [3, 257, 65_537, 8_404_993, (1 << 28) - 57] {
            let field = Field::new(modulus);
            for x in [
                0,
                1,
                modulus - 1,
                modulus,
                modulus + 1,
                (modulus - 1) * (modulus - 1),
                u64::MAX - 1,
                u64::MAX,
            ] {
                assert_eq!(field.reduced(x), x % modulus, "{x} modulo {modulus}");
            }
        }
    }

    /// Polynomials take their values at the nodes, from one node to as many as there are, at the ends of the range too.
    #[test]
    fn polynomials_take_their_values() {
        let mut rng = chacha20::ChaCha20Rng::seed_from_u64(3);
        for (modulus, count) in
            [(257, 1), (257, 2), (257, 162), (8_404_993, 7), (8_404_993, 162), (268_435_399, 162)]
        {
            let field = Field::new(modulus);
            let mut nodes: Vec<u64> = (1..modulus.min(1000)).collect();
            nodes.truncate(count - 1);
            nodes.push(modulus - 1);
            let mut values = vec![vec![modulus - 1; count], vec![0; count]];
            values.push((0..count).map(|_| rng.next_u64() % modulus).collect());
            for (list, coefficients) in values.iter().zip(field.interpolate(&nodes, &values)) {
                assert_eq!(coefficients.len(), count);
                for (node, value) in nodes.iter().zip(list) {
                    let horner = coefficients
                        .iter()
                        .rev()
                        .fold(0, |sum, &one| (sum + u64::from(one)) * node % modulus);
                    assert_eq!(horner, *value, "at {node} modulo {modulus}, {count} nodes");
                }
            }
        }
    }
}
