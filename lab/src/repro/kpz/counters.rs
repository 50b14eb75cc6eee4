//! Tables 1, 4 and 5 of `[KPZ21]`: the counted cost of the reference algorithms, beside the printed formulas.

use sunzi_math::primes_below;

use super::default_mode;
use super::formulas::{self, corrected};
use super::reference::key_switching::{self, Scheme, radix_count};
use super::reference::{Basis, Counter, Counts, Limbs, multiplication};
use crate::repro::{Result, Row, Table};

/// Ring degree of the counted runs: counts do not depend on it but for the factor n.
const DEGREE: usize = 64;
/// Plaintext modulus t of the runs whose operations are counted.
const PLAIN_MODULUS: u64 = 257;
/// The schemes BFV and BGV, as Table 4 of `[KPZ21]` names them.
const SCHEMES: [(&str, Scheme); 2] =
    [("BGV", Scheme::Bgv { plain_modulus: PLAIN_MODULUS }), ("BFV", Scheme::Bfv)];

/// Bases of `q` primes for Q and `p` primes for P, of 30 bits each.
fn bases(q: usize, p: usize) -> Result<[Basis; 2]> {
    let primes = primes_below(1 << 30, 2 * DEGREE as u64, q + p)?;
    let (first, second) = primes.split_at_checked(q).unwrap_or((&primes, &[]));
    Ok([Basis::new(DEGREE, first)?, Basis::new(DEGREE, second)?])
}

/// A polynomial for counted runs, whose values do not change the counts.
fn some(basis: &Basis, seed: u64) -> Limbs {
    let at = |q: u64, i: usize| (seed + i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) % q;
    basis.moduli().iter().map(|&q| (0..DEGREE).map(|i| at(q, i)).collect()).collect()
}

/// A column of the tables of counts: it reads one number of the counts.
type Of = fn(&Counts) -> u64;

