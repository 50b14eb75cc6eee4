//! The tables and figures of a paper, by their names.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use crate::LabError;

/// A table or figure of a paper; its text is the name it has on the command line.
pub trait Part: Copy + Debug + Display + PartialEq + FromStr<Err = LabError> + Send + Sync + 'static {
    /// Whether it is a drawing.
    fn is_figure(self) -> bool {
        self.to_string().starts_with("figure")
    }
}

/// Declares `Part`: the tables and figures of a paper in its order, each with the name it has on the command line.
macro_rules! parts {
    ($($(#[doc = $doc:literal])+ $part:ident = $name:literal,)+) => {
        /// A table or figure of the paper.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Part {
            $($(#[doc = $doc])+ $part,)+
        }

        impl Part {
            /// Every part, in the paper's order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$part),+];

            /// Its name: a kind and a number.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$part => $name,)+
                }
            }
        }

        impl $crate::repro::Part for Part {}

        impl ::std::fmt::Display for Part {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl ::std::str::FromStr for Part {
            type Err = $crate::LabError;

            fn from_str(name: &str) -> Result<Self, $crate::LabError> {
                Self::ALL.into_iter().find(|part| part.name() == name).ok_or_else(|| {
                    $crate::LabError::UnknownPart {
                        expected: Self::ALL.map(Self::name).join(", "),
                        got: name.to_owned(),
                    }
                })
            }
        }
    };
}
pub(crate) use parts;

#[cfg(test)]
mod tests {
    use crate::LabError;
    use crate::repro::{Part as _, akimoto, behz, kpz};

    #[test]
    fn parts_are_found_by_their_names_alone() {
        for part in behz::Part::ALL {
            assert_eq!(part.to_string().parse::<behz::Part>().unwrap(), part);
        }
        assert!(kpz::Part::Figure1.is_figure() && !kpz::Part::Table8.is_figure());
        let error = "table9".parse::<akimoto::Part>().unwrap_err();
        assert!(matches!(error, LabError::UnknownPart { .. }));
        assert!(error.to_string().contains("table2, figure1"), "{error}");
    }
}
