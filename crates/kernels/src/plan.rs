//! The negacyclic number-theoretic transform of one length and modulus.
#![expect(unsafe_code, reason = "calls through tables chosen for an available instruction set")]

use crate::constants::Constants;
use crate::error::{KernelError, check_length};
use crate::modulus::Modulus;
use crate::negacyclic::{self, Passes};
use crate::schedule::Pass;
use crate::table::{Elsewhere, LastFactors, Negacyclic};
use crate::twiddles::{Twiddles, bit_reverse};

/// Number of bases that are tried for a root of unity; half of all bases give a root when the modulus is
/// prime.
const TRIES: u64 = 256;

/// A negacyclic transform: maps polynomials modulo x^n + 1 and q to their values at the odd powers of ψ.
///
/// Position p of an evaluated polynomial holds its value at ψ^e with e = [`evaluation_exponent`]`(n, p)`,
/// on every instruction set.
///
/// ```
/// use sunzi_kernels::{Modulus, NttPlan};
/// let plan = NttPlan::new(Modulus::new(12_289)?, 64)?;
/// let mut a = [0; 64];
/// a[1] = 5; // 5·x
/// plan.forward(&mut a)?;
/// assert_eq!(a[0], plan.modulus().mul(5, plan.psi()));
/// plan.inverse(&mut a)?;
/// assert_eq!(a[..3], [0, 5, 0]);
/// # Ok::<(), sunzi_kernels::KernelError>(())
/// ```
///
/// A plan of a [real](Self::real) ring maps its n coefficients to n values in the same way.
#[derive(Clone)]
pub struct NttPlan {
    modulus: Modulus,
    n: usize,
    psi: u64,
    /// The square root i of −1 in the transform of a real ring.
    unit_root: Option<u64>,
    forward: Twiddles,
    inverse: Twiddles,
    unit: InverseScale,
}

/// A constant that an inverse negacyclic transform multiplies by at no cost, made by [`NttPlan::scale`].
#[derive(Clone, Debug)]
pub struct InverseScale {
    modulus: u64,
    n: usize,
    last: LastFactors,
}

/// Bytes that will be read soon, which [`NttPlan::forward_inner`] prefetches while it computes. Empty by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Later<'a>(&'a [u8]);

impl<'a> From<&'a [u8]> for Later<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
}

impl<'a> From<&'a [u64]> for Later<'a> {
    fn from(words: &'a [u64]) -> Self {
        // SAFETY: words are initialised bytes, and of no stricter alignment than theirs.
        Self(unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) })
    }
}

impl NttPlan {
    /// Makes the transform of length `n`, a power of two from 2^6 to 2^17, modulo a prime `q = 1 mod 2n`, or a product of
    /// different such primes: several small moduli in one word.
    ///
    /// ψ is the numerically smallest primitive 2n-th root of unity, modulo each prime of a product, so it depends on `q`
    /// and `n` alone.
    ///
    /// # Errors
    /// [`KernelError::UnsupportedLength`], [`KernelError::NoRootOfUnity`].
    pub fn new(modulus: Modulus, n: usize) -> Result<Self, KernelError> {
        Self::of_order(modulus, n, 2 * n as u64)
    }

