//! Runs of programs in the exact schemes: over any [`Arithmetic`], once for each plaintext modulus.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use num_bigint::BigInt;
use sunzi_circuits::inner_product::sum_segments;
use sunzi_circuits::polynomial::{Method, Polynomial, evaluate, interpolate};
use sunzi_circuits::{Arithmetic, CircuitError};

use super::{Backend, Clear, Table, computed, leaf, sum_of};
use crate::analysis::{Facts, Layout, facts, linear_units, polynomial_units};
use crate::graph::Node;
use crate::{Decimal, NodeId, Program, ProgramError};

/// Value of a node in one chunk, modulo one plaintext modulus.
pub enum Value<A: Arithmetic> {
    /// Encrypted value of the node.
    Encrypted(Held<A>),
    /// Clear value, computed from clear columns.
    Clear(Clear),
}

/// Ciphertext with its form as a factor of sums of products, made when it is first needed.
pub struct Held<A: Arithmetic> {
    ciphertext: A::Ciphertext,
    operand: OnceCell<A::Operand>,
}

impl<A: Arithmetic> Value<A> {
    /// Makes the value of a ciphertext.
    #[must_use]
    pub fn encrypted(ciphertext: A::Ciphertext) -> Self {
        Self::Encrypted(Held { ciphertext, operand: OnceCell::new() })
    }

    /// Returns the ciphertext of an encrypted value.
    pub(crate) fn ciphertext(&self) -> Option<&A::Ciphertext> {
        if let Self::Encrypted(held) = self { Some(&held.ciphertext) } else { None }
    }
}

impl<A: Arithmetic> Held<A> {
    fn operand(&self, arithmetic: &A) -> Result<&A::Operand, ProgramError> {
        if let Some(operand) = self.operand.get() {
            return Ok(operand);
        }
        let operand = arithmetic.operand(&self.ciphertext).map_err(scheme)?;
        Ok(self.operand.get_or_init(|| operand))
    }
}

/// Sum of a node over chunks, modulo one plaintext modulus.
pub enum Total<A: Arithmetic> {
    /// Sum of ciphertexts.
    Encrypted(A::Ciphertext),
    /// Sum of products, to be relinearised once.
    Products(A::Sum),
    /// Sum of clear numbers.
    Clear(BigInt),
}

/// Output of an exact run: a sum, or a chunk of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Output<C> {
    /// Encrypted sum in slot 0, padding included; or a chunk of an encrypted column, slot by slot.
    Encrypted(C),
    /// Sum of a clear column, in units of the last decimal.
    Clear(BigInt),
    /// Chunk of a clear column.
    ClearColumn(Clear),
}

/// Backend that runs programs in one exact arithmetic.
pub struct Exact<'a, A: Arithmetic, E> {
    program: &'a Program,
    facts: Vec<Facts>,
    layout: &'a Layout,
    arithmetic: &'a A,
    keys: &'a A::Keys,
    encode: E,
    tables: Tables,
    /// Polynomials of the tables that were looked up so far.
    polynomials: RefCell<BTreeMap<NodeId, Rc<Polynomial<A::Plaintext>>>>,
}

/// Polynomials that tables become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tables {
    /// Polynomials modulo the plaintext modulus.
    Own,
    /// Dense ones with this number as every coefficient, where operations are counted.
    Dense(i64),
}

impl<'a, A: Arithmetic, E: Fn(&[u64]) -> Result<A::Plaintext, ProgramError>> Exact<'a, A, E> {
    /// Makes the backend of one plaintext modulus t; `encode` encodes numbers in [0, t), with zeros for missing ones.
    pub fn new(
        program: &'a Program,
        layout: &'a Layout,
        arithmetic: &'a A,
        keys: &'a A::Keys,
        encode: E,
    ) -> Self {
        let (tables, polynomials) = (Tables::Own, RefCell::default());
        Self { program, facts: facts(program), layout, arithmetic, keys, encode, tables, polynomials }
    }

    /// Returns the backend for counting operations before a plaintext modulus is chosen: polynomials of tables have all
    /// coefficients, and each of them is this number.
    #[must_use]
    pub(crate) fn counting(self, coefficient: i64) -> Self {
        Self { tables: Tables::Dense(coefficient), ..self }
    }

    /// Returns the polynomial of a table modulo the plaintext modulus.
    fn polynomial(
        &self,
        id: NodeId,
        first: i64,
        values: &[Decimal],
    ) -> Result<Rc<Polynomial<A::Plaintext>>, ProgramError> {
        if let Some(known) = self.polynomials.borrow().get(&id) {
            return Ok(known.clone());
        }
        let coefficients = match self.tables {
            Tables::Own => {
                let decimals = self.decimals(id)?;
                let units = values.iter().map(|value| value.scaled(decimals)).collect::<Option<Vec<i128>>>();
                let t = self.arithmetic.plain_modulus();
                interpolate(first, &units.ok_or_else(not_exact)?, t).ok_or_else(|| {
                    let expected = format!("a prime of at least {}, the number of its entries", values.len());
                    ProgramError::mismatch("the plaintext modulus of a table", expected, t)
                })?
            }
            Tables::Dense(coefficient) => vec![coefficient; values.len()],
        };
        let polynomial = Rc::new(Polynomial::constants(&coefficients));
        self.polynomials.borrow_mut().insert(id, polynomial.clone());
        Ok(polynomial)
    }

