//! Course of a computation: noise and room of every ciphertext that a plan makes, before anything is encrypted.

use std::cell::RefCell;

use sunzi_circuits::inner_product::sum_segments;
use sunzi_circuits::{Arithmetic, CircuitError, Rotation};
use sunzi_encoding::Plaintext;
use sunzi_rlwe::galois;

use super::{Layout, Parameters, Plan, dry, facts};
use crate::run::exact::{Exact, Output, Value};
use crate::run::{Clear, Watched, encrypted_inputs, run};
use crate::{NodeId, ProgramError};

/// Place of a ciphertext in a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Column that was encrypted.
    Input,
    /// Intermediate result, or an output column.
    Step,
    /// Sum over all rows.
    Total,
}

/// Ciphertext of a computation: its moduli, and how their bits are used.
///
/// The bits of the modulus are those of the noise, of the message and of the room, in this order from the lowest bit.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Expression that the ciphertext holds.
    pub expression: String,
    /// Place of the ciphertext in the computation.
    pub role: Role,
    /// Indices of the ciphertext's moduli in [`Parameters::moduli`], ascending.
    pub limbs: Vec<usize>,
    /// Bits of the product of the ciphertext's moduli.
    pub modulus: f64,
    /// Bits of the bound on the noise; of the estimated error in CKKS.
    pub noise: f64,
    /// Bits left before decryption is refused; in CKKS bits that rescalings can still drop.
    pub room: f64,
}

impl Stage {
    /// Returns the bits between noise and room, which hold the message.
    #[must_use]
    pub fn message(&self) -> f64 {
        (self.modulus - self.noise - self.room).max(0.0)
    }
}

impl Parameters {
    /// Returns the indices of the moduli of every level in [`moduli`](Self::moduli), that of fresh ciphertexts first. BFV has a
    /// single level; BGV may have one above its multiplicative depth, which products leave.
    #[must_use]
    pub fn chain(&self) -> Vec<Vec<usize>> {
        let all: Vec<usize> = (0..self.moduli().len()).collect();
        let mut levels: Vec<Vec<usize>> = match self {
            Self::Bfv(_) | Self::Integers(_) => Vec::new(),
            Self::Bgv { parameters, .. } => {
                (0..=parameters.depth()).map(|level| parameters.limbs(level)).collect()
            }
            Self::Ckks(parameters) => (0..=parameters.depth()).map(|level| parameters.limbs(level)).collect(),
            Self::Bootstrapped(own) => {
                (0..=own.ckks().depth()).map(|level| own.ckks().limbs(level)).collect()
            }
        };
        if !matches!(self, Self::Ckks(_) | Self::Bootstrapped(_)) && levels.last() != Some(&all) {
            levels.push(all);
        }
        levels.reverse();
        levels
    }
}

/// Bits of a ciphertext, without its expression.
struct Bits {
    limbs: Vec<usize>,
    modulus: f64,
    noise: f64,
    room: f64,
}

impl Bits {
    /// Returns the bits of a sum of `count` ciphertexts like this one.
    fn times(self, count: usize, exact: bool) -> Self {
        let more = (count.max(1) as f64).log2();
        let room = if exact { self.room - more } else { self.room };
        Self { noise: self.noise + more, room, ..self }
    }
}

/// Stages in the order in which they are made.
type Stages = RefCell<Vec<Stage>>;

