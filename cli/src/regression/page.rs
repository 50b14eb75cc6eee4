//! Report of the regression as one page of HTML.

use sunzi::rlwe::words::{bytes, counted};

use super::report::Report;
use crate::html::{Page, Run};

impl Report {
    /// Returns the report of a regression as a page.
    pub(super) fn page(&self) -> String {
        let line = format!(
            "{}: a logistic regression for \"{}\", trained on {}, {} held out",
            self.source,
            self.class,
            counted(self.rows_trained_on, "encrypted row", "encrypted rows"),
            self.rows_held_out
        );
        let outcome =
            if self.ok { "The encrypted model is the one in the clear" } else { "The models DIFFER" };
        let mut page = Page::new("A model trained on an encrypted table", &line, (self.ok, outcome));
        self.model(&mut page);
        let sizes = &self.sizes;
        page.section("Sizes");
        let bar = |name, size: usize| (name, size as f64, bytes(size as u64));
        page.bars(&[
            bar("keys for bootstrapping", sizes.bootstrap_keys),
            bar("encoded matrices", sizes.diagonals),
        ]);
        page.say(&format!("The table takes {}.", counted(sizes.ciphertexts, "ciphertext", "ciphertexts")));
        self.durations(&mut page);
        self.parameters(&mut page);
        page.finish()
    }

    fn model(&self, page: &mut Page) {
        page.section("Results");
        let percent = |share: f64| format!("{:.2} %", 100.0 * share);
        let accuracy = |name: &str, encrypted: f64, clear: f64| {
            let points = 100.0 * (encrypted - clear);
            vec![name.to_owned(), percent(encrypted), percent(clear), format!("{points:.2} points")]
        };
        let (own, clear) = (&self.encrypted, &self.clear);
        page.table(
            &["rows put where their labels say", "encrypted", "clear", "difference"],
            [
                accuracy("trained on", own.trained_on, clear.trained_on),
                accuracy("held out", own.held_out, clear.held_out),
            ],
        );
        page.part("Weights");
        let number = |value: f64| format!("{value:.6}");
        let row = |one: &super::report::Coefficient| {
            let difference = (one.encrypted - one.clear).abs();
            vec![
                one.feature.clone(),
                number(one.encrypted),
                number(one.clear),
                format!("{difference:.1e}"),
                number(one.per_unit),
            ]
        };
        let headers = ["feature", "weight, encrypted", "clear", "difference", "for one unit of the feature"];
        page.table(&headers, self.coefficients.iter().map(row));
        page.section("Differences");
        page.say(&format!(
            "Weights of scaled features differ by at most {:.1e} from those that the same algorithm finds in the clear.",
            self.largest_difference
        ));
    }

    fn durations(&self, page: &mut Page) {
        let times = &self.times;
        let run = Run {
            seconds: self.seconds,
            threads: self.threads,
            isa: &self.isa,
            peak: self.peak_memory_bytes,
        };
        let steps = [
            ("tables", times.context),
            ("make keys", times.keys),
            ("matrices of bootstrapping", times.diagonals),
            ("encrypt", times.encrypt),
            ("server trains", times.train),
            ("of it bootstrapping", times.bootstrap),
            ("decrypt", times.decrypt),
        ];
        page.times(&steps, &run);
    }

    fn parameters(&self, page: &mut Page) {
        let params = &self.params;
        page.section("Parameters");
        page.facts(&[
            ("set", params.set.to_owned()),
            ("ring degree", params.degree.to_string()),
            ("security", format!("{}; {:.0} bits of key modulus", params.security, params.log2_qp)),
            ("levels", params.levels.to_string()),
            ("slots", format!("{}, {} a row", params.slots, params.row)),
            ("training", format!("{} iterations, {} bootstrappings", self.iterations, self.refreshes)),
            (
                "failure",
                format!("a bootstrapping fails with a probability of at most 2^{:.0}", params.log2_failure),
            ),
        ]);
        page.seen(
            &[
                format!("the parameters: CKKS, ring degree {}, all moduli", params.degree),
                format!(
                    "the algorithm: {} iterations, rate {}, {} a row",
                    self.iterations,
                    self.rate,
                    counted(params.row, "slot", "slots")
                ),
                format!(
                    "how many rows and features there are: {} and {}",
                    self.rows_trained_on,
                    self.coefficients.len().saturating_sub(1)
                ),
                format!("keys that compute and cannot decrypt: {}", bytes(self.sizes.bootstrap_keys as u64)),
                format!("{} of the table", counted(self.sizes.ciphertexts, "ciphertext", "ciphertexts")),
            ],
            &[
                "any cell of the table, and its range".to_owned(),
                "the label of any row, and how many rows have it".to_owned(),
                "the names of features".to_owned(),
                "the model: weights stayed encrypted from the first iteration to the last".to_owned(),
                "the secret key".to_owned(),
            ],
        );
    }
}