    /// Makes the transform of the real ring of degree `n`: of elements a_0 + Σ a_j·(X^j + X^-j), j from 1 to n − 1, modulo X^2n + 1 and q, for
    /// q as in [`new`](Self::new) and 1 mod 4n. ψ is the smallest primitive 4n-th root of unity, and position p holds the
    /// value at ψ^e with e = 2·[`evaluation_exponent`]`(n, p)` − 1, which is also that at ψ^−e.
    ///
    /// For i = ψ^n, X^2n + 1 is (X^n − i)(X^n + i), and e runs through the exponents of roots of X^n − i. Modulo this the element is Σ b_j·X^j
    /// with b_0 = a_0 and b_j = a_j − i·a_(n−j), since X^-j = −i·X^(n−j): a fold, and then half of a transform of
    /// length 2n.
    ///
    /// ```
    /// use sunzi_kernels::{Modulus, NttPlan};
    /// let plan = NttPlan::real(Modulus::new(12_289)?, 64)?;
    /// let mut a = [0; 64];
    /// a[1] = 5; // 5·(x + 1/x)
    /// plan.forward(&mut a)?;
    /// let (q, x) = (plan.modulus(), plan.psi());
    /// assert_eq!(a[0], q.mul(5, q.add(x, q.pow(x, 255))));
    /// plan.inverse(&mut a)?;
    /// assert_eq!(a[..3], [0, 5, 0]);
    /// # Ok::<(), sunzi_kernels::KernelError>(())
    /// ```
    ///
    /// # Errors
    /// Every error of [`new`](Self::new).
    pub fn real(modulus: Modulus, n: usize) -> Result<Self, KernelError> {
        Self::of_order(modulus, n, 4 * n as u64)
    }

    /// Makes the transform with roots of unity of this order: 2n, or 4n for a real ring.
    fn of_order(modulus: Modulus, n: usize, order: u64) -> Result<Self, KernelError> {
        check_transform_length(n)?;
        if modulus.value() > modulus.table.widest {
            return Err(KernelError::ModulusOutOfRange { value: modulus.value() });
        }
        let real = order > 2 * n as u64;
        let missing = KernelError::NoRootOfUnity { modulus: modulus.value(), order };
        let psi = root(modulus, order).ok_or(missing.clone())?;
        let inverse_psi = modulus.inv(psi).ok_or(missing)?;
        let factor = modulus.table.factor;
        let mut plan = Self {
            modulus,
            n,
            psi,
            unit_root: real.then(|| modulus.pow(psi, n as u64)),
            forward: Twiddles::new(&modulus.constants, n, psi, real, factor),
            inverse: Twiddles::new(&modulus.constants, n, inverse_psi, real, factor),
            unit: InverseScale { modulus: modulus.value(), n, last: [0; 4] },
        };
        plan.unit = plan.scale(1)?;
        Ok(plan)
    }

    /// Degree n of the ring.
    #[must_use]
    #[inline]
    pub fn n(&self) -> usize {
        self.n
    }

    /// Modulus of the negacyclic transform.
    #[must_use]
    #[inline]
    pub fn modulus(&self) -> Modulus {
        self.modulus
    }

    /// Primitive 2n-th root of unity ψ of the transform, or 4n-th for a real ring.
    #[must_use]
    #[inline]
    pub fn psi(&self) -> u64 {
        self.psi
    }

