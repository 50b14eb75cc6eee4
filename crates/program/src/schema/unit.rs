//! Units of columns of dates and times, which are numbers like any others.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Duration that a column of dates or times counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Days of 24 hours.
    Days,
    /// Hours.
    Hours,
    /// Minutes.
    Minutes,
    /// Seconds, of which a day has 86 400.
    Seconds,
    /// Thousandths of a second.
    Milliseconds,
    /// Millionths of a second.
    Microseconds,
}

/// Origin from which a column of dates or times counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// 1970-01-01, at midnight UTC where times count.
    Epoch,
    /// Midnight of the same day, for times of day.
    Midnight,
}

/// Unit of a column of dates or times, such as "days since 1970-01-01".
///
/// ```
/// use sunzi_program::schema::{Origin, TimeUnit, Unit};
///
/// let unit = Unit { time: TimeUnit::Days, since: Origin::Epoch };
/// assert_eq!(unit.to_string(), "days since 1970-01-01");
/// assert_eq!(Unit::try_from("days since 1970-01-01".to_owned()), Ok(unit));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Unit {
    /// Duration that the column counts.
    pub time: TimeUnit,
    /// Origin from which the column counts.
    pub since: Origin,
}

impl TimeUnit {
    /// All units of time, the largest one first.
    pub const ALL: [Self; 6] =
        [Self::Days, Self::Hours, Self::Minutes, Self::Seconds, Self::Milliseconds, Self::Microseconds];

    /// Name of the unit of time.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Days => "days",
            Self::Hours => "hours",
            Self::Minutes => "minutes",
            Self::Seconds => "seconds",
            Self::Milliseconds => "milliseconds",
            Self::Microseconds => "microseconds",
        }
    }

    /// Returns the unit of time with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.name() == name)
    }

    /// Number of nanoseconds of the unit of time.
    #[must_use]
    pub fn nanoseconds(self) -> i64 {
        match self {
            Self::Days => 86_400_000_000_000,
            Self::Hours => 3_600_000_000_000,
            Self::Minutes => 60_000_000_000,
            Self::Seconds => 1_000_000_000,
            Self::Milliseconds => 1_000_000,
            Self::Microseconds => 1_000,
        }
    }
}

impl Origin {
    /// All origins.
    pub const ALL: [Self; 2] = [Self::Epoch, Self::Midnight];

    /// Name of the origin.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Epoch => "1970-01-01",
            Self::Midnight => "midnight",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} since {}", self.time.name(), self.since.name())
    }
}

impl From<Unit> for String {
    fn from(unit: Unit) -> Self {
        unit.to_string()
    }
}

impl TryFrom<String> for Unit {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let unit = text.split_once(" since ").and_then(|(time, since)| {
            let since = Origin::ALL.into_iter().find(|origin| origin.name() == since)?;
            Some(Self { time: TimeUnit::named(time)?, since })
        });
        unit.ok_or_else(|| {
            format!("there is no unit {text:?}: give one such as \"days since 1970-01-01\" or \"seconds since midnight\"")
        })
    }
}
