//! Report of the lookup as one page of HTML.

use sunzi::rlwe::words::{bytes, counted};

use super::report::Report;
use crate::html::{Page, Run};

impl Report {
    /// Returns the report of a lookup as a page.
    pub(super) fn page(&self) -> String {
        let line = format!("{}: {}", self.source, self.place.question());
        let outcome =
            if self.ok { "The encrypted answer is the one in the clear" } else { "The answers DIFFER" };
        let mut page = Page::new("A secret word among public ones", &line, (self.ok, outcome));
        page.section("Results");
        page.table(
            &["word", "is, encrypted", "in the clear"],
            [vec![
                self.word.clone(),
                self.place.listed(&self.positions),
                self.place.listed(&self.plain_positions),
            ]],
        );
        page.section("Differences");
        page.say(if self.ok { "None: the answer is exact." } else { "The positions are not the same." });
        page.section("Sizes");
        let sizes = &self.sizes;
        page.facts(&[
            ("keys", bytes(sizes.keys as u64)),
            ("the word", counted(sizes.query_ciphertexts, "ciphertext", "ciphertexts")),
            ("the answer", counted(sizes.answer_ciphertexts, "ciphertext", "ciphertexts")),
        ]);
        self.durations(&mut page);
        self.parameters(&mut page);
        page.finish()
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
            ("tables", times.tables),
            ("encode the public words", times.encode),
            ("make keys", times.keys),
            ("encrypt the word", times.encrypt),
            ("server searches", times.search),
            ("decrypt", times.decrypt),
        ];
        page.times(&steps, &run);
    }

    fn parameters(&self, page: &mut Page) {
        let (params, work) = (&self.params, &self.work);
        page.section("Parameters");
        page.facts(&[
            ("scheme", params.scheme.to_owned()),
            ("ring", format!("index {}, degree {}", params.ring_index, params.degree)),
            ("security", format!("{}; {:.0} bits of key modulus", params.security, params.log2_qp)),
            ("slots", format!("{} of GF({}^{})", params.slots, params.plain_modulus, params.slot_degree)),
            ("work", format!("{} products, {} Frobenius maps", work.products, work.automorphisms)),
            ("noise", format!("{:.1} bits left in the worst result", self.bits_left)),
        ]);
        page.seen(
            &[
                format!("the parameters: {}, ring degree {}, all moduli", params.scheme, params.degree),
                self.place.public(),
                format!("keys that compute and cannot decrypt: {}", bytes(self.sizes.keys as u64)),
                format!(
                    "{} with the word, and its length",
                    counted(self.sizes.query_ciphertexts, "ciphertext", "ciphertexts")
                ),
            ],
            &[
                "the word".to_owned(),
                "the answer: where the word is, and whether it is there at all".to_owned(),
                "the secret key".to_owned(),
            ],
        );
    }
}
