//! What the key holder reads out of the server's answer.

use num_traits::ToPrimitive;
use rayon::prelude::*;
use sunzi::bfv::{BatchEncoder, Encoder};
use sunzi::circuits::Arithmetic;
use sunzi::circuits::statistics::{EncryptedSum, EncryptedSums, Layout};
use sunzi::math::Crt;

use super::owner::Keys;
use super::scheme::Scheme;
use crate::error::CliError;
use crate::sums::{Sums, TableSums, pairs};

/// The first slots of all segments of every result, modulo one t.
pub(crate) struct Opened {
    columns: Vec<Heads>,
    products: Vec<Heads>,
    /// Bits left in the worst ciphertext.
    pub(crate) bits_left: f64,
}

/// The first slot of each segment of one sum.
struct Heads {
    groups: Vec<u64>,
    total: Vec<u64>,
    bits_left: f64,
}

/// Decrypts every result.
pub(crate) fn open<S: Scheme>(
    context: &S,
    layout: &Layout,
    keys: &Keys,
    sums: EncryptedSums<S::Ciphertext>,
) -> Result<Opened, CliError> {
    let encoder = BatchEncoder::new(layout.degree(), context.plain_modulus()).map_err(CliError::failure)?;
    let evaluator = context.evaluator();
    let heads = |ciphertext: &S::Ciphertext| -> Result<Vec<u64>, CliError> {
        let plaintext = context.decrypt(ciphertext, &keys.secret)?;
        let slots = encoder.decode(&plaintext).map_err(CliError::failure)?;
        Ok(slots.into_iter().step_by(layout.segment()).collect())
    };
    let open = |sum: EncryptedSum<S::Ciphertext>| -> Result<Heads, CliError> {
        Ok(Heads {
            groups: heads(&sum.groups)?,
            total: heads(&sum.total)?,
            bits_left: evaluator.bits_left(&sum.groups).min(evaluator.bits_left(&sum.total)),
        })
    };
    let open_all = |sums: Vec<EncryptedSum<S::Ciphertext>>| {
        sums.into_par_iter().map(open).collect::<Result<Vec<Heads>, CliError>>()
    };
    let (columns, products) = (open_all(sums.columns)?, open_all(sums.products)?);
    let bits_left =
        columns.iter().chain(&products).map(|heads| heads.bits_left).fold(f64::INFINITY, f64::min);
    Ok(Opened { columns, products, bits_left })
}

impl Opened {
    /// The sums modulo t, where the layout says they stand.
    pub(crate) fn sums(&self, layout: &Layout) -> TableSums<u64> {
        let group = |group: usize| self.read(layout, group, |heads| &heads.groups);
        let groups = (0..layout.shape().groups).map(group).collect();
        TableSums { groups, total: self.read(layout, 0, |heads| &heads.total) }
    }

    fn read(&self, layout: &Layout, group: usize, part: impl Fn(&Heads) -> &Vec<u64>) -> Sums<u64> {
        let head = |heads: Option<&Heads>, column: usize| {
            let index = layout.slot(column, group) / layout.segment();
            heads.and_then(|heads| part(heads).get(index)).copied().unwrap_or(0)
        };
        let sum = |column: usize| head(self.columns.get(layout.block(column)), column);
        let product = |(x, y): (usize, usize)| {
            let (index, column) = layout.pair(x, y);
            head(self.products.get(index), column)
        };
        let columns = layout.shape().columns;
        Sums {
            count: sum(layout.ones()),
            sums: (0..columns).map(sum).collect(),
            products: pairs(columns).map(product).collect(),
        }
    }
}

/// The integers with these residues, one set of sums for each t.
pub(crate) fn join(crt: &Crt, residues: &[TableSums<u64>]) -> Result<TableSums<i128>, CliError> {
    let groups = residues.first().map_or(0, |sums| sums.groups.len());
    let of_group = |group: usize| -> Result<Sums<i128>, CliError> {
        join_sums(crt, &residues.iter().filter_map(|sums| sums.groups.get(group)).collect::<Vec<_>>())
    };
    Ok(TableSums {
        groups: (0..groups).map(of_group).collect::<Result<_, _>>()?,
        total: join_sums(crt, &residues.iter().map(|sums| &sums.total).collect::<Vec<_>>())?,
    })
}

fn join_sums(crt: &Crt, parts: &[&Sums<u64>]) -> Result<Sums<i128>, CliError> {
    let integer = |residues: Vec<u64>| -> Result<i128, CliError> {
        let value = crt.reconstruct_centered(&residues).map_err(CliError::failure)?;
        value.to_i128().ok_or_else(|| CliError::failure("a decrypted sum is wider than 128 bits"))
    };
    let all = |length: usize, part: fn(&Sums<u64>) -> &Vec<u64>| -> Result<Vec<i128>, CliError> {
        let at =
            |index: usize| integer(parts.iter().filter_map(|sums| part(sums).get(index).copied()).collect());
        (0..length).into_par_iter().map(at).collect()
    };
    let (columns, products) = parts.first().map_or((0, 0), |sums| (sums.sums.len(), sums.products.len()));
    Ok(Sums {
        count: integer(parts.iter().map(|sums| sums.count).collect())?,
        sums: all(columns, |sums| &sums.sums)?,
        products: all(products, |sums| &sums.products)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residues_join_to_signed_integers() {
        let crt = Crt::new(&[97, 101, 103]).unwrap();
        let values = [0_i128, 1, -1, 500_000, -504_545];
        let of = |q: i128| {
            let r = |v: &i128| v.rem_euclid(q) as u64;
            Sums { count: 7, sums: values.iter().map(r).collect(), products: vec![r(&-9), r(&12)] }
        };
        let residues: Vec<TableSums<u64>> =
            [97, 101, 103].map(|q| TableSums { groups: vec![of(q)], total: of(q) }).into();
        let joined = join(&crt, &residues).unwrap();
        assert_eq!(joined.total, joined.groups[0]);
        assert_eq!(
            (joined.total.count, joined.total.sums, joined.total.products),
            (7, values.to_vec(), vec![-9, 12])
        );
    }
}
