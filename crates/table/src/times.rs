//! Dates and times as they stand in tables: texts, and what Parquet has.

use std::fmt;

use chrono::format::{Item, StrftimeItems};
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};
use sunzi_program::schema::{Origin, TimeUnit, Unit};

/// Largest number of bytes of a text that may be a date or a time.
const LONGEST: usize = 64;

/// A date or a time, in nanoseconds since its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Origin that the nanoseconds count from.
    pub since: Origin,
    /// Number of nanoseconds since the origin.
    pub nanoseconds: i128,
    /// Whether the moment is a date without a time of day.
    pub is_date: bool,
}

/// A pattern by which a table writes its dates or times, in the letters of `strftime`, such as `%d.%m.%Y`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateFormat(String);

impl DateFormat {
    /// Makes a pattern after a check of its letters.
    ///
    /// ```
    /// use sunzi_table::{DateFormat, Moment};
    ///
    /// let format = DateFormat::new("%d.%m.%Y")?;
    /// assert_eq!(Moment::parse("17.05.2024", Some(&format)), Moment::parse("2024-05-17", None));
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// A text in words for a pattern without such letters, and for letters that do not exist.
    pub fn new(pattern: &str) -> Result<Self, String> {
        let items: Vec<Item<'_>> = StrftimeItems::new(pattern).collect();
        let has_field = items.iter().any(|item| !matches!(item, Item::Literal(_) | Item::Space(_)));
        if !has_field || items.contains(&Item::Error) {
            return Err(format!("expected a pattern such as %d.%m.%Y or %m/%d/%Y %H:%M, got {pattern:?}"));
        }
        Ok(Self(pattern.to_owned()))
    }

    fn parse(&self, text: &str) -> Option<Moment> {
        let of_time = || NaiveTime::parse_from_str(text, &self.0).ok().map(Moment::of_time);
        let zoned =
            || DateTime::parse_from_str(text, &self.0).ok().map(|time| Moment::of_datetime(time.naive_utc()));
        let local = || NaiveDateTime::parse_from_str(text, &self.0).ok().map(Moment::of_datetime);
        let date = || NaiveDate::parse_from_str(text, &self.0).ok().map(Moment::of_date);
        zoned().or_else(local).or_else(date).or_else(of_time)
    }
}

impl Moment {
    /// Parses a date, a time, or both as in ISO 8601 (2024-05-17, 10:30, 2024-05-17T10:30:00.5+02:00, or a blank for the T), or by a pattern.
    /// A time with an offset is converted to UTC. `None` for other texts.
    #[must_use]
    pub fn parse(text: &str, format: Option<&DateFormat>) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        format.and_then(|format| format.parse(text)).or_else(|| Self::parse_iso(text))
    }

    fn parse_iso(text: &str) -> Option<Self> {
        // Most texts are no dates, which their first letters tell.
        let bytes = text.as_bytes();
        let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
        match (digits, bytes.get(digits)) {
            (4, Some(b'-')) => {}
            (1 | 2, Some(b':')) => {
                let time = ["%H:%M:%S%.f", "%H:%M"].into_iter();
                return time
                    .filter_map(|form| NaiveTime::parse_from_str(text, form).ok())
                    .next()
                    .map(Self::of_time);
            }
            _ => return None,
        }
        if text.len() == 10 {
            return NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().map(Self::of_date);
        }
        let local = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"];
        let local =
            local.into_iter().filter_map(|form| NaiveDateTime::parse_from_str(text, form).ok()).next();
        let zoned = || {
            let forms = ["%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f %#z"];
            DateTime::parse_from_rfc3339(text).ok().or_else(|| {
                forms.into_iter().filter_map(|form| DateTime::parse_from_str(text, form).ok()).next()
            })
        };
        local.or_else(|| zoned().map(|time| time.naive_utc())).map(Self::of_datetime)
    }

    /// Makes the moment of a date.
    fn of_date(date: NaiveDate) -> Self {
        Self { is_date: true, ..Self::of_datetime(date.and_time(NaiveTime::MIN)) }
    }

    fn of_datetime(time: NaiveDateTime) -> Self {
        let time = time.and_utc();
        let nanoseconds =
            i128::from(time.timestamp()) * 1_000_000_000 + i128::from(time.timestamp_subsec_nanos());
        Self { since: Origin::Epoch, nanoseconds, is_date: false }
    }

    fn of_time(time: NaiveTime) -> Self {
        let since = time.signed_duration_since(NaiveTime::MIN);
        let nanoseconds = i128::from(since.num_seconds()) * 1_000_000_000 + i128::from(since.subsec_nanos());
        Self { since: Origin::Midnight, nanoseconds, is_date: false }
    }

    /// Makes the moment of a number of units since an origin.
    #[must_use]
    pub fn of_units(units: i64, unit: Unit) -> Self {
        let nanoseconds = i128::from(units) * i128::from(unit.time.nanoseconds());
        Self { since: unit.since, nanoseconds, is_date: unit.time == TimeUnit::Days }
    }

    /// Returns the number of units since the origin; `None` unless it is a whole number of 64 bits.
    #[must_use]
    pub fn units(self, unit: TimeUnit) -> Option<i64> {
        let size = i128::from(unit.nanoseconds());
        (self.nanoseconds % size == 0)
            .then_some(self.nanoseconds / size)
            .and_then(|units| i64::try_from(units).ok())
    }

    /// Unit of time that counts the moment unless another one is asked for: days for dates, seconds for times.
    #[must_use]
    pub fn default_unit(self) -> TimeUnit {
        if self.is_date { TimeUnit::Days } else { TimeUnit::Seconds }
    }
}

