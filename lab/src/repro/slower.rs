//! Why a timing came out longer than the one printed, as far as it can be seen.

use std::fs;

use super::Series;

/// What made a series of times longer than the `printed` seconds; none if nothing is known. `waited` is the share of
/// the time in which this thread waited for a processor.
pub(crate) fn slower(series: &Series, printed: f64, waited: f64) -> Option<String> {
    let (least, rounds) = (series.least() * 1e-6, series.len());
    if least < printed {
        return Some(format!("other work ran beside: the fastest of {rounds} rounds took {least:.5} s"));
    }
    if least * (1.0 - waited) < printed {
        let percent = 100.0 * waited;
        return Some(format!(
            "other work ran beside: this thread waited for a processor {percent:.0} % of the time"
        ));
    }
    cfg!(debug_assertions).then(|| "built with overflow checks".to_owned())
}

/// Nanoseconds in which this thread has run, and in which it has waited for a processor.
pub(crate) struct Waited([f64; 2]);

impl Waited {
    /// Begins to count the time in which this thread waits.
    pub(crate) fn begin() -> Self {
        Self(Self::now().unwrap_or_default())
    }

    fn now() -> Option<[f64; 2]> {
        let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let mut words = text.split_whitespace().map(str::parse);
        Some([words.next()?.ok()?, words.next()?.ok()?])
    }

    /// Share of the time since, 0 to 1, in which this thread waited; 0 where the system does not say.
    pub(crate) fn share(&self) -> f64 {
        let Some([ran, waited]) = Self::now() else { return 0.0 };
        let [ran, waited] = [ran - self.0[0], waited - self.0[1]];
        let all = ran + waited;
        if all > 0.0 { (waited / all).clamp(0.0, 1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_faster_round_or_a_wait_tells_of_other_work() {
        let series = Series::from_micros(vec![3e3, 1e3, 2e3]);
        assert!(slower(&series, 0.0015, 0.0).unwrap().ends_with("fastest of 3 rounds took 0.00100 s"));
        assert!(slower(&series, 0.0005, 0.75).unwrap().contains("a processor 75 %"));
        assert_eq!(slower(&series, 0.0005, 0.25).is_some(), cfg!(debug_assertions));
    }

    #[test]
    fn a_share_is_a_share() {
        let waited = Waited::begin();
        assert!((0.0..=1.0).contains(&waited.share()));
        // All that was waited for and nothing that ran: as from a clock that began later.
        let ahead = Waited(Waited::now().unwrap_or_default().map(|now| now + 1e18));
        assert_eq!(ahead.share(), 0.0);
    }
}
