//! Products x ↦ |x·(q/q_i)^-1|_{q_i}, the digits of FastBconv and of D_RNS, in the four versions of `[TSKJ20, 5.2]`.

use zeroize::Zeroize;

use crate::Component;
use crate::general::{Divisor, mul};
use crate::words::{add_into, sub_from, sub_word};

/// Shortcuts of `[TSKJ20]` in products with (q/q_i)^-1 = 2^(h−i); results do not depend on them.
///
/// | | multiplication | reduction |
/// |---|---|---|
/// | neither | x·2^(h−i) by a general product | remainder by a general division |
/// | `multiplication` [4.1] | a shift | remainder by a general division |
/// | `reduction` [4.2] | a general product | the quotient ⌊(x − b)/2^i⌋ of Lemma 3, its product with q_i by a shift and a sum |
/// | both (default) | one rotation of the bits of x, and one subtraction modulo 2^h + 1 | |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shortcuts {
    /// Whether multiplications are shifts `[TSKJ20, 4.1 and 4.3]`.
    pub multiplication: bool,
    /// Whether reductions are shifts and sums `[TSKJ20, 4.2 and 4.3]`.
    pub reduction: bool,
}

impl Default for Shortcuts {
    fn default() -> Self {
        Self { multiplication: true, reduction: true }
    }
}

impl Shortcuts {
    /// The four versions of `[TSKJ20]`: no shortcut, multiplication only, reduction only, both.
    pub const ALL: [Self; 4] = [
        Self { multiplication: false, reduction: false },
        Self { multiplication: true, reduction: false },
        Self { multiplication: false, reduction: true },
        Self { multiplication: true, reduction: true },
    ];
}

/// Inverse cofactor (q/q_i)^-1 modulo q_i, where q/q_i = ∓2^i `[TSKJ20, Lemma 2]`.
#[derive(Clone, Debug)]
pub struct InverseCofactor {
    component: Component,
    /// Exponent i: number of factors 2 of the cofactor.
    twos: u32,
    factor: Vec<u64>,
    divisor: Divisor,
    shortcuts: Shortcuts,
}

/// Buffer for one residue in products with (q/q_i)^-1.
#[derive(Clone, Debug, Default, Zeroize)]
pub struct Workspace {
    product: Vec<u64>,
    quotient: Vec<u64>,
    scaled: Vec<u64>,
}

impl InverseCofactor {
    pub(crate) fn new(component: Component, twos: u32, shortcuts: Shortcuts) -> Self {
        let mut one = vec![0; component.len()];
        if let Some(word) = one.first_mut() {
            *word = 1;
        }
        let mut factor = one.clone();
        component.mul_power_of_two(&mut factor, &one, component.bits() - twos as usize);
        let divisor: Vec<u64> = component.value().iter_u64_digits().collect();
        Self { component, twos, factor, divisor: Divisor::new(&divisor), shortcuts }
    }

    /// Component q_i whose inverse cofactor this is.
    #[must_use]
    pub fn component(&self) -> Component {
        self.component
    }

    /// Exponent h − i of the inverse cofactor, which is 2 to this power.
    #[must_use]
    pub fn exponent(&self) -> usize {
        self.component.bits() - self.twos as usize
    }

    /// Multiplies by the inverse cofactor: out ← |x·(q/q_i)^-1|_{q_i}.
    pub fn apply(&self, out: &mut [u64], x: &[u64], workspace: &mut Workspace) {
        let Shortcuts { multiplication, reduction } = self.shortcuts;
        if self.twos == 0 {
            // q has one factor, and the inverse is 1.
            return out.iter_mut().zip(x).for_each(|(out, x)| *out = *x);
        }
        if multiplication && reduction {
            return self.component.mul_power_of_two(out, x, self.exponent());
        }
        let product = &mut workspace.product;
        product.clear();
        product.resize(2 * x.len(), 0);
        if multiplication {
            shift(product, x, self.exponent());
        } else {
            mul(product, x, &self.factor);
        }
        if reduction {
            self.subtract_quotient(product, x, &mut workspace.quotient);
        } else {
            self.divisor.remainder(product);
        }
        for (out, word) in out.iter_mut().zip(product) {
            *out = *word;
        }
    }

    /// Multiplies by the inverse cofactor and a power of two: out ← |2^bits·x·(q/q_i)^-1|_{q_i}; with both
    /// shortcuts still one rotation.
    pub(crate) fn apply_scaled(&self, out: &mut [u64], x: &[u64], bits: u32, workspace: &mut Workspace) {
        if self.shortcuts == Shortcuts::default() {
            return self.component.mul_power_of_two(out, x, self.exponent() + bits as usize);
        }
        let mut scaled = std::mem::take(&mut workspace.scaled);
        scaled.resize(x.len(), 0);
        self.component.mul_power_of_two(&mut scaled, x, bits as usize);
        self.apply(out, &scaled, workspace);
        workspace.scaled = scaled;
    }

    /// Computes product − q_i·⌊(x − b)/2^i⌋ `[TSKJ20, Lemma 3]`: b = 1 modulo 2^h + 1, unless x = 0, else 0.
    fn subtract_quotient(&self, product: &mut [u64], x: &[u64], quotient: &mut Vec<u64>) {
        quotient.clear();
        quotient.extend_from_slice(x);
        if self.component.is_fermat() && sub_word(quotient, 1) {
            quotient.fill(0);
        }
        let mut above = 0;
        for word in quotient.iter_mut().rev() {
            let both = (u128::from(above) << 64 | u128::from(*word)) >> self.twos;
            above = *word;
            *word = both as u64;
        }
        if let Some(high) = product.get_mut(self.component.bits() / 64..) {
            sub_from(high, quotient);
        }
        let (low, high) = product.split_at_mut(quotient.len());
        // Modulo 2^h + 1 the result has the words of a residue; the words above cancel.
        if self.component.is_fermat() {
            if sub_from(low, quotient) {
                sub_word(high, 1);
            }
        } else if add_into(low, quotient) {
            crate::words::add_word(high, 1);
        }
    }
}

/// Shifts an integer of several words left: out ← 2^bits·x.
fn shift(out: &mut [u64], x: &[u64], bits: usize) {
    let mut below = 0;
    let mut words = out.iter_mut().skip(bits / 64);
    // In this order the zip takes no word of `out` after the last of x.
    for (&word, out) in x.iter().zip(words.by_ref()) {
        let both = u128::from(word) << (bits % 64);
        *out = both as u64 | below;
        below = (both >> 64) as u64;
    }
    if let Some(out) = words.next() {
        *out = below;
    }
}
