//! Choice of the least BGV parameters of a tape, for which the operations between products are declared.

use num_bigint::BigUint;
use sunzi_bgv::{Budget, Operations};
use sunzi_circuits::{Clear as Counter, ClearCiphertext, ClearKeys};
use sunzi_encoding::PlainRequest;
use sunzi_rlwe::words::counted;

use super::choose::{LARGEST_MARGIN, log2_modulus, refused};
use super::machine::{ExactMachine, Machine as _};
use super::{Choice, Step, Tape, Wanted};
use crate::ProgramError;
use crate::analysis::bgv_of;

/// Declaration of a tape to the builder of BGV: products in a row, and the operations between them.
struct Declared {
    depth: usize,
    /// Index of a step of the largest depth.
    deepest: usize,
    /// Budgets to try: of the costliest single ciphertexts, which leave out a polynomial's inner steps, and of all
    /// steps of a level together.
    budgets: [Budget; 2],
}

impl Tape {
    /// Chooses the least BGV parameters of a ring degree that pass a rehearsal, for integers up to `range`.
    pub(super) fn choose_levels(&self, wanted: &Wanted, range: &BigUint) -> Result<Choice, ProgramError> {
        let Declared { depth, deepest, budgets } = self.declared()?;
        let builder = sunzi_bgv::Parameters::builder()
            .depth(depth)
            .log2_degree(wanted.log2_degree)
            .security(wanted.security);
        let builder = wanted.sharing.iter().fold(builder, |builder, &policy| builder.sharing(policy));
        let splittings = PlainRequest::Range(range.clone()).moduli(wanted.log2_degree, true);
        let mut best: Option<(f64, Choice)> = None;
        let text = format!(
            "no secure moduli hold {} in a row with all that is done between them",
            counted(depth, "product", "products")
        );
        let mut refusal = refused(text, deepest);
        for plain_moduli in splittings.map_err(ProgramError::scheme)? {
            let count = plain_moduli.len() as f64;
            'declared: for budget in budgets {
                for margin in std::iter::once(1).chain((1..=LARGEST_MARGIN / 10).map(|tens| 10 * tens)) {
                    let builder = builder.clone().budget(budget).margin(margin);
                    // More of a margin takes more bits still.
                    let Some(parameters) = bgv_of(builder, plain_moduli.clone()) else { break };
                    let rehearsal = self.rehearse_sharing(&parameters, wanted.sharing)?;
                    if let Err(why) = self.passes(&rehearsal) {
                        refusal = why;
                        continue;
                    }
                    let work = count * log2_modulus(&parameters);
                    if best.as_ref().is_none_or(|(least, _)| work < *least) {
                        best = Some((work, Choice { parameters, rehearsal, reasons: Vec::new() }));
                    }
                    break 'declared;
                }
            }
        }
        best.map(|(_, choice)| choice).ok_or(ProgramError::Refused(refusal))
    }

    /// Counts the operations of the tape by running it over vectors of zeros.
    fn declared(&self) -> Result<Declared, ProgramError> {
        // As few slots as leave no rotation without an effect.
        let moves = |row: &i64| {
            !self.steps().iter().any(|step| matches!(step, Step::Rotate(_, by) if by.rem_euclid(*row) == 0))
        };
        let row = (2..1 << 20).find(moves).unwrap_or(2);
        let counter = Counter::new(row as usize, (1 << 60) - 1);
        let machine = ExactMachine {
            arithmetic: &counter,
            keys: &ClearKeys::all(),
            encode: &|_, _| Ok(counter.encode(&[])),
            size: |_| (None, 0),
            check_shareable: &|_, _| Ok(()),
        };
        let mut all = Vec::with_capacity(self.steps().len());
        for step in self.steps() {
            let made = match step {
                Step::Input(_) => counter.encrypt(&[]),
                step => machine.step(step, &all)?,
            };
            all.push(made);
        }
        let deepest =
            (0..all.len()).max_by_key(|&place| all.get(place).map(ClearCiphertext::depth)).unwrap_or(0);
        let depth = all.get(deepest).map_or(0, ClearCiphertext::depth);
        let mut stepwise = Budget::default();
        for made in &all {
            let declared = match made.depth() {
                0 => &mut stepwise.fresh,
                own if own == depth => &mut stepwise.last,
                _ => &mut stepwise.per_level,
            };
            *declared = most(declared, &made.used());
        }
        Ok(Declared { depth, deepest, budgets: [stepwise, counter.counts().budget] })
    }
}

/// Returns for each kind of operation the larger of two numbers.
fn most(a: &Operations, b: &Operations) -> Operations {
    Operations {
        additions: a.additions.max(b.additions),
        rotations: a.rotations.max(b.rotations),
        plain_products: a.plain_products.max(b.plain_products),
    }
}