    /// Returns the value of an input that is not encrypted, from the server's table.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for a table without cells of the input's column.
    pub fn clear_input(&self, table: &Table, id: NodeId, chunk: usize) -> Result<Value<A>, ProgramError> {
        let node = self.program.graph().node(id).ok_or_else(broken)?;
        Ok(Value::Clear(leaf(node, table, self.layout, chunk)?))
    }

    fn facts(&self, id: NodeId) -> Result<&Facts, ProgramError> {
        self.facts.get(id.index()).ok_or_else(broken)
    }

    fn decimals(&self, id: NodeId) -> Result<u32, ProgramError> {
        Ok(self.facts(id)?.exact.ok_or_else(not_exact)?.decimals)
    }

    /// Returns the representative of c modulo t nearest to zero.
    fn centred(&self, c: i128) -> i64 {
        let t = i128::from(self.arithmetic.plain_modulus());
        let residue = c.rem_euclid(t);
        (if residue > t / 2 { residue - t } else { residue }) as i64
    }

    fn plaintext(&self, units: &[i128]) -> Result<A::Plaintext, ProgramError> {
        let t = i128::from(self.arithmetic.plain_modulus());
        let residues: Vec<u64> = units.iter().map(|v| v.rem_euclid(t) as u64).collect();
        (self.encode)(&residues)
    }

    fn linear(
        &self,
        terms: &[(NodeId, Decimal)],
        constant: Decimal,
        operands: &[&Value<A>],
    ) -> Result<A::Ciphertext, ProgramError> {
        let pairs = terms.iter().map(|&(id, c)| Ok((c, self.decimals(id)?)));
        let pairs = pairs.collect::<Result<Vec<_>, ProgramError>>()?;
        let (_, factors, constant) = linear_units(&pairs, constant).ok_or_else(not_exact)?;
        let mut sum: Option<A::Ciphertext> = None;
        let mut clear = vec![constant; self.layout.span];
        let mut has_clear = false;
        for (&factor, value) in factors.iter().zip(operands) {
            match value {
                Value::Encrypted(x) => sum = Some(self.plus_multiple(sum, factor, &x.ciphertext)?),
                Value::Clear(Clear::Units(units)) => {
                    has_clear = true;
                    let add = |(sum, v): (&mut i128, &i128)| *sum = sum.wrapping_add(factor.wrapping_mul(*v));
                    clear.iter_mut().zip(units).for_each(add);
                }
                Value::Clear(Clear::Reals(_)) => return Err(not_exact()),
            }
        }
        let sum = sum.ok_or_else(not_exact)?;
        match (has_clear, self.centred(constant)) {
            (true, _) => self.arithmetic.add_plain(&sum, &self.plaintext(&clear)?).map_err(scheme),
            (false, 0) => Ok(sum),
            (false, constant) => self.arithmetic.add_scalar(&sum, constant).map_err(scheme),
        }
    }

    /// Adds factor·x to a sum of encrypted or clear values.
    fn plus_multiple(
        &self,
        sum: Option<A::Ciphertext>,
        factor: i128,
        x: &A::Ciphertext,
    ) -> Result<A::Ciphertext, ProgramError> {
        let factor = self.centred(factor);
        let multiple = match factor {
            1 | -1 => Cow::Borrowed(x),
            _ => Cow::Owned(self.arithmetic.multiply_scalar(x, factor).map_err(scheme)?),
        };
        match (sum, factor) {
            (None, -1) => self.arithmetic.negate(x),
            (None, _) => return Ok(multiple.into_owned()),
            (Some(sum), -1) => self.arithmetic.sub(&sum, x),
            (Some(sum), _) => self.arithmetic.add(&sum, &multiple),
        }
        .map_err(scheme)
    }

    fn product(&self, a: &Value<A>, b: &Value<A>) -> Result<A::Ciphertext, ProgramError> {
        match (a, b) {
            (Value::Encrypted(a), Value::Encrypted(b)) if std::ptr::eq(a, b) => {
                self.arithmetic.square(&a.ciphertext, self.keys)
            }
            (Value::Encrypted(a), Value::Encrypted(b)) => {
                self.arithmetic.multiply(&a.ciphertext, &b.ciphertext, self.keys)
            }
            (Value::Encrypted(x), Value::Clear(Clear::Units(units)))
            | (Value::Clear(Clear::Units(units)), Value::Encrypted(x)) => {
                self.arithmetic.multiply_plain(&x.ciphertext, &self.plaintext(units)?)
            }
            _ => return Err(not_exact()),
        }
        .map_err(scheme)
    }
}

