//! Rows of benchmark results, as JSON and as a table for people.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::alternate::Series;

/// Bar on the share of the memory bandwidth at which an operation is as fast as memory allows.
pub const BANDWIDTH_BAR: f64 = 0.8;

/// One timing of a benchmark. Times in microseconds for one call; sizes in bits; `None` where it does not apply.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Row {
    /// Name of the timed operation.
    pub name: String,
    /// Ring degree n of the timed operation.
    pub n: usize,
    /// log2 of the modulus that Sunzi worked with, or of the product of its moduli.
    pub log_q: f64,
    /// log2 of the modulus of Sunzi's keys, special moduli included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_key_modulus: Option<f64>,
    /// Median time of one call of Sunzi in microseconds.
    pub ours_us: f64,
    /// Name of the kernel table that Sunzi ran on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isa: Option<String>,
    /// Threads that Sunzi could use, where that is not one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
    /// Name of the library or variant that Sunzi is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// How the peer library was built and what it uses of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer_features: Option<String>,
    /// Whether the allocator of the peer keeps what it frees: `stock` or `kept`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// Reason why the row has no time of the peer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Secret, keys and sizes of Sunzi.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<About>,
    /// Secret, keys and sizes of the peer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer_about: Option<About>,
    /// Share of the memory bandwidth that Sunzi has: time of a plain loop over as many bytes / Sunzi's time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<f64>,
    /// log2 of the peer's modulus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer_log_q: Option<f64>,
    /// log2 of the modulus of the peer's keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer_log_key_modulus: Option<f64>,
    /// Reason why log2 of the modulus of the peer's keys is not within 3 % of Sunzi's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unequal: Option<String>,
    /// Work of the peer that is not Sunzi's in this operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differs: Option<String>,
    /// Median time of one call of the peer in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer_us: Option<f64>,
    /// Sunzi's time / the peer's: median over alternating rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Distance between the quartiles of the ratio of Sunzi's time to the peer's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// Number of transforms of one call, as counted while it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transforms: Option<u64>,
    /// Number of word products with constants of base conversions in one call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversion_products: Option<u64>,
    /// Value `ratio` would have if only transforms and conversions took time, each as long as one measured alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted_ratio: Option<f64>,
    /// Ratio of Sunzi's time for each bit of modulus to the peer's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_per_bit: Option<f64>,
    /// Bar on the ratio of Sunzi's time to the peer's, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bar: Option<f64>,
    /// Least time by the counted work, and Sunzi's time against it.
    #[serde(flatten, skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub bound: Option<Bound>,
    /// Whether every bar of this row that could be measured is met; `None` without any.
    pub met: Option<bool>,
    /// Whether the results of this row were checked and right.
    pub correct: bool,
    /// Number of rounds that the medians of this row are taken over.
    pub rounds: usize,
}

/// Parameters and sizes of one library in a comparison.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct About {
    /// log2 of the ciphertext modulus, where a library chooses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_q: Option<f64>,
    /// log2 of the modulus of the keys, where a library chooses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_key_modulus: Option<f64>,
    /// Number and bits of the moduli, those of ciphertexts and then the special ones, as `3×53.5 + 1×53.5`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moduli: Option<String>,
    /// Distribution of the secret key's coefficients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Bits of security that the table of 2024 gives a uniform ternary secret modulo QP: 128, 192, 256, or 0
    /// for less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_bits: Option<u32>,
    /// Number of digits of a key switch in the library.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digits: Option<usize>,
    /// log2 of the deviation of the flooding noise of one of several parties.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flooding_bits: Option<f64>,
    /// log2 of the modulus at which several parties make shares of a decryption.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_bits: Option<f64>,
    /// Bytes of what several parties send and store, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub bytes: BTreeMap<String, usize>,
    /// Bytes of a fresh ciphertext in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ciphertext_bytes: Option<usize>,
    /// Bytes of the relinearisation key in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relinearization_key_bytes: Option<usize>,
    /// Bytes of the key of one rotation in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub galois_key_bytes: Option<usize>,
}

/// Least time that counted work can take at the rates measured in the same rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Bound {
    /// The least time of the counted work in microseconds.
    pub bound_us: f64,
    /// Sunzi's time over `bound_us`, median over rounds.
    pub over_bound: f64,
    /// The bar on `over_bound`, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_bar: Option<f64>,
    /// The counts and rates that the least time follows from.
    #[serde(flatten)]
    pub counted: Counted,
}

/// The counted work of an operation, and the rates at which it can be done.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Counted {
    /// A transform: its bound is all instructions at the rate of a multiply-add loop.
    Instructions(Instructions),
    /// A key switch: its bound is all transforms at the time of one, and all bytes of the key at the rate of
    /// reading them.
    KeySwitch(KeySwitch),
}