    /// Whether it is the transform of a real ring.
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.unit_root.is_some()
    }

    /// Exponent e such that position `position` of an evaluated polynomial is its value at ψ^e.
    #[must_use]
    #[inline]
    pub fn exponent(&self, position: usize) -> usize {
        let exponent = evaluation_exponent(self.n, position);
        if self.is_real() { 2 * exponent - 1 } else { exponent }
    }

    fn compiled(&self) -> Compiled<'_> {
        Compiled { constants: &self.modulus.constants, functions: &self.modulus.table.negacyclic }
    }

    pub(crate) fn forward_twiddles(&self) -> &Twiddles {
        &self.forward
    }

    pub(crate) fn inverse_twiddles(&self) -> &Twiddles {
        &self.inverse
    }

    /// Transforms coefficients, each below 2q, to canonical evaluations, in place.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] unless `a` has n words.
    pub fn forward(&self, a: &mut [u64]) -> Result<(), KernelError> {
        self.forward_outer(a)?;
        self.forward_inner(0, a, [Later::default(); 2])
    }

    /// Runs the first levels of [`forward`](Self::forward), which mix words of different chunks. Only
    /// [`forward_inner`](Self::forward_inner) can use the result.
    ///
    /// ```
    /// use sunzi_kernels::{Later, Modulus, NttPlan};
    /// let plan = NttPlan::new(Modulus::new(786_433)?, 1 << 13)?;
    /// let mut whole: Vec<u64> = (0..1 << 13).collect();
    /// let mut parts = whole.clone();
    /// plan.forward(&mut whole)?;
    /// plan.forward_outer(&mut parts)?;
    /// for (i, chunk) in parts.chunks_mut(plan.chunk()).enumerate() {
    ///     plan.forward_inner(i * plan.chunk(), chunk, [Later::default(); 2])?;
    /// }
    /// assert_eq!(parts, whole);
    /// # Ok::<(), sunzi_kernels::KernelError>(())
    /// ```
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] unless `a` has n words.
    pub fn forward_outer(&self, a: &mut [u64]) -> Result<(), KernelError> {
        check_length(self.n, a.len())?;
        self.fold(a)?;
        self.run_outer(a, None);
        Ok(())
    }

    /// Runs [`forward_outer`](Self::forward_outer) out of place, on the words of `input` plus an offset, each
    /// sum below 2q.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] unless both have n words.
    pub fn forward_outer_from(&self, a: &mut [u64], input: &[u64], offset: u64) -> Result<(), KernelError> {
        check_length(self.n, a.len())?;
        check_length(self.n, input.len())?;
        let input = Elsewhere { words: input, offset };
        if self.is_real() {
            input.write_to(a);
            return self.forward_outer(a);
        }
        self.run_outer(a, Some(input));
        Ok(())
    }

    /// Reduces an element of a real ring, of words below 2q, modulo X^n − i.
    fn fold(&self, a: &mut [u64]) -> Result<(), KernelError> {
        let Some(i) = self.unit_root else { return Ok(()) };
        let (q, minus_i) = (self.modulus, self.modulus.neg(i));
        if let Some(middle) = self.mirror(a, minus_i)? {
            *middle = q.mul(q.reduce(*middle), q.add(1, minus_i));
        }
        Ok(())
    }

    /// Undoes [`fold`](Self::fold) for twice the result, both of reduced words.
    fn unfold(&self, a: &mut [u64]) -> Result<(), KernelError> {
        let Some(i) = self.unit_root else { return Ok(()) };
        let q = self.modulus;
        if let Some(middle) = self.mirror(a, i)? {
            *middle = q.mul(*middle, q.add(1, i));
        }
        if let Some(first) = a.first_mut() {
            *first = q.add(*first, *first);
        }
        Ok(())
    }

    /// Adds c·a_(n−j) to every a_j but a_0 and a_(n/2); returns a_(n/2).
    fn mirror<'a>(&self, a: &'a mut [u64], c: u64) -> Result<Option<&'a mut u64>, KernelError> {
        let (first, last) = a.split_at_mut_checked(self.n / 2).unwrap_or_default();
        let Some((middle, last)) = last.split_first_mut() else { return Ok(None) };
        self.modulus.add_mirrored_assign(first.get_mut(1..).unwrap_or_default(), last, c)?;
        Ok(Some(middle))
    }

    fn run_outer(&self, a: &mut [u64], input: Option<Elsewhere<'_>>) {
        #[cfg(feature = "tally")]
        crate::tally::forward();
        negacyclic::outer(self.compiled(), &self.forward, input, a);
    }

    /// Runs the levels after [`forward_outer`](Self::forward_outer) for the words from `start` on, whole [chunks](Self::chunk), to canonical
    /// evaluations. Prefetches `later` meanwhile, where the instruction set can.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] unless `start` is a multiple of a chunk and `part` is of whole chunks that lie in a transform; the
    /// length expected is then the greatest that does.
    pub fn forward_inner(
        &self,
        start: usize,
        part: &mut [u64],
        later: [Later<'_>; 2],
    ) -> Result<(), KernelError> {
        let chunk = self.chunk();
        check_length(start.min(self.n) / chunk * chunk, start)?;
        check_length(part.len().min(self.n - start) / chunk * chunk, part.len())?;
        negacyclic::inner(self.compiled(), &self.forward, start / chunk, part, later.map(|later| later.0));
        Ok(())
    }

    /// Number of words in a chunk, whose last levels need no other words: a power of two that divides n.
    #[must_use]
    #[inline]
    pub fn chunk(&self) -> usize {
        self.forward.schedule.chunk
    }

    /// Transforms canonical evaluations to canonical coefficients, in place.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] unless `a` has n words.
    pub fn inverse(&self, a: &mut [u64]) -> Result<(), KernelError> {
        self.inverse_scaled(a, &self.unit)
    }

    /// Prepares an inverse negacyclic transform that also multiplies by `c`. With `c = n` there is no
    /// division by n.
    ///
    /// # Errors
    /// [`KernelError::NotReduced`] unless c < q.
    pub fn scale(&self, c: u64) -> Result<InverseScale, KernelError> {
        let q = &self.modulus;
        q.check_reduced(c)?;
        // n divides q − 1, so n^-1 = −(q − 1)/n. The transform of a real ring is then unfolded, which doubles.
        let (n, double) = (self.n as u64, if self.is_real() { 2 } else { 1 });
        let factor = q.mul(c, q.neg((q.value() - 1) / (double * n)));
        // The only twiddle of the last level is the inverse of ψ^(n/2), with ψ^(2n) = 1, or −1 for a real ring.
        let w = q.mul(factor, q.pow(self.psi, 2 * double * n - n / 2));
        let [factor, w] = [factor, w].map(|w| (q.table.factor)(w, q.value()));
        Ok(InverseScale { modulus: q.value(), n: self.n, last: [factor[0], factor[1], w[0], w[1]] })
    }

    /// Runs [`inverse`](Self::inverse) times the constant of `scale`, at the same cost.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] unless `a` and the scale have n words,
    /// [`KernelError::ModulusMismatch`] for a scale of another modulus.
    pub fn inverse_scaled(&self, a: &mut [u64], scale: &InverseScale) -> Result<(), KernelError> {
        self.run_inverse(a, None, scale)
    }

    /// Runs [`inverse_scaled`](Self::inverse_scaled) out of place, on the evaluations in `input`.
    ///
    /// # Errors
    /// Every error of [`inverse_scaled`](Self::inverse_scaled); [`KernelError::LengthMismatch`] unless `input` has n words.
    pub fn inverse_scaled_into(
        &self,
        out: &mut [u64],
        input: &[u64],
        scale: &InverseScale,
    ) -> Result<(), KernelError> {
        check_length(self.n, input.len())?;
        self.run_inverse(out, Some(input), scale)
    }

    fn run_inverse(
        &self,
        a: &mut [u64],
        input: Option<&[u64]>,
        scale: &InverseScale,
    ) -> Result<(), KernelError> {
        check_length(self.n, a.len())?;
        check_length(self.n, scale.n)?;
        if scale.modulus != self.modulus.value() {
            return Err(KernelError::ModulusMismatch { expected: self.modulus.value(), got: scale.modulus });
        }
        #[cfg(feature = "tally")]
        crate::tally::inverse();
        negacyclic::inverse(self.compiled(), &self.inverse, &scale.last, input, a);
        self.unfold(a)
    }
}

