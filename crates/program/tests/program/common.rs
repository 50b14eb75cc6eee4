//! Random programs and tables for tests.

use sunzi_program::run::{Cells, Table};
use sunzi_program::{Column, Schema};

/// Generator of pseudo-random numbers that draws programs.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }

    /// Draws an expression with a number in every row.
    fn rows(&mut self, depth: u32) -> String {
        let leaf = ["x", "y", "z", "c", "(region == \"b\")", "(sex != \"m\")", "2", "-0.5", "(c > 3)"];
        if depth == 0 {
            return self.of(&leaf).to_owned();
        }
        let (a, b) = (self.rows(depth - 1), self.rows(depth - 1));
        match self.below(7) {
            0 | 1 => format!("({a} + {b})"),
            2 => format!("({a} - {b})"),
            3 | 4 => format!("{a} * {b}"),
            5 => format!("({a})^{}", self.below(3)),
            _ => format!("poly({a}, 1, -2, 0.5)"),
        }
    }

    pub(crate) fn statement(&mut self) -> String {
        let depth = self.below(3) as u32;
        let (a, b) = (self.rows(depth), self.rows(1));
        let by = ["", "", " by region", " by sex", " by region, sex"];
        let total = match self.below(7) {
            0 => format!("sum({a})"),
            1 => format!("mean({a})"),
            2 => format!("var({a})"),
            3 => format!("cov({a}, {b})"),
            4 => format!("corr({a}, {b})"),
            5 => format!("dot({a}, {b})"),
            _ => return a,
        };
        format!("{total}{}", self.of(&by))
    }
}

/// Returns a schema with columns of every kind, of small numbers.
pub(crate) fn schema(rows: u64) -> Schema {
    let columns = vec![
        Column::integer("x", -5, 9),
        Column::decimal("y", 1, 3, 25),
        Column::integer("z", 2, 4),
        Column::integer("c", 0, 7).in_the_clear(),
        Column::category("region", &["a", "b", "c"]),
        Column::category("sex", &["f", "m"]).in_the_clear(),
    ];
    Schema::new(rows, columns).unwrap()
}

/// Draws the cells of a table.
pub(crate) fn table(schema: &Schema, draw: &mut Draw) -> Table {
    let rows = schema.rows;
    let mut units = |low: i64, high: i64| {
        Cells::Units((0..rows).map(|_| low + draw.below((high - low + 1) as u64) as i64).collect())
    };
    let numbers = [units(-5, 9), units(3, 25), units(2, 4), units(0, 7)];
    let labels = [3, 2].map(|n| Cells::Labels((0..rows).map(|_| draw.below(n) as u32).collect()));
    Table::new(schema, numbers.into_iter().chain(labels).collect()).unwrap()
}
