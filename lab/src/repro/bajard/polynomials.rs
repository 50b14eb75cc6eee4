//! Montgomery's reduction modulo polynomials that are not cyclotomic, to which `[BEHMSZ17, 6]` says that it extends.

use std::time::{Duration, Instant};

use sunzi_math::primes_with_bits;
use sunzi_univariate::PolynomialReducer;

use super::formulas::Lengths;
use super::{MODULUS_BITS, Options};
use crate::repro::{Result, Row, Table, Timed, alternate_timed};

/// Number of products that are timed together.
const REPEATS: usize = 4;

/// Terms of a polynomial below the leading one: exponents and coefficients.
type Terms = &'static [(usize, i64)];

/// Polynomials: their names, degrees, and terms below the leading one.
const POLYNOMIALS: [(&str, usize, Terms); 4] = [
    ("X^n - X - 1", 2039, &[(0, -1), (1, -1)]),
    ("X^n - X - 1", 8191, &[(0, -1), (1, -1)]),
    ("X^n + X^3 + 1", 8192, &[(0, 1), (3, 1)]),
    ("X^n - 2X^1024 + 3", 16_384, &[(0, 3), (1024, -2)]),
];

/// Speed-ups of Montgomery's reduction over Barrett's modulo other polynomials; every product is reduced both ways and compared.
pub(super) fn table(options: &Options) -> Result<Table> {
    let mut rows = Vec::new();
    for (name, n, terms) in POLYNOMIALS.into_iter().filter(|(_, n, _)| *n as u64 <= options.reduction_index) {
        let lengths = Lengths::new(n);
        let mut f = vec![0; n + 1];
        for (at, c) in terms.iter().chain(&[(n, 1)]) {
            f.iter_mut().skip(*at).take(1).for_each(|x| *x += c);
        }
        let q =
            primes_with_bits(MODULUS_BITS, lengths.whole.max(128) as u64, 1)?.first().copied().unwrap_or(2);
        let subject = Subject::new(PolynomialReducer::new(&f, q)?)?;
        subject.check(&f, q, name)?;
        let mut contenders: Vec<Timed<'_>> =
            vec![Box::new(|| subject.time(false)), Box::new(|| subject.time(true))];
        let times = alternate_timed(options.budget, &mut contenders)?;
        let speed_up =
            times.first().zip(times.get(1)).map_or(f64::NAN, |(plain, own)| own.speed_up_over(plain));
        rows.push(
            Row::default()
                .key("f", name)
                .key("n", n)
                .ours("speed_up by the paper's count", (lengths.montgomery_speed_up(), 2))
                .ours("speed_up measured", (speed_up, 2))
                .because(Some(
                    "the paper says that other polynomials can be had, and has no number for them",
                )),
        );
    }
    let title = "Alg. 3 over Alg. 1 modulo one prime of 62 bits and polynomials that are not cyclotomic";
    Ok(Table::new("Other polynomials", title, rows))
}

/// Values of a product of two polynomials, to reduce.
struct Subject {
    reducer: PolynomialReducer,
    values: Vec<u64>,
}

impl Subject {
    fn new(reducer: PolynomialReducer) -> Result<Self> {
        let words = |step: u64| -> Result<Vec<u64>> {
            let mut words: Vec<u64> = (1..=reducer.degree() as u64).map(|i| i * i * step).collect();
            words.resize(reducer.length(), 0);
            reducer.transform(&mut words)?;
            Ok(words)
        };
        let mut values = words(3)?;
        reducer.multiply(&mut values, &words(5)?)?;
        Ok(Self { reducer, values })
    }

    /// Checks that Montgomery's result times M = X^(N/2) + 1 is Barrett's.
    fn check(&self, f: &[i64], q: u64, name: &'static str) -> Result<()> {
        let n = self.reducer.degree();
        let mut plain = self.values.clone();
        self.reducer.reduce(&mut plain)?;
        let mut divided = self.values.clone();
        self.reducer.reduce_and_divide(&mut divided)?;
        // r·(X^(N/2) + 1) modulo f, from the top.
        let half = self.reducer.length() / 2;
        let mut back = vec![0_u64; half + n];
        for (i, &c) in divided.iter().take(n).enumerate() {
            for at in [i, i + half] {
                back.iter_mut().skip(at).take(1).for_each(|x| *x = add(*x, c, q));
            }
        }
        let terms: Vec<(usize, i64)> =
            f.iter().copied().enumerate().take(n).filter(|(_, c)| *c != 0).collect();
        while back.len() > n {
            let top = back.pop().unwrap_or(0);
            let start = back.len() - n;
            for (at, c) in &terms {
                let product = i128::from(top) * i128::from(-c);
                let product = product.rem_euclid(i128::from(q)) as u64;
                back.iter_mut().skip(start + at).take(1).for_each(|x| *x = add(*x, product, q));
            }
        }
        let right = plain.get(..n) == Some(&back[..]);
        crate::repro::LabError::unless(right, "reduction", name, n)
    }

    fn time(&self, montgomery: bool) -> Result<Duration> {
        let mut all = vec![self.values.clone(); REPEATS];
        let begin = Instant::now();
        for values in &mut all {
            match montgomery {
                true => self.reducer.reduce_and_divide(values)?,
                false => self.reducer.reduce(values)?,
            }
        }
        Ok(begin.elapsed() / REPEATS as u32)
    }
}

fn add(a: u64, b: u64, q: u64) -> u64 {
    ((u128::from(a) + u128::from(b)) % u128::from(q)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_reduction_is_seen() {
        let mut f = vec![0; 68];
        (f[0], f[1], f[67]) = (-1, -1, 1);
        let q = primes_with_bits(MODULUS_BITS, 256, 1).unwrap()[0];
        let subject = Subject::new(PolynomialReducer::new(&f, q).unwrap()).unwrap();
        subject.check(&f, q, "f").unwrap();
        f[1] = 1;
        assert!(subject.check(&f, q, "another").is_err());
    }
}