impl<A: Arithmetic, E: Fn(&[u64]) -> Result<A::Plaintext, ProgramError>> Backend for Exact<'_, A, E> {
    type Value = Value<A>;
    type Total = Total<A>;
    type Output = Output<A::Ciphertext>;

    fn compute(&self, id: NodeId, operands: &[&Value<A>]) -> Result<Value<A>, ProgramError> {
        let clear = operands.iter().map(|value| match value {
            Value::Clear(clear) => Some(clear),
            Value::Encrypted(_) => None,
        });
        if let Some(clear) = clear.collect::<Option<Vec<&Clear>>>() {
            return computed(self.program, &self.facts, id, &clear, self.layout.span).map(Value::Clear);
        }
        let node = self.program.graph().node(id).ok_or_else(broken)?;
        let value = match (node, operands) {
            (Node::Linear { terms, constant }, _) => self.linear(terms, *constant, operands)?,
            (Node::Product(..), [a, b]) => self.product(a, b)?,
            (Node::Polynomial { of, coefficients }, [Value::Encrypted(x)]) => {
                let (_, units) = polynomial_units(coefficients, self.decimals(*of)?).ok_or_else(not_exact)?;
                let units: Vec<i64> = units.into_iter().map(|c| self.centred(c)).collect();
                let polynomial = Polynomial::constants(&units);
                evaluate(self.arithmetic, &polynomial, &x.ciphertext, Method::Automatic, self.keys)
                    .map_err(scheme)?
            }
            (Node::LookUp { first, values, .. }, [Value::Encrypted(x)]) => {
                let polynomial = self.polynomial(id, *first, values)?;
                evaluate(self.arithmetic, &polynomial, &x.ciphertext, Method::Automatic, self.keys)
                    .map_err(scheme)?
            }
            _ => return Err(not_exact()),
        };
        Ok(Value::encrypted(value))
    }

    fn accumulate(&self, total: &mut Option<Total<A>>, value: &Value<A>) -> Result<(), ProgramError> {
        *total = Some(match (total.take(), value) {
            (None, Value::Encrypted(x)) => Total::Encrypted(x.ciphertext.clone()),
            (Some(Total::Encrypted(sum)), Value::Encrypted(x)) => {
                Total::Encrypted(self.arithmetic.add(&sum, &x.ciphertext).map_err(scheme)?)
            }
            (None, Value::Clear(Clear::Units(units))) => Total::Clear(sum_of(units)),
            (Some(Total::Clear(sum)), Value::Clear(Clear::Units(units))) => Total::Clear(sum + sum_of(units)),
            _ => return Err(broken()),
        });
        Ok(())
    }

    fn accumulate_product(
        &self,
        total: &mut Option<Total<A>>,
        a: &Value<A>,
        b: &Value<A>,
    ) -> Result<bool, ProgramError> {
        let (Value::Encrypted(x), Value::Encrypted(y)) = (a, b) else { return Ok(false) };
        let mut sum = match total.take() {
            None => None,
            Some(Total::Products(sum)) => Some(sum),
            Some(_) => return Err(broken()),
        };
        let (x, y) = (x.operand(self.arithmetic)?, y.operand(self.arithmetic)?);
        self.arithmetic.add_product(&mut sum, x, y).map_err(scheme)?;
        *total = sum.map(Total::Products);
        Ok(true)
    }

    fn finish(&self, _: NodeId, total: Total<A>) -> Result<Output<A::Ciphertext>, ProgramError> {
        let sum = match total {
            Total::Clear(sum) => return Ok(Output::Clear(sum)),
            Total::Encrypted(sum) => sum,
            Total::Products(sum) => self.arithmetic.finish(sum, self.keys).map_err(scheme)?,
        };
        sum_segments(self.arithmetic, &sum, self.layout.span, self.keys)
            .map(Output::Encrypted)
            .map_err(scheme)
    }

    fn column(&self, value: &Value<A>) -> Result<Output<A::Ciphertext>, ProgramError> {
        Ok(match value {
            Value::Encrypted(x) => Output::Encrypted(x.ciphertext.clone()),
            Value::Clear(clear) => Output::ClearColumn(clear.clone()),
        })
    }
}

fn broken() -> ProgramError {
    ProgramError::Invalid("values and nodes do not belong together".to_owned())
}

fn not_exact() -> ProgramError {
    ProgramError::Invalid("a node is not exact: exact schemes cannot compute it".to_owned())
}

fn scheme<E: std::error::Error + Send + Sync + 'static>(error: CircuitError<E>) -> ProgramError {
    ProgramError::scheme(error)
}