/// Counts and rates of the vector instructions of a transform.
#[derive(Clone, Debug, Serialize)]
pub struct Instructions {
    /// Number of vector instructions of one transform, as counted in the kernels.
    pub instructions: u64,
    /// Number of a transform's vector instructions that multiply.
    pub multiplies: u64,
    /// Port bound in microseconds: the larger of multiplies at the rate of a multiply-add loop and all
    /// instructions at that of additions.
    pub port_bound_us: f64,
    /// Sunzi's time over `port_bound_us`, median over rounds.
    pub over_port_bound: f64,
    /// Rate of vector multiply-adds, in instructions a nanosecond.
    pub multiply_add_per_ns: f64,
    /// Rate of vector additions, in instructions a nanosecond.
    pub addition_per_ns: f64,
}

/// Counts and rates of the transforms and the key of a key switch.
#[derive(Clone, Debug, Serialize)]
pub struct KeySwitch {
    /// Number of forward transforms of one limb in a key switch.
    pub forward: u64,
    /// Number of inverse transforms of one limb in a key switch.
    pub inverse: u64,
    /// Time of one forward transform in microseconds.
    pub forward_us: f64,
    /// Time of one inverse transform in microseconds.
    pub inverse_us: f64,
    /// Bytes of the key of a key switch, read once.
    pub key_bytes: u64,
    /// Bytes a nanosecond when memory of the key's size is read in order.
    pub bytes_per_ns: f64,
}

impl Row {
    /// The row of results with the times of Sunzi and of the peer.
    pub fn against(self, ours: &Series, peer: String, theirs: &Series) -> Self {
        let ratio = ours.over(theirs);
        Self {
            ours_us: ours.median(),
            peer: Some(peer),
            peer_us: Some(theirs.median()),
            ratio: Some(ratio.median),
            spread: Some(ratio.spread),
            ..self
        }
    }

    /// Sets the field `met` from the bars that were measured. An operation bound by memory need not meet the
    /// bar on the ratio.
    pub fn judged(mut self) -> Self {
        let bound_by_memory = self.bandwidth.is_some_and(|share| share >= BANDWIDTH_BAR);
        let ratio = self.ratio.zip(self.bar).map(|(ratio, bar)| ratio <= bar || bound_by_memory);
        let bound = self.bound.as_ref().and_then(|bound| bound.bound_bar.map(|bar| bound.over_bound <= bar));
        self.met = match (ratio, bound) {
            (None, None) => None,
            (ratio, bound) => Some(ratio.unwrap_or(true) && bound.unwrap_or(true)),
        };
        self
    }
}

/// Whether every row that has a time was checked and right.
pub fn all_correct(rows: &[Row]) -> bool {
    rows.iter().all(|row| row.correct || row.failed.is_some())
}

/// The rows of a benchmark as a JSON array.
///
/// # Errors
/// A row of results that JSON cannot express.
pub fn json(rows: &[Row]) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(rows)
}