/// Functions of the kernel table of a modulus, which was chosen for an available instruction set.
#[derive(Clone, Copy)]
struct Compiled<'a> {
    constants: &'a Constants,
    functions: &'a Negacyclic,
}

impl Passes for Compiled<'_> {
    fn enter(self, input: Elsewhere<'_>, data: &mut [u64]) {
        // SAFETY: the instruction set is available, here and below.
        unsafe { (self.functions.enter)(input, data) };
    }
    fn forward_pass(self, pass: Pass, input: Option<Elsewhere<'_>>, data: &mut [u64], twiddles: &[u64]) {
        // SAFETY: as in `enter`.
        unsafe { (self.functions.forward_pass)(self.constants, pass, input, data, twiddles) };
    }
    fn forward_tail(self, data: &mut [u64], twiddles: &[u64], later: [&[u8]; 2]) {
        // SAFETY: as in `enter`.
        unsafe { (self.functions.forward_tail)(self.constants, data, twiddles, later) };
    }
    fn inverse_pass(self, pass: Pass, data: &mut [u64], twiddles: &[u64], last: Option<&LastFactors>) {
        // SAFETY: as in `enter`.
        unsafe { (self.functions.inverse_pass)(self.constants, pass, data, twiddles, last) };
    }
    fn inverse_tail(self, data: &mut [u64], twiddles: &[u64], last: &LastFactors) {
        // SAFETY: as in `enter`.
        unsafe { (self.functions.inverse_tail)(self.constants, data, twiddles, last) };
    }
}

