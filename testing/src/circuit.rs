//! Random circuits over plaintext slots, with dependent operands on purpose.

use rand::{Rng, RngExt};

/// Operation of a circuit; operands are indices of earlier values, possibly equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    /// Encrypts the circuit's input of this index.
    Input(usize),
    /// Adds two ciphertexts: a + b.
    Add(usize, usize),
    /// Subtracts two ciphertexts: a − b.
    Sub(usize, usize),
    /// Negates a ciphertext: −a.
    Negate(usize),
    /// Multiplies two ciphertexts: a·b.
    Multiply(usize, usize),
    /// Squares a ciphertext: a².
    Square(usize),
    /// Adds to a ciphertext a the clear input of this index.
    AddPlain(usize, usize),
    /// Subtracts from a ciphertext a the clear input of this index.
    SubPlain(usize, usize),
    /// Multiplies a ciphertext a by the clear input of this index.
    MultiplyPlain(usize, usize),
    /// Multiplies a ciphertext a by an integer constant.
    MultiplyScalar(usize, i64),
    /// Rotates the rows of slots of a ciphertext to the left.
    Rotate(usize, i64),
    /// Swaps the two rows of slots of a ciphertext.
    Swap(usize),
}

/// A random circuit: a straight-line program over vectors of n slots modulo t.
#[derive(Clone, Debug)]
pub struct Circuit {
    /// Input vectors of the circuit, n slots each, below t.
    pub inputs: Vec<Vec<u64>>,
    /// Operations of the circuit: operation i computes value i.
    pub operations: Vec<Operation>,
    /// Plaintext modulus t of the circuit.
    pub modulus: u64,
}

impl Circuit {
    /// Draws a random circuit: every value's multiplicative depth stays at most `depth`.
    pub fn random<G: Rng>(rng: &mut G, degree: usize, modulus: u64, depth: usize, steps: usize) -> Self {
        let inputs: Vec<Vec<u64>> = (0..3).map(|_| random_slots(rng, degree, modulus)).collect();
        let mut operations: Vec<Operation> = (0..inputs.len()).map(Operation::Input).collect();
        let mut depths = vec![0_usize; operations.len()];
        while operations.len() < steps + inputs.len() {
            let count = operations.len();
            let (a, b, plain) =
                (rng.random_range(0..count), rng.random_range(0..count), rng.random_range(0..inputs.len()));
            let (depth_a, depth_b) = (at(&depths, a), at(&depths, b));
            let row = degree as i64 / 2;
            let (operation, level) = match rng.random_range(0..11) {
                0 => (Operation::Add(a, b), depth_a.max(depth_b)),
                1 => (Operation::Sub(a, b), depth_a.max(depth_b)),
                2 => (Operation::Negate(a), depth_a),
                3 | 4 => (Operation::Multiply(a, b), depth_a.max(depth_b) + 1),
                5 => (Operation::Square(a), depth_a + 1),
                6 => (Operation::AddPlain(a, plain), depth_a),
                7 => (Operation::SubPlain(a, plain), depth_a),
                // A product with a full plaintext costs about as much noise as one of ciphertexts.
                8 => (Operation::MultiplyPlain(a, plain), depth_a + 1),
                9 => (Operation::Rotate(a, rng.random_range(-row..=row)), depth_a),
                _ if rng.random() => (Operation::Swap(a), depth_a),
                _ => (Operation::MultiplyScalar(a, rng.random_range(-5..=5)), depth_a),
            };
            if level <= depth {
                operations.push(operation);
                depths.push(level);
            }
        }
        Self { inputs, operations, modulus }
    }

    /// Computes every value of the circuit on clear slots, as the oracle.
    #[must_use]
    pub fn run_clear(&self) -> Vec<Vec<u64>> {
        let mut values: Vec<Vec<u64>> = Vec::with_capacity(self.operations.len());
        for operation in &self.operations {
            let value = self.step(operation, &values);
            values.push(value);
        }
        values
    }

    fn step(&self, operation: &Operation, values: &[Vec<u64>]) -> Vec<u64> {
        let t = u128::from(self.modulus);
        let join = |a: &[u64], b: &[u64], f: &dyn Fn(u128, u128) -> u128| -> Vec<u64> {
            a.iter().zip(b).map(|(&x, &y)| (f(u128::from(x), u128::from(y)) % t) as u64).collect()
        };
        let add = |x: u128, y: u128| x + y;
        let sub = |x: u128, y: u128| x + t - y;
        let mul = |x: u128, y: u128| x * y;
        let value = |i: usize| row(values, i);
        let input = |i: usize| row(&self.inputs, i);
        match *operation {
            Operation::Input(i) => input(i).to_vec(),
            Operation::Add(a, b) => join(value(a), value(b), &add),
            Operation::Sub(a, b) => join(value(a), value(b), &sub),
            Operation::Negate(a) => value(a).iter().map(|&x| (self.modulus - x) % self.modulus).collect(),
            Operation::Multiply(a, b) => join(value(a), value(b), &mul),
            Operation::Square(a) => join(value(a), value(a), &mul),
            Operation::AddPlain(a, p) => join(value(a), input(p), &add),
            Operation::SubPlain(a, p) => join(value(a), input(p), &sub),
            Operation::MultiplyPlain(a, p) => join(value(a), input(p), &mul),
            Operation::MultiplyScalar(a, c) => {
                let c = i128::from(c).rem_euclid(i128::from(self.modulus)) as u128;
                value(a).iter().map(|&x| (u128::from(x) * c % t) as u64).collect()
            }
            Operation::Rotate(a, steps) => {
                let mut rotated = value(a).to_vec();
                let half = rotated.len() / 2;
                for half_row in rotated.chunks_mut(half.max(1)) {
                    half_row.rotate_left(steps.rem_euclid(half.max(1) as i64) as usize);
                }
                rotated
            }
            Operation::Swap(a) => {
                let mut swapped = value(a).to_vec();
                let half = swapped.len() / 2;
                swapped.rotate_left(half);
                swapped
            }
        }
    }
}

/// Draws slots of the kinds that find mistakes: random, all t − 1, all t/2, zero, alternating, one nonzero.
fn random_slots<G: Rng>(rng: &mut G, degree: usize, modulus: u64) -> Vec<u64> {
    let top = modulus - 1;
    match rng.random_range(0..9) {
        0 => vec![top; degree],
        1 => vec![modulus / 2; degree],
        2 => vec![0; degree],
        3 => (0..degree).map(|i| if i % 2 == 0 { top } else { 0 }).collect(),
        4 => {
            let spike = rng.random_range(0..degree);
            (0..degree).map(|i| if i == spike { top } else { 0 }).collect()
        }
        _ => (0..degree).map(|_| rng.random_range(0..modulus)).collect(),
    }
}

/// Returns the circuit's value `index`; indices always point backwards.
pub(crate) fn row<T>(values: &[Vec<T>], index: usize) -> &[T] {
    values.get(index).map_or(&[], Vec::as_slice)
}

fn at(depths: &[usize], index: usize) -> usize {
    depths.get(index).copied().unwrap_or(0)
}