/// The rows of a benchmark as a table of aligned columns.
pub fn table(rows: &[Row]) -> String {
    let headings = cells(&Row::default()).map(|(heading, _)| heading.to_owned());
    // As many widths as there are columns: a column without one would be left out.
    let mut widths = headings.each_ref().map(|_| 0);
    let mut lines = vec![headings];
    lines.extend(rows.iter().map(|row| cells(row).map(|(_, cell)| cell)));
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().max(*width);
        }
    }
    // A column in which no row has anything is left out.
    let used = |column: usize| {
        lines.iter().skip(1).any(|line| line.get(column).is_some_and(|cell| !cell.is_empty()))
    };
    let mut text = String::new();
    for line in &lines {
        let columns = line.iter().zip(&widths).enumerate().filter(|(column, _)| used(*column));
        let shown: Vec<String> = columns
            .map(|(column, (cell, width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        text.push_str(shown.join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn cells(row: &Row) -> [(&'static str, String); 33] {
    let number = |value: Option<f64>, digits: usize| {
        value.map_or_else(String::new, |value| format!("{value:.digits$}"))
    };
    let bound = row.bound.as_ref();
    let instructions = bound.and_then(|bound| match &bound.counted {
        Counted::Instructions(counted) => Some(counted),
        Counted::KeySwitch(_) => None,
    });
    let switch = bound.and_then(|bound| match &bound.counted {
        Counted::KeySwitch(counted) => Some(counted),
        Counted::Instructions(_) => None,
    });
    let bars = [row.bar, bound.and_then(|bound| bound.bound_bar)];
    let bars: Vec<String> = bars.iter().flatten().map(|bar| format!("{bar:.2}")).collect();
    [
        ("name", row.name.clone()),
        ("n", row.n.to_string()),
        ("log q", format!("{:.1}", row.log_q)),
        ("log qp", number(row.log_key_modulus, 1)),
        ("ours µs", number(row.failed.is_none().then_some(row.ours_us), 2)),
        ("peer", row.peer.clone().unwrap_or_default()),
        ("memory", row.memory.clone().unwrap_or_default()),
        ("log q", number(row.peer_log_q, 1)),
        ("log qp", number(row.peer_log_key_modulus, 1)),
        ("moduli", row.peer_about.as_ref().and_then(|about| about.moduli.clone()).unwrap_or_default()),
        ("unequal", row.unequal.clone().unwrap_or_default()),
        ("peer µs", number(row.peer_us, 2)),
        ("ratio", number(row.ratio, 3)),
        ("spread", number(row.spread, 3)),
        ("predicted", number(row.predicted_ratio, 3)),
        ("counted", row.transforms.map_or_else(String::new, |transforms| transforms.to_string())),
        ("per bit", number(row.ratio_per_bit, 3)),
        ("bound µs", number(bound.map(|bound| bound.bound_us), 2)),
        ("over", number(bound.map(|bound| bound.over_bound), 2)),
        ("ports µs", number(instructions.map(|counted| counted.port_bound_us), 2)),
        ("over", number(instructions.map(|counted| counted.over_port_bound), 2)),
        ("madd/ns", number(instructions.map(|counted| counted.multiply_add_per_ns), 2)),
        ("add/ns", number(instructions.map(|counted| counted.addition_per_ns), 2)),
        (
            "transforms",
            switch.map_or_else(String::new, |counted| format!("{} + {}", counted.forward, counted.inverse)),
        ),
        (
            "each µs",
            switch.map_or_else(String::new, |counted| {
                format!("{:.1}, {:.1}", counted.forward_us, counted.inverse_us)
            }),
        ),
        ("key MB", number(switch.map(|counted| counted.key_bytes as f64 / 1e6), 1)),
        ("GB/s", number(switch.map(|counted| counted.bytes_per_ns), 1)),
        ("bandwidth", number(row.bandwidth, 2)),
        ("bar", bars.join(", ")),
        ("met", row.met.map_or_else(String::new, yes_no)),
        ("right", if row.failed.is_some() { String::new() } else { yes_no(row.correct) }),
        ("differs", row.differs.clone().unwrap_or_default()),
        ("no time since", row.failed.clone().unwrap_or_default()),
    ]
}

fn yes_no(value: bool) -> String {
    if value { "yes" } else { "NO" }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ratio: Option<f64>, over: Option<f64>) -> Row {
        let counted = Counted::KeySwitch(KeySwitch {
            forward: 6,
            inverse: 2,
            forward_us: 1.0,
            inverse_us: 2.0,
            key_bytes: 1 << 20,
            bytes_per_ns: 10.0,
        });
        let bound =
            over.map(|over_bound| Bound { bound_us: 10.0, over_bound, bound_bar: Some(1.4), counted });
        Row { name: "x".into(), ratio, bar: Some(0.65), bound, correct: true, ..Row::default() }
    }

    #[test]
    fn a_row_is_met_only_if_all_its_bars_are() {
        assert_eq!(row(Some(0.65), Some(1.4)).judged().met, Some(true));
        assert_eq!(row(Some(0.66), Some(1.4)).judged().met, Some(false));
        assert_eq!(row(Some(0.6), Some(1.41)).judged().met, Some(false));
        assert_eq!(row(None, Some(1.3)).judged().met, Some(true));
        assert_eq!(row(None, None).judged().met, None);
    }

    #[test]
    fn what_memory_bounds_need_not_be_faster() {
        let row = |bandwidth| Row { bandwidth, ..row(Some(0.66), None) }.judged().met;
        assert_eq!(row(Some(0.8)), Some(true));
        assert_eq!(row(Some(0.79)), Some(false));
    }

    #[test]
    fn rows_are_read_again() {
        let about = Some(About { digits: Some(3), ..About::default() });
        let rows = [Row { about, failed: Some("absent".into()), ..row(Some(0.5), None) }];
        let read: Vec<Row> = serde_json::from_str(&json(&rows).unwrap()).unwrap();
        assert_eq!(read[0].about.as_ref().unwrap().digits, Some(3));
        assert_eq!((read[0].ratio, read[0].failed.as_deref()), (Some(0.5), Some("absent")));
    }

    #[test]
    fn json_is_an_array_with_flat_bounds() {
        let text = json(&[row(Some(0.5), Some(1.2))]).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value[0]["over_bound"], 1.2);
        assert_eq!(value[0]["forward"], 6);
        assert_eq!(value[0]["ratio"], 0.5);
        assert!(value[0].get("peer").is_none());
        for key in ["name", "n", "log_q", "ours_us"] {
            assert!(value[0].get(key).is_some(), "{key}");
        }
    }

    #[test]
    fn the_table_leaves_out_empty_columns_and_aligns() {
        let text = table(&[row(None, None), row(None, None)]);
        assert!(!text.contains("peer"), "{text}");
        assert!(text.contains("right"), "{text}");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[1].chars().count(), lines[2].chars().count());
    }
}