/// Checks that there are negacyclic transforms of `n` words.
pub(crate) fn check_transform_length(n: usize) -> Result<(), KernelError> {
    let supported = n.is_power_of_two() && (1 << 6..=1 << 17).contains(&n);
    if supported { Ok(()) } else { Err(KernelError::UnsupportedLength { n }) }
}

/// Returns the odd e, below 2n, such that position `position` of an evaluated polynomial is its value at ψ^e.
///
/// Position 64·b + 8·v + l stands for the bit-reversed index i = 64·b + 8·l + v, and e = 2·bitrev(i) + 1.
/// `n` must be a power of two from 64, `position` below it.
#[must_use]
#[inline]
pub fn evaluation_exponent(n: usize, position: usize) -> usize {
    let (v, l) = (position / 8 % 8, position % 8);
    2 * bit_reverse(position - position % 64 + 8 * l + v, n.trailing_zeros()) + 1
}

/// Returns the smallest x with x^(order/2) = −1 for a prime modulus and an order that is a power of two, or, for a product of primes,
/// the number congruent to that smallest root modulo every prime; `None` if there is none.
fn root(modulus: Modulus, order: u64) -> Option<u64> {
    let q = modulus.value();
    let Some(p) = smallest_factor(q, order) else { return smallest_root(modulus, order) };
    let [first, second] =
        [p, q / p].map(|part| Modulus::with_isa(part, modulus.isa()).map(|part| (part, root(part, order))));
    let ((first, Some(x)), (second, Some(y))) = (first.ok()?, second.ok()?) else { return None };
    // x + p·((y − x)/p mod q/p), below q.
    let quotient = second.mul(second.sub(y, second.reduce(x)), second.inv(second.reduce(p))?);
    Some(x + first.value() * quotient)
}

/// Returns the smallest proper factor of q of the form k·order + 1 with k below 2^18: for orders from 2^7 on, products of such primes
/// below 2^50 have one.
fn smallest_factor(q: u64, order: u64) -> Option<u64> {
    let candidates = (1..1_u64 << 18).map(|k| k.saturating_mul(order).saturating_add(1));
    candidates
        .take_while(|p| p.checked_mul(*p).is_some_and(|square| square <= q))
        .find(|&p| q.is_multiple_of(p))
}

fn smallest_root(modulus: Modulus, order: u64) -> Option<u64> {
    let q = modulus.value();
    if q % order != 1 {
        return None;
    }
    let root = (2..q.min(TRIES))
        .map(|base| modulus.pow(base, (q - 1) / order))
        .find(|&root| modulus.pow(root, order / 2) == q - 1)?;
    // All other roots are odd powers of this one.
    let square = modulus.mul(root, root);
    let powers = std::iter::successors(Some(root), |&x| Some(modulus.mul(x, square)));
    powers.take(order as usize / 2).min()
}
