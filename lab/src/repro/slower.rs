//! Why a timing came out longer than the one printed, as far as it can be seen.

use super::Series;

/// What made a series of times longer than the `printed` seconds; none if nothing is known.
pub(crate) fn slower(series: &Series, printed: f64) -> Option<String> {
    let (least, rounds) = (series.least() * 1e-6, series.len());
    if least < printed {
        return Some(format!("other work ran beside: the fastest of {rounds} rounds took {least:.5} s"));
    }
    cfg!(debug_assertions).then(|| "built with overflow checks".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_faster_round_tells_of_other_work() {
        let series = Series::from_micros(vec![3e3, 1e3, 2e3]);
        assert!(slower(&series, 0.0015).unwrap().ends_with("fastest of 3 rounds took 0.00100 s"));
        assert_eq!(slower(&series, 0.0005).is_some(), cfg!(debug_assertions));
    }
}
