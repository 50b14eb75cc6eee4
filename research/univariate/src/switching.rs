//! Modulus switching: division by the moduli above a level, on the stored coefficients.

use sunzi_math::mod_inv;

use sunzi_ring::storage::{RoundedDivision, Scratch, Work, block_of, entry};
use sunzi_ring::{
    Backend, Coefficient, Evaluation, ModulusSwitching, Parallelism, Poly, Representation, RingError,
};

use crate::UnivariateRing;
use crate::form::ReducedForm;
use crate::ring::Switching;

/// Returns a polynomial's coefficients times a constant of each limb.
pub(crate) fn scaled(
    ring: &UnivariateRing,
    a: &Poly<Coefficient>,
    constants: &[u64],
) -> Result<Scratch, RingError> {
    ring.check_as(a, Representation::Coefficients)?;
    let mut rows = Scratch::from_slice(a.words());
    Parallelism::default().for_each_limb(Work::Elementwise, &mut rows, ring.degree(), |i, row| {
        let constant = *entry("factor of a limb", constants, i)?;
        Ok(ring.basis().own(i)?.mul_scalar_assign(row, constant)?)
    })?;
    Ok(rows)
}

impl Switching {
    pub(crate) fn new(ring: &UnivariateRing, level: usize) -> Result<Self, RingError> {
        let (target, divisor) = (ring.at_level(level)?, ring.sub_ring(level..ring.level())?);
        let targets: Vec<_> = target.basis().moduli().iter().map(|&modulus| (modulus, 1)).collect();
        let division = RoundedDivision::new(divisor.basis(), &targets, ModulusSwitching::Exact)?;
        let inverse = |&q: &u64| Ok(mod_inv(divisor.basis().product_mod(q), q)?);
        let inverses = target.basis().values().iter().map(inverse).collect::<Result<_, RingError>>()?;
        Ok(Self { divisor, target, division, inverses })
    }

    /// Returns the switched polynomial a/D rounded, whatever the form of a: only the dropped moduli need its
    /// coefficients.
    pub(crate) fn apply(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        let (n, form) = (self.target.degree(), ReducedForm::of(a));
        let low = self.target.level() * a.stride();
        let missing = RingError::MissingTable { table: "limb of a polynomial", limb: self.target.level() };
        let (low, high) = a.words().split_at_checked(low).ok_or(missing)?;
        let coefficients = self.divisor.raw_coefficients(&self.divisor.poly_of(high, form))?;
        let rows = scaled(&self.divisor, &coefficients, self.divisor.basis().quotient_inverses())?;
        let mut rest = self.target.arbitrary::<Coefficient>();
        Parallelism::default().for_each_block(rest.words_mut(), n, |range, output| {
            self.division.apply(&block_of(rows.chunks_exact(n), &range), output)
        })?;
        let mut quotient = self.target.poly_of::<Evaluation>(low, form);
        self.target.for_each_limb(Work::Elementwise, &mut quotient, |i, reducer, limb| {
            let inverse = *entry("inverse of a divisor", &self.inverses, i)?;
            Ok(reducer.modulus().mul_scalar_assign(limb, inverse)?)
        })?;
        self.target.add_assign(&mut quotient, &*self.target.raw_values(&rest)?)?;
        Ok(quotient)
    }
}