impl Plan {
    /// Returns the ciphertexts of a run in the order in which they are made, those of one chunk and the sums over all
    /// chunks, with noise bounds that hold for any numbers. Of several plaintext moduli the largest is taken. A
    /// packed plan has one stage for all its columns, and one for all sums.
    ///
    /// The program is run over polynomials without coefficients, which takes milliseconds.
    ///
    /// ```
    /// use sunzi_program::{Column, Options, Plan, Program, Schema};
    ///
    /// let schema = Schema::new(100, vec![Column::integer("age", 0, 120)])?;
    /// let plan = Plan::new(&Program::parse("sum(age * age)", &schema)?, &Options::default())?;
    /// let course = plan.course()?;
    /// assert_eq!(course.first().map(|stage| stage.expression.as_str()), Some("age"));
    /// assert!(course.iter().all(|stage| stage.room > 0.0));
    /// # Ok::<(), sunzi_program::ProgramError>(())
    /// ```
    ///
    /// # Errors
    /// [`ProgramError::Scheme`] for invalid parameters, and for operations that they do not allow.
    pub fn course(&self) -> Result<Vec<Stage>, ProgramError> {
        match &self.parameters {
            Parameters::Bfv(parameters) => {
                let context = dry::bfv(parameters)?;
                let (public, keys) =
                    dry::keys(context.rlwe(), self.exponents(context.rlwe().ring().index())?)
                        .map_err(ProgramError::scheme)?;
                let evaluator = sunzi_bfv::Evaluator::new(&context);
                let rng = &mut dry::randomness();
                let fresh =
                    |zero: &Plaintext| context.encrypt(zero, &public, rng).map_err(ProgramError::scheme);
                let limbs = |_: &sunzi_bfv::Ciphertext| (0..parameters.moduli().len()).collect();
                self.exact_course((&evaluator, &keys), fresh, limbs)
            }
            Parameters::Bgv { parameters, plain_moduli } => {
                let context = dry::bgv(parameters, plain_moduli)?;
                let (public, keys) =
                    dry::keys(context.rlwe(), self.exponents(context.rlwe().ring().index())?)
                        .map_err(ProgramError::scheme)?;
                let evaluator = sunzi_bgv::Evaluator::new(&context);
                let rng = &mut dry::randomness();
                let fresh =
                    |zero: &Plaintext| context.encrypt(zero, &public, rng).map_err(ProgramError::scheme);
                let limbs = |a: &sunzi_bgv::Ciphertext| {
                    let (level, count) =
                        (a.metadata().level(), a.parts().first().map_or(0, |part| part.shape().limbs));
                    // A ciphertext has the modulus of its level or of the next.
                    let mut own = [level, level + 1].into_iter().map(|level| parameters.limbs(level));
                    own.find(|limbs| limbs.len() == count)
                        .unwrap_or_else(|| (0..parameters.moduli().len()).collect())
                };
                self.exact_course((&evaluator, &keys), fresh, limbs)
            }
            Parameters::Ckks(parameters) => self.real_course(parameters),
            // Levels come back.
            Parameters::Bootstrapped(_) | Parameters::Integers(_) => Ok(Vec::new()),
        }
    }

    /// Returns the bytes of the files of the relinearisation key, and of all rotation keys together.
    ///
    /// # Errors
    /// [`ProgramError::Refused`] for a level that does not exist.
    pub fn key_sizes(&self) -> Result<[u64; 2], ProgramError> {
        let relinearization = self.parameters.key_bytes(self.rotation_limbs, 0)?;
        Ok([relinearization, self.key_bytes.saturating_sub(relinearization)])
    }

    /// Returns the exponents of the automorphisms of the plan's rotations, in exact schemes.
    fn exponents(&self, index: u64) -> Result<Vec<u64>, ProgramError> {
        let exponent = |rotation: &Rotation| match *rotation {
            Rotation::Rows(steps) => galois::rotation_exponent(index, steps),
            Rotation::Columns => galois::swap_exponent(index),
        };
        self.rotations.iter().map(exponent).collect::<Result<_, _>>().map_err(ProgramError::scheme)
    }

    /// Returns the expression of a node.
    fn stage(&self, id: NodeId, role: Role, bits: Bits) -> Stage {
        let expression = self.program.graph().describe(id, self.program.schema());
        let expression = if role == Role::Total { format!("sum({expression})") } else { expression };
        let Bits { limbs, modulus, noise, room } = bits;
        Stage { expression, role, limbs, modulus, noise, room }
    }

    fn role(&self, id: NodeId) -> Role {
        let input = self.program.graph().node(id).is_some_and(|node| node.column().is_some());
        if input { Role::Input } else { Role::Step }
    }

    /// Returns the layout of a single chunk, since all chunks are alike.
    fn chunk(&self) -> Layout {
        Layout { rows: self.layout.span, chunks: 1, ..self.layout }
    }

    fn log2_modulus(&self, limbs: &[usize]) -> f64 {
        limbs.iter().filter_map(|&limb| self.parameters.moduli().get(limb)).map(|&q| (q as f64).log2()).sum()
    }