fn counted(row: Row, counts: Counts, printed: Counts) -> Row {
    let of: [(&'static str, Of); 3] = [
        ("transforms", |one| one.transforms),
        ("integer_products/n", |one| one.products),
        ("float_products/n", |one| one.floats),
    ];
    of.into_iter().fold(row, |row, (name, of)| row.printed(name, of(&printed), Some(of(&counts))))
}

/// Table 1 of `[KPZ21]`: counts of the operations of a product.
pub(super) fn table1() -> Result<Table> {
    let mut rows = Vec::new();
    for k in [2, 4, 7, 13] {
        rows.push(product("MultOld", k, k, formulas::original(k as u64))?);
        rows.push(product("MultNew", k, k, formulas::over_auxiliary(k as u64))?);
        for level in [k, k.div_ceil(2)] {
            let printed = formulas::leveled(k as u64, level as u64);
            rows.push(product("MultNewLeveled", k, level, printed)?);
        }
    }
    let title = "counts of a product without relinearisation, in a run of the reference algorithms";
    Ok(Table::new("Table 1", title, rows))
}

fn product(name: &'static str, k: usize, level: usize, printed: Counts) -> Result<Row> {
    let [ciphertext, auxiliary] = bases(k, if name == "MultOld" { k + 1 } else { k })?;
    let (a, b) = ([some(&ciphertext, 1), some(&ciphertext, 2)], [some(&ciphertext, 3), some(&ciphertext, 4)]);
    let setting = multiplication::Setting { ciphertext, auxiliary, plain_modulus: PLAIN_MODULUS };
    let counter = Counter::default();
    match name {
        "MultOld" => multiplication::original(&counter, &setting, &a, &b)?,
        "MultNew" => multiplication::over_auxiliary(&counter, &setting, &a, &b)?,
        _ => multiplication::leveled(&counter, &setting, level, &a, &b)?,
    };
    let counts = counter.counts(DEGREE);
    let explained = counts == corrected::leveled(k as u64, level as u64);
    let reason = (counts != printed && explained).then_some(
        "from Q to P_ℓ each of the k residues is scaled [KPZ21, appendix E]: k(ℓ + 1) multiplications a part, where \
         Remark 3.4 counts ℓ(k + 1)",
    );
    let row = Row::default().key("method", name).key("k", k).key("l", level);
    Ok(counted(row, counts, printed).because(reason))
}

/// Shape of a counted key switch: ℓ, k, α and the digits of a residue.
type Shape = (usize, usize, usize, u32);

/// Table 4 of `[KPZ21]`, counts of a key switch, and the totals of B.3 that it shortens.
pub(super) fn table4() -> Result<Table> {
    let bv: [Shape; 3] = [(3, 0, 1, 1), (6, 0, 1, 1), (4, 0, 1, 2)];
    let ghs: [Shape; 3] = [(2, 2, 2, 1), (6, 6, 6, 1), (6, 7, 6, 1)];
    let hybrid: [Shape; 6] =
        [(6, 2, 2, 1), (12, 4, 4, 1), (14, 7, 7, 1), (6, 1, 2, 1), (7, 3, 3, 1), (14, 4, 4, 1)];
    let mut rows = Vec::new();
    for (method, shapes) in [("BV", &bv[..]), ("GHS", &ghs), ("hybrid", &hybrid)] {
        for &shape in shapes {
            for (name, scheme) in SCHEMES {
                rows.extend(key_switch(method, (name, scheme), shape)?);
            }
        }
    }
    Ok(Table::new("Table 4", "counts of a key switch, in a run of the reference algorithms", rows))
}

/// The row of Table 4 for a key switch and, where it differs, the row of `[KPZ21, B.3]`.
fn key_switch(
    method: &'static str,
    (name, scheme): (&'static str, Scheme),
    (l, k, width, radix_digits): Shape,
) -> Result<Vec<Row>> {
    let [ciphertext, special] = bases(l, k)?;
    let setting = key_switching::Setting { ciphertext, special, width, scheme };
    let widths: Vec<u64> = setting.digits().iter().map(|(begin, end)| (end - begin) as u64).collect();
    let counts = count_switch(&setting, radix_bits(radix_digits))?;
    let [wide_l, wide_k, alpha, d] = [l, k, width, widths.len()].map(|x| x as u64);
    let even = alpha * d == wide_l && k == width;
    let (short, full) = match method {
        "BV" => (Some(formulas::bv(scheme, wide_l, radix_digits.into())), None),
        "GHS" => {
            (even.then(|| formulas::ghs_short(scheme, wide_l)), Some(formulas::ghs(scheme, wide_l, wide_k)))
        }
        _ => (
            even.then(|| formulas::hybrid_short(scheme, wide_l, d, alpha)),
            Some(formulas::hybrid(scheme, wide_l, wide_k, d, alpha)),
        ),
    };
    let reason = |printed: Counts| match counts == printed {
        true => None,
        false if even && counts == corrected::hybrid_short(scheme, wide_l, d, alpha) => Some(
            "2(ℓ + α) + d(ℓ + α) with d·α = ℓ is 3ℓ + α(d² + 2); the printed 2ℓ + α(d² + 3) takes α for ℓ",
        ),
        false if counts == corrected::hybrid(scheme, wide_l, wide_k, &widths) => Some(
            "the last digit is narrower: the formulas put d·α for ℓ and α·ℓ for the sum of the squared widths",
        ),
        false => None,
    };
    let row = |formula: &'static str, printed: Counts| {
        let row = Row::default().key("scheme", name).key("method", method).key("formula", formula);
        let row = row.key("l", l).key("k", k).key("alpha", width);
        let row = row.key("digits", widths.len() * radix_digits as usize);
        counted(row, counts, printed).because(reason(printed))
    };
    Ok([("Table 4", short), ("B.3", full)]
        .into_iter()
        .filter_map(|(formula, printed)| Some(row(formula, printed?)))
        .collect())
}

/// Bits of the radix that cuts 30-bit residues into `digits` digits; none for one digit.
fn radix_bits(digits: u32) -> Option<u32> {
    (digits > 1).then(|| 30_u32.div_ceil(digits))
}

fn some_key(setting: &key_switching::Setting, radix: Option<u32>) -> Result<key_switching::Key> {
    let secret: Vec<i64> = (0..DEGREE as i64).map(|i| i % 3 - 1).collect();
    let uniform = |q: u64| some(&setting.all(), 5).first().map_or_else(Vec::new, |limb| reduced(limb, q));
    key_switching::key(setting, radix, [&secret, &secret], uniform, || vec![1; DEGREE])
}

fn reduced(limb: &[u64], q: u64) -> Vec<u64> {
    limb.iter().map(|x| x % q).collect()
}

fn count_switch(setting: &key_switching::Setting, radix: Option<u32>) -> Result<Counts> {
    let key = some_key(setting, radix)?;
    let part = some(&setting.ciphertext, 6);
    let counter = Counter::default();
    match setting.special.moduli().is_empty() {
        true => key_switching::bv(&counter, setting, radix, &key, &part)?,
        false => key_switching::hybrid(&counter, setting, &key, &part)?,
    };
    Ok(counter.counts(DEGREE))
}

/// Table 5 of `[KPZ21]`: sizes of key-switching keys.
pub(super) fn table5() -> Result<Table> {
    let shapes: [(&str, Shape); 6] = [
        ("BV", (6, 0, 1, 1)),
        ("BV", (6, 0, 1, 2)),
        ("GHS", (6, 6, 6, 1)),
        ("hybrid", (6, 2, 2, 1)),
        ("hybrid", (12, 4, 4, 1)),
        ("hybrid", (7, 3, 3, 1)),
    ];
    let rows = shapes.iter().map(|&(method, shape)| key_size(method, shape)).collect::<Result<_, _>>()?;
    let title = format!(
        "bits of a key-switching key at N = {DEGREE}, counted in keys of the reference; Sunzi's own keys, which store residues in whole bytes"
    );
    Ok(Table::new("Table 5", title, rows))
}

fn key_size(method: &'static str, (l, k, width, radix_digits): Shape) -> Result<Row> {
    let [ciphertext, special] = bases(l, k)?;
    let setting = key_switching::Setting { ciphertext, special, width, scheme: Scheme::Bfv };
    let radix = radix_bits(radix_digits);
    let all = setting.all();
    // Every residue there is, by the width of its modulus.
    let bits: f64 = some_key(&setting, radix)?
        .iter()
        .flatten()
        .flat_map(|part| all.moduli().iter().zip(part))
        .map(|(&q, limb)| limb.len() as f64 * (q as f64).log2())
        .sum();
    let printed = setting.key_bits(DEGREE, radix_count(&setting.ciphertext, radix));
    let row = Row::default().key("method", method).key("l", l).key("k", k);
    let row = row.key("digits", setting.digits().len() * radix_digits as usize);
    let moduli = [&setting.ciphertext, &setting.special].map(Basis::moduli);
    let own = default_mode::key_bits(DEGREE, moduli, width, radix)?;
    Ok(row.printed("bits", printed.round() as u64, Some(bits.round() as u64)).ours("bits of Sunzi's", own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_as_printed_or_says_why_not() {
        for table in [table1().unwrap(), table4().unwrap(), table5().unwrap()] {
            for row in table.rows {
                assert_eq!(row.holds(), row.reason.is_none(), "{}: {row:?}", table.name);
            }
        }
    }

    #[test]
    fn few_rows_differ() {
        let differing = |table: Table| table.rows.iter().filter(|row| !row.holds()).count();
        assert_eq!(differing(table1().unwrap()), 4, "one level below the top for each k");
        assert_eq!(differing(table4().unwrap()), 7, "hybrid: short for BFV, and digits of unequal widths");
        assert_eq!(differing(table5().unwrap()), 0);
    }
}
