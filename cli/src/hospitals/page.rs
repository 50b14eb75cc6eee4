//! Report of the three hospitals as one page of HTML.

use sunzi::rlwe::words::{bytes, counted};

use super::report::{Part, Report};
use crate::html::{Page, Run};

impl Report {
    /// Returns the report of the hospitals as a page.
    pub(super) fn page(&self) -> String {
        let mut page =
            Page::new("Three hospitals, and no one's rows", &self.title(), (self.ok, &self.outcome()));
        page.section("Results");
        page.part("Statistics of all rows");
        page.table(
            &["result", "opened", "in the clear", "error", "bound"],
            self.statistics.iter().map(|check| check.row(6)),
        );
        page.part("A logistic regression on all rows");
        let headers = self.weight_headers();
        page.table(&headers.each_ref().map(String::as_str), self.weight_rows());
        page.say(&format!("Rows put where their labels say: {}.", self.accuracies()));
        page.section("Who holds what, and who learnt what");
        page.table(
            &["hospital", "rows", "opened results", "ledger of the sums", "ledger of the regression"],
            self.member_rows(),
        );
        for sentence in self.holding().into_iter().chain(self.learnt()) {
            page.say(&sentence);
        }
        self.sizes(&mut page);
        self.durations(&mut page);
        self.parameters(&mut page);
        self.server(&mut page);
        page.finish()
    }

    /// Both computations, with their names.
    fn both(&self) -> [(&'static str, &Part); 2] {
        [("sums", &self.sums), ("regression", &self.regression)]
    }

    fn sizes(&self, page: &mut Page) {
        page.section("Sizes");
        for (name, part) in self.both() {
            let (sizes, bar) = (&part.sizes, |name, size: u64| (name, size as f64, bytes(size)));
            page.part(&format!("Of the {name}"));
            page.bars(&[
                bar("from each hospital to each other one, for keys", sizes.keys.sent),
                bar("keys of the server", sizes.keys.server),
                bar("joint public key", sizes.keys.public),
                bar("one ciphertext", sizes.ciphertext_bytes),
            ]);
        }
    }

    fn durations(&self, page: &mut Page) {
        let run = Run {
            seconds: self.seconds,
            threads: self.threads,
            isa: &self.isa,
            peak: self.peak_memory_bytes,
        };
        let (sums, regression) = (&self.sums.times, &self.regression.times);
        let steps = [
            ("sums: parameters", sums.parameters),
            ("sums: six rounds for keys", sums.keys),
            ("sums: dealing the threshold", sums.dealing),
            ("sums: encrypt", sums.encrypt),
            ("sums: server", sums.server),
            ("sums: two hospitals open", sums.open),
            ("regression: tables", regression.parameters),
            ("regression: six rounds for keys", regression.keys),
            ("regression: dealing the threshold", regression.dealing),
            ("regression: encrypt", regression.encrypt),
            ("regression: rehearsals", regression.rehearse),
            ("regression: server trains", regression.server),
            ("regression: two hospitals refresh", regression.refresh),
            ("regression: two hospitals open", regression.open),
        ];
        page.times(&steps, &run);
    }

    fn parameters(&self, page: &mut Page) {
        page.section("Parameters");
        for (name, part) in self.both() {
            let ring = &part.ring;
            page.part(&format!("Of the {name}"));
            page.facts(&[
                ("scheme", format!("{}{}", ring.scheme, ring.detail())),
                ("ring degree", ring.degree.to_string()),
                ("security", format!("{}; {:.0} bits of key modulus", ring.security, ring.log2_qp)),
                ("opened", format!("{} of {}", part.sizes.results, part.may_open)),
            ]);
        }
        let model = &self.model;
        page.say(&format!(
            "Training: {}, {}, rate {}, scores within {}.",
            counted(model.iterations, "iteration", "iterations"),
            counted(model.refreshes, "refresh", "refreshes"),
            model.rate,
            model.width
        ));
    }

    fn server(&self, page: &mut Page) {
        let mut seen = vec![
            "the parameters, of which the plaintext modulus bounds sums of squares".to_owned(),
            "the columns' names, and how many rows each hospital has".to_owned(),
            format!("the algorithm: {}", counted(self.model.iterations, "iteration", "iterations")),
        ];
        seen.extend(self.server_saw());
        let unseen = [
            "any cell of the table".to_owned(),
            "the label of any row".to_owned(),
            "any result: shares of them go to the hospitals".to_owned(),
            "any secret key, or a share of one".to_owned(),
        ];
        page.seen(&seen, &unseen);
    }
}
