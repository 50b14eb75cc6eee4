//! Report of the three hospitals as text for people, and the sentences that the page has too.

use sunzi::rlwe::words::{bytes, counted};

use super::parts::QUORUM;
use super::report::{Check, Part, Report};
use crate::columns::{empty_table, right_align};
use crate::output::verdict;

impl Report {
    /// Returns the report of the hospitals as text for people.
    pub(super) fn text(&self) -> String {
        let memory =
            self.peak_memory_bytes.map_or_else(String::new, |peak| format!(", {} at most", bytes(peak)));
        let all: Vec<String> =
            self.holding().into_iter().chain(self.learnt()).chain(self.server_saw()).collect();
        format!(
            "{}\n\n{}\n\n{}\n\n{}{}machine      {} kernels, {} threads{memory}; {:.1} s in all\n\n{}\n\n{}\n\n\
             accuracy     {}\n{}\n",
            self.title(),
            self.members(),
            all.join("\n"),
            describe("sums", &self.sums),
            describe("regression", &self.regression),
            self.isa,
            self.threads,
            self.seconds,
            self.results(),
            self.weights(),
            self.accuracies(),
            verdict(self.ok, &self.outcome()),
        )
    }

    /// Returns the title of the report: the computation, and whose rows it is over.
    pub(super) fn title(&self) -> String {
        format!(
            "{}: statistics and a logistic regression for \"{}\" over {} of three hospitals",
            self.source,
            self.class,
            counted(self.rows, "row", "rows")
        )
    }

    /// Whether results are what they are in the clear.
    pub(super) fn outcome(&self) -> String {
        match self.outside() {
            0 => format!("all {} opened results are within their bounds", self.checked()),
            wrong => format!("{wrong} of {} opened results are OUTSIDE of their bounds", self.checked()),
        }
    }

    /// Who holds what.
    pub(super) fn holding(&self) -> Vec<String> {
        vec![
            "Each hospital holds its own rows and its own share of two joint secrets. Nobody has a whole secret key, and nobody ever had one.".to_owned(),
            format!(
                "Any {} of the three decrypt together: here {} did, and the third was not asked.",
                self.threshold,
                QUORUM.join(" and ")
            ),
        ]
    }

    /// Returns sentences on what each hospital of the report learnt.
    pub(super) fn learnt(&self) -> Vec<String> {
        vec![
            "Each hospital learnt the results below, over the rows of all; how many rows each of the others has; and no row of another.".to_owned(),
            format!(
                "The state of the training was never opened: {} refreshed it {}, by shares that hide it.",
                QUORUM.join(" and "),
                counted(self.model.refreshes, "time", "times")
            ),
            format!(
                "What is opened under one secret is together within 2^-{} of what tells nothing of noise, and so of the secret. Ledgers count each result, and every refresh, before a share leaves.",
                self.statistical_bits
            ),
        ]
    }

    /// Returns sentences on the keys and ciphertexts that the server of the report saw.
    pub(super) fn server_saw(&self) -> Vec<String> {
        let of = |what: &str, part: &Part, at: fn(&[usize; 2]) -> usize| {
            let count: usize = self.hospitals.iter().map(|hospital| at(&hospital.ciphertexts)).sum();
            let (keys, each) = (part.sizes.keys.server, part.sizes.ciphertext_bytes);
            format!(
                "The server saw {} of keys that cannot decrypt, and {} with rows, {} together, for the {what}.",
                bytes(keys),
                counted(count, "ciphertext", "ciphertexts"),
                bytes(each * count as u64)
            )
        };
        vec![of("sums", &self.sums, |of| of[0]), of("regression", &self.regression, |of| of[1])]
    }

    /// A table of the hospitals.
    fn members(&self) -> String {
        let mut table =
            empty_table(&["hospital", "rows", "opened results", "ledger of the sums", "of the regression"]);
        for row in self.member_rows() {
            table.add_row(row);
        }
        right_align(&mut table, 1..5);
        table.to_string()
    }