    fn exact_course<A: Arithmetic<Plaintext = Plaintext>>(
        &self,
        (arithmetic, keys): (&A, &A::Keys),
        mut fresh: impl FnMut(&Plaintext) -> Result<A::Ciphertext, ProgramError>,
        limbs: impl Fn(&A::Ciphertext) -> Vec<usize>,
    ) -> Result<Vec<Stage>, ProgramError> {
        let (t, degree) = (arithmetic.plain_modulus(), self.parameters.degree());
        let bits = |a: &A::Ciphertext| {
            let (limbs, room) = (limbs(a), arithmetic.bits_left(a));
            let modulus = self.log2_modulus(&limbs);
            Bits { limbs, modulus, noise: (modulus - (2.0 * t as f64).log2() - room).max(0.0), room }
        };
        let plaintext = |value: u64| Plaintext::new(vec![value; degree], t).map_err(ProgramError::scheme);
        let zero = plaintext(0)?;
        let add = |a: &_, b: &_| arithmetic.add(a, b).map_err(ProgramError::scheme);
        let mut fresh = || dry::rows_of_all(self.parameters.parties(), || fresh(&zero), add);
        if self.packed().is_some() {
            return self.packed_course((arithmetic, keys), &fresh()?, bits);
        }
        let (chunk, stages) = (self.chunk(), Stages::default());
        let computed = self.computed();
        let program = &computed.program;
        let known = facts(program);
        let exact = Exact::new(program, &chunk, arithmetic, keys, |_: &[u64]| plaintext(t / 2));
        let seen = |id, value: &Value<A>| {
            if let Some(ciphertext) = value.ciphertext() {
                stages.borrow_mut().push(self.stage(id, self.role(id), bits(ciphertext)));
            }
        };
        let encrypted = encrypted_inputs(program);
        let input = |id: NodeId, _| {
            if !encrypted.contains(&id) {
                return Ok(Value::Clear(Clear::padded(&known, id)));
            }
            let value = fresh().map(Value::encrypted)?;
            seen(id, &value);
            Ok(value)
        };
        let backend = Watched { own: &exact, seen: &seen };
        let totals = run(program, &chunk, &backend, input, |_, _, _| Ok(()))?;
        let mut stages = stages.into_inner();
        for (id, output) in totals {
            if let Output::Encrypted(total) = output {
                stages.push(self.stage(id, Role::Total, bits(&total).times(self.layout.chunks, true)));
            }
        }
        Ok(stages)
    }

    /// Returns the stages of a packed plan: its columns, and their sums.
    fn packed_course<A: Arithmetic>(
        &self,
        (arithmetic, keys): (&A, &A::Keys),
        input: &A::Ciphertext,
        bits: impl Fn(&A::Ciphertext) -> Bits,
    ) -> Result<Vec<Stage>, ProgramError> {
        let scheme = |error: CircuitError<A::Error>| ProgramError::scheme(error);
        let layout = self.require_packed()?.layout();
        let stage = |expression: &str, role, bits| {
            let Bits { limbs, modulus, noise, room } = bits;
            Stage { expression: expression.to_owned(), role, limbs, modulus, noise, room }
        };
        let summed = |term| sum_segments(arithmetic, term, layout.unit(), keys).map_err(scheme);
        let mut stages = vec![stage("packed columns", Role::Input, bits(input))];
        if layout.products().is_empty() {
            let sum = bits(&summed(input)?).times(layout.chunks(), true);
            stages.push(stage("sums of columns", Role::Total, sum));
            return Ok(stages);
        }
        let (operand, mut sum) = (arithmetic.operand(input).map_err(scheme)?, None);
        arithmetic.add_product(&mut sum, &operand, &operand).map_err(scheme)?;
        let none = || ProgramError::Invalid("a sum of no products".to_owned());
        let product = arithmetic.finish(sum.ok_or_else(none)?, keys).map_err(scheme)?;
        stages.push(stage("products of columns", Role::Step, bits(&product)));
        let sum = bits(&summed(&product)?).times(layout.chunks(), true);
        stages.push(stage("sums of products", Role::Total, sum));
        Ok(stages)
    }

    fn real_course(&self, parameters: &sunzi_ckks::Parameters) -> Result<Vec<Stage>, ProgramError> {
        let bits = |ciphertext: &sunzi_ckks::Ciphertext| {
            let metadata = ciphertext.metadata();
            let limbs = parameters.limbs(metadata.level);
            let (modulus, lowest) = (self.log2_modulus(&limbs), self.log2_modulus(&parameters.limbs(0)));
            let noise = (metadata.scale.log2() - metadata.precision.bits()).max(0.0);
            Bits { limbs, modulus, noise, room: (modulus - lowest).max(0.0) }
        };
        let totals = self.program.totals();
        let stages = Stages::default();
        let seen = |id, _: &sunzi_ckks::Context, ciphertext: &sunzi_ckks::Ciphertext| {
            stages.borrow_mut().push(self.stage(id, self.role(id), bits(ciphertext)));
        };
        self.rehearse(&self.chunk(), &seen, |id, _, ciphertext| {
            if totals.contains(&id) {
                let bits = bits(ciphertext).times(self.layout.chunks, false);
                stages.borrow_mut().push(self.stage(id, Role::Total, bits));
            }
            Ok(())
        })?;
        Ok(stages.into_inner())
    }
}
