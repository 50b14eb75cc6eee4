//! The tables and figures of a paper, by their names.

use std::fmt::Debug;

/// A table or figure of a reproduced paper.
pub trait Part: Copy + Debug + PartialEq + Send + Sync + 'static {
    /// Every table and figure of a reproduced paper, in its order.
    const ALL: &'static [Self];

    /// Name of the table or figure on the command line: a kind and a number.
    fn name(self) -> &'static str;

    /// Whether a part of a reproduced paper is a figure.
    fn is_figure(self) -> bool {
        self.name().starts_with("figure")
    }

    /// The table or figure of a reproduced paper with the name `name`.
    ///
    /// # Errors
    /// A name that no table or figure has; the error lists all names.
    fn parse(name: &str) -> Result<Self, String> {
        let unknown = || {
            let expected: Vec<&str> = Self::ALL.iter().map(|part| part.name()).collect();
            format!("expected {}, got {name:?}", expected.join(", "))
        };
        Self::ALL.iter().copied().find(|part| part.name() == name).ok_or_else(unknown)
    }
}

/// Declares `Part`: the tables and figures of a paper in its order, each with the name it has on the command line.
macro_rules! parts {
    ($($(#[doc = $doc:literal])+ $part:ident = $name:literal,)+) => {
        /// A table or figure of the reproduced paper.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Part {
            $($(#[doc = $doc])+ $part,)+
        }

        impl $crate::repro::Part for Part {
            const ALL: &'static [Self] = &[$(Self::$part),+];

            fn name(self) -> &'static str {
                match self {
                    $(Self::$part => $name,)+
                }
            }
        }
    };
}
pub(crate) use parts;

#[cfg(test)]
mod tests {
    use crate::repro::{Part as _, akimoto, behz, kpz};

    #[test]
    fn parts_are_found_by_their_names_alone() {
        for &part in behz::Part::ALL {
            assert_eq!(behz::Part::parse(part.name()).unwrap(), part);
        }
        assert!(kpz::Part::Figure1.is_figure() && !kpz::Part::Table8.is_figure());
        let error = akimoto::Part::parse("table9").unwrap_err();
        assert_eq!(
            error,
            "expected table1, table2, figure1, figure2, threads, precision, text, got \"table9\""
        );
    }
}