    pub(super) fn member_rows(&self) -> impl Iterator<Item = Vec<String>> {
        self.hospitals.iter().map(|hospital| {
            let [sums, regression] = hospital.counted;
            vec![
                hospital.name.to_owned(),
                hospital.rows.to_string(),
                if hospital.opened { "yes" } else { "no" }.to_owned(),
                format!("{sums} of {}", self.sums.may_open),
                format!("{regression} of {}", self.regression.may_open),
            ]
        })
    }

    /// A table of the statistics.
    fn results(&self) -> String {
        let mut table = empty_table(&["result", "opened", "in the clear", "error", "bound"]);
        for check in &self.statistics {
            table.add_row(check.row(6));
        }
        right_align(&mut table, 1..5);
        table.to_string()
    }

    /// A table of the weights.
    fn weights(&self) -> String {
        let headers = self.weight_headers();
        let mut table = empty_table(&headers.each_ref().map(String::as_str));
        for row in self.weight_rows() {
            table.add_row(row);
        }
        right_align(&mut table, 1..7);
        table.to_string()
    }

    pub(super) fn weight_headers(&self) -> [String; 7] {
        let plain = format!("in the clear, {}", counted(self.model.iterations, "iteration", "iterations"));
        ["result", "opened", &plain, "error", "bound", "for one unit", "200 iterations"].map(str::to_owned)
    }

    pub(super) fn weight_rows(&self) -> impl Iterator<Item = Vec<String>> {
        let converged = |at: usize| {
            let weight = self.model.converged.as_ref().and_then(|weights| weights.get(at));
            weight.map_or_else(|| "–".to_owned(), |weight| format!("{weight:.4}"))
        };
        self.model.weights.iter().zip(&self.model.per_unit).enumerate().map(move |(at, (check, per_unit))| {
            let mut row = check.row(6);
            row.extend([format!("{per_unit:.6}"), converged(at)]);
            row
        })
    }

    /// Shares of rows that the models put where their labels say.
    pub(super) fn accuracies(&self) -> String {
        let percent = |share: f64| format!("{:.2} %", 100.0 * share);
        let of = &self.model.accuracy;
        let converged = of.converged.map_or_else(String::new, |share| {
            format!(", after 200 iterations in the clear {}", percent(share))
        });
        format!("opened {}, in the clear {}{converged}", percent(of.opened), percent(of.plain))
    }
}

impl Check {
    /// The result as cells of a table.
    pub(super) fn row(&self, decimals: usize) -> Vec<String> {
        let number =
            |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.decimals$}"));
        let small = |value: f64| if value == 0.0 { "0".to_owned() } else { format!("{value:.1e}") };
        vec![
            self.name.clone(),
            number(self.opened),
            number(self.plain),
            self.error.map_or_else(|| "–".to_owned(), small),
            small(self.bound),
        ]
    }
}

/// Parameters and times of a computation, on lines of their own.
fn describe(name: &str, part: &Part) -> String {
    let Part { ring, times, sizes, .. } = part;
    format!(
        "{name:<12} {}, n = {}, log2 QP = {:.1} of {} moduli, security {}{}\n\
         keys         {} from each hospital to each other one; {} the public key\n\
         seconds      parameters {:.1}, keys {:.1}, dealing {:.2}, encryption {:.2}, rehearsal {:.2}, server {:.1}, refreshes {:.1}, opening {:.2}\n",
        ring.scheme,
        ring.degree,
        ring.log2_qp,
        ring.moduli,
        ring.security,
        ring.detail(),
        bytes(sizes.keys.sent),
        bytes(sizes.keys.public),
        times.parameters,
        times.keys,
        times.dealing,
        times.encrypt,
        times.rehearse,
        times.server,
        times.refresh,
        times.open,
    )
}

impl super::report::Ring {
    /// Returns the figures of a ring that one scheme alone has: a plaintext modulus, or scales and levels.
    pub(super) fn detail(&self) -> String {
        match (self.plain_modulus, self.scale_bits, self.levels) {
            (Some(t), ..) => format!(", t = {t}"),
            (None, Some(bits), Some(levels)) => format!(", scales of {bits} bits, {levels} levels"),
            _ => String::new(),
        }
    }
}
