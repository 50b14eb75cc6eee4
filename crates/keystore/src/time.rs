//! Times of logs and of expiry: whole seconds in UTC, as RFC 3339 writes them.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Seconds of a day.
const DAY: u64 = 86_400;
/// Days of 400 years, after which the calendar repeats.
const DAYS_OF_ERA: u64 = 146_097;
/// Days from the first of March of the year 0 to the first of January of 1970.
const DAYS_BEFORE: u64 = 719_468;
/// First second that is no time: 10000-01-01.
const END: u64 = 253_402_300_800;

/// A point in time: whole seconds since 1970 in UTC, up to the year 9999.
///
/// ```
/// use sunzi_keystore::Time;
///
/// let time: Time = "2027-06-01".parse()?;
/// assert_eq!(time.to_string(), "2027-06-01T00:00:00Z");
/// assert_eq!("2027-06-01T00:00:00Z".parse(), Ok(time));
/// assert!("2027-02-29".parse::<Time>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// Returns the time so many seconds after the start of 1970; `None` from the year 10000 on.
    #[must_use]
    pub fn from_seconds(seconds: u64) -> Option<Self> {
        (seconds < END).then_some(Self(seconds))
    }

    /// Seconds since the start of 1970.
    #[must_use]
    pub fn seconds(self) -> u64 {
        self.0
    }

    /// Returns the time that the clock of this machine shows; a clock before 1970 shows its start.
    #[must_use]
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(since.as_secs().min(END - 1))
    }

    /// Returns the time so many seconds later; `None` from the year 10000 on.
    #[must_use]
    pub fn later(self, seconds: u64) -> Option<Self> {
        self.0.checked_add(seconds).and_then(Self::from_seconds)
    }

    /// Returns year, month and day: the calendar in years that begin in March, whose leap day is their last.
    fn date(self) -> [u64; 3] {
        let days = self.0 / DAY + DAYS_BEFORE;
        let (era, of_era) = (days / DAYS_OF_ERA, days % DAYS_OF_ERA);
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / (DAYS_OF_ERA - 1)) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        [era * 400 + year + u64::from(month <= 2), month, day]
    }

    /// Returns the start of a day, if the calendar has it and it is 1970 or later.
    fn of_date([year, month, day]: [u64; 3]) -> Option<Self> {
        if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        let year_from_march = year - u64::from(month <= 2);
        let from_march = (month + 9) % 12;
        let of_year = (153 * from_march + 2) / 5 + day - 1;
        let leap_days = year_from_march / 4 - year_from_march / 100 + year_from_march / 400;
        let days = (365 * year_from_march + leap_days + of_year).checked_sub(DAYS_BEFORE)?;
        let time = Self::from_seconds(days * DAY)?;
        // The 31st of June is the first of July, and no date.
        (time.date() == [year, month, day]).then_some(time)
    }
}

/// Formats a time as RFC 3339 does, in UTC.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([year, month, day], second) = (self.date(), self.0 % DAY);
        let [hours, minutes, seconds] = [second / 3600, second / 60 % 60, second % 60];
        write!(f, "{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}Z")
    }
}

/// Reads a date, whose first second in UTC is meant, or a time as [`Time`] is formatted.
impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = || {
            let (date, clock) =
                text.split_once('T').map_or((text, None), |(date, clock)| (date, Some(clock)));
            let start = Self::of_date(numbers(date, '-', [4, 2, 2])?)?;
            let Some(clock) = clock else { return Some(start) };
            let [hours, minutes, seconds] = numbers(clock.strip_suffix('Z')?, ':', [2; 3])?;
            (hours < 24 && minutes < 60 && seconds < 60).then_some(())?;
            start.later(3600 * hours + 60 * minutes + seconds)
        };
        let expected =
            "expected a date from 1970 to 9999 such as 2027-06-01, or a time such as 2027-06-01T12:00:00Z";
        read().ok_or_else(|| expected.to_owned())
    }
}

/// Reads three numbers of as many digits each.
fn numbers(text: &str, between: char, digits: [usize; 3]) -> Option<[u64; 3]> {
    let mut parts = text.split(between);
    let mut next = |len| {
        let part = parts.next()?;
        let whole = part.len() == len && part.bytes().all(|byte| byte.is_ascii_digit());
        whole.then(|| part.parse().ok()).flatten()
    };
    let read = [next(digits[0])?, next(digits[1])?, next(digits[2])?];
    parts.next().is_none().then_some(read)
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_is_read_as_it_is_written() {
        let (mut days, mut last) = (0, [0; 3]);
        while let Some(time) = Time::from_seconds(days * DAY) {
            let date = time.date();
            assert!(date > last && (date[2] == 1 || date[2] == last[2] + 1), "{date:?} after {last:?}");
            assert_eq!(Time::of_date(date), Some(time));
            (days, last) = (days + 1, date);
        }
        assert_eq!((days, last), (END / DAY, [9999, 12, 31]));
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_000_000_000, "2001-09-09T01:46:40Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (END - 1, "9999-12-31T23:59:59Z"),
        ] {
            let time = Time::from_seconds(seconds).unwrap();
            assert_eq!((time.to_string().as_str(), text.parse()), (text, Ok(time)));
        }
        assert!(Time::from_seconds(END).is_none() && Time(END - 1).later(1).is_none());
        assert!(Time(1).later(u64::MAX).is_none());
        let wrong = "2100-02-29 2027-06-31 2027-13-01 2027-00-01 2027-06-00 1969-12-31 10000-01-01 27-06-01 2027-6-1 \
            2027-06-01T24:00:00Z 2027-06-01T00:60:00Z 2027-06-01T00:00:60Z 2027-06-01T00:00:00 2027-06-01T00:00Z 2027-06-01-01 +027-06-01 now";
        for text in wrong.split(' ').chain(["", "2027-06-01 "]) {
            assert!(text.parse::<Time>().is_err(), "{text}");
        }
    }
}