/// Writes the moment as ISO 8601 does, or as nanoseconds where no calendar reaches.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = || i64::try_from(self.nanoseconds.div_euclid(1_000_000_000)).ok();
        let rest = self.nanoseconds.rem_euclid(1_000_000_000) as u32;
        let time = whole().and_then(|seconds| DateTime::from_timestamp(seconds, rest));
        match (time, self.since) {
            (Some(time), Origin::Epoch) if self.is_date => write!(f, "{}", time.format("%Y-%m-%d")),
            (Some(time), Origin::Epoch) => write!(f, "{}", time.format("%Y-%m-%dT%H:%M:%S%.f")),
            (Some(time), Origin::Midnight) if time.timestamp() / 86_400 == 0 && self.nanoseconds >= 0 => {
                write!(f, "{}", time.format("%H:%M:%S%.f"))
            }
            _ => write!(f, "{} ns since {}", self.nanoseconds, self.since.name()),
        }
    }
}

/// Whether a text has the look of a date that needs a pattern to be read, such as 17.05.2024 or 5/17/24.
pub(crate) fn looks_like_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['.', '/', '-']).collect();
    parts.len() == 3
        && parts.iter().all(|part| (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i128 = 86_400_000_000_000;

    fn of(text: &str) -> Moment {
        Moment::parse(text, None).unwrap()
    }

    #[test]
    fn dates_and_times_are_read_as_iso_8601_writes_them() {
        let date = |days: i128| Moment { since: Origin::Epoch, nanoseconds: days * DAY, is_date: true };
        assert_eq!(of("1970-01-01"), date(0));
        assert_eq!(of("1969-12-31"), date(-1));
        assert_eq!(of("2024-02-29"), date(19_782));
        let time = |nanoseconds| Moment { since: Origin::Epoch, nanoseconds, is_date: false };
        for text in [
            "1970-01-02T00:00:01",
            "1970-01-02 00:00:01",
            "1970-01-02T00:00:01Z",
            "1970-01-02T02:00:01+02:00",
            "1970-01-01 22:00:01-02",
            "1970-01-02 00:00:01+0000",
            "1970-01-02 00:00:01.000",
        ] {
            assert_eq!(of(text), time(DAY + 1_000_000_000), "{text}");
        }
        assert_eq!(of("1970-01-02T00:01"), time(DAY + 60_000_000_000));
        assert_eq!(of("1970-01-01T00:00:00.000000001"), time(1));
        let clock = |nanoseconds| Moment { since: Origin::Midnight, nanoseconds, is_date: false };
        assert_eq!((of("00:00"), of("9:05:00.5")), (clock(0), clock(32_700_500_000_000)));
        for text in [
            "2024-02-30",
            "2024-13-01",
            "20240517",
            "17.05.2024",
            "5/17/2024",
            "24:00",
            "1:2:3:4",
            "2024-05",
            "x",
            "",
        ] {
            assert_eq!(Moment::parse(text, None), None, "{text}");
        }
    }

    #[test]
    fn a_pattern_reads_other_forms() {
        let parse = |pattern: &str, text: &str| Moment::parse(text, Some(&DateFormat::new(pattern).unwrap()));
        assert_eq!(parse("%d.%m.%Y", "17.05.2024"), Some(of("2024-05-17")));
        assert_eq!(parse("%m/%d/%Y %H:%M", "5/17/2024 10:30"), Some(of("2024-05-17T10:30")));
        assert_eq!(parse("%H.%M", "10.30"), Some(of("10:30")));
        assert_eq!(parse("%d.%m.%Y", "2024-05-17"), Some(of("2024-05-17")), "ISO 8601 is read too");
        assert_eq!(parse("%d.%m.%Y", "5/17/2024"), None);
        for wrong in ["", "dd.mm.yyyy", "%Q", "%d.%!"] {
            assert!(DateFormat::new(wrong).is_err(), "{wrong}");
        }
        assert!(looks_like_date("17.05.2024") && looks_like_date("5/17/24"));
        assert!(!looks_like_date("1.5") && !looks_like_date("a.b.c") && !looks_like_date("1.2.3.4"));
    }

    #[test]
    fn moments_are_whole_numbers_of_a_unit_or_none() {
        let units = |text: &str, unit| of(text).units(unit);
        assert_eq!(units("2024-02-29", TimeUnit::Days), Some(19_782));
        assert_eq!(units("1969-12-31T12:00", TimeUnit::Hours), Some(-12));
        assert_eq!(units("1970-01-01T12:00", TimeUnit::Days), None);
        assert_eq!(units("1970-01-01T00:00:00.25", TimeUnit::Milliseconds), Some(250));
        assert_eq!(units("1970-01-01T00:00:00.0000005", TimeUnit::Microseconds), None);
        assert_eq!(units("10:30", TimeUnit::Minutes), Some(630));
        for (text, time) in [
            ("2024-02-29", TimeUnit::Days),
            ("2024-02-29T10:30:00", TimeUnit::Minutes),
            ("1969-12-31T23:59:59.500", TimeUnit::Milliseconds),
            ("10:30:00", TimeUnit::Seconds),
        ] {
            let unit = Unit { time, since: of(text).since };
            let whole = of(text).units(time).unwrap();
            assert_eq!(Moment::of_units(whole, unit), of(text));
            assert_eq!(of(text).to_string(), text);
        }
        let far = Moment::of_units(i64::MAX, Unit { time: TimeUnit::Days, since: Origin::Epoch });
        assert!(far.to_string().ends_with("ns since 1970-01-01"), "{far}");
    }
}
