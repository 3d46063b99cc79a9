use std::fmt;

/// A moment: milliseconds since the Unix epoch.
///
/// This crate never asks a clock. The caller supplies "now"; it should be the wall time at the
/// start of its run plus the monotonic time since, so that a jump of the wall clock can neither
/// end a hold early nor keep it for ever.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// From whole seconds since the Unix epoch; saturates at the ends of the range.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Reads RFC 3339 as the API server writes it: `2025-01-01T00:00:00Z`, with or without a
    /// fraction of a second, with `Z` or an offset. `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let b = text.as_bytes();
        let number = |from: usize, len: usize| -> Option<i64> {
            b.get(from..from + len)?
                .iter()
                .try_fold(0, |n, digit| Some(n * 10 + i64::from(char::from(*digit).to_digit(10)?)))
        };
        let mark = |at: usize, marks: &[u8]| b.get(at).filter(|byte| marks.contains(byte)).map(|_| ());
        let (year, month, day) = (number(0, 4)?, number(5, 2)?, number(8, 2)?);
        let (hour, minute, second) = (number(11, 2)?, number(14, 2)?, number(17, 2)?);
        for (at, marks) in [(4, b"-" as &[u8]), (7, b"-"), (10, b"Tt "), (13, b":"), (16, b":")] {
            mark(at, marks)?;
        }
        let in_range =
            (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second <= 60;
        if !in_range {
            return None;
        }
        let mut rest = b.get(19..)?;
        let mut millis = 0;
        if let Some(fraction) = rest.strip_prefix(b".") {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return None;
            }
            let mut weight = 100;
            for digit in fraction.iter().take(3.min(digits)) {
                millis += weight * i64::from(digit - b'0');
                weight /= 10;
            }
            rest = fraction.get(digits..)?;
        }
        let offset_minutes = match rest {
            b"Z" | b"z" => 0,
            [
                sign @ (b'+' | b'-'),
                h1 @ b'0'..=b'9',
                h2 @ b'0'..=b'9',
                b':',
                m1 @ b'0'..=b'9',
                m2 @ b'0'..=b'9',
            ] => {
                let two = |tens: u8, ones: u8| i64::from(tens - b'0') * 10 + i64::from(ones - b'0');
                let minutes = two(*h1, *h2) * 60 + two(*m1, *m2);
                if *sign == b'-' { -minutes } else { minutes }
            }
            _ => return None,
        };
        let seconds = days_since_epoch(year, month, day) * 86_400
            + hour * 3600
            + (minute - offset_minutes) * 60
            + second;
        Some(Self(seconds * 1000 + millis))
    }

    /// This moment plus a number of milliseconds, or `None` outside the range.
    pub fn checked_add_millis(self, millis: i64) -> Option<Self> {
        self.0.checked_add(millis).map(Self)
    }

    /// Milliseconds from `earlier` to this moment; negative when `earlier` is later. Saturates.
    pub const fn millis_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    pub(crate) const fn plus(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let year_of_era = shifted.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC, with milliseconds only where there are some.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, millis) = (self.0.div_euclid(1000), self.0.rem_euclid(1000));
        let (days, second_of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let z = days + 719_468;
        let (era, day_of_era) = (z.div_euclid(146_097), z.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        let (hour, minute, second) = (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if millis != 0 {
            write!(f, ".{millis:03}")?;
        }
        f.write_str("Z")
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_3339_is_read_and_printed() {
        for (text, millis) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2025-01-01T00:00:00Z", 1_735_689_600_000),
            ("2024-02-29T23:59:59.250Z", 1_709_251_199_250),
            ("1969-12-31T23:59:59Z", -1000),
        ] {
            assert_eq!(Timestamp::parse(text), Some(Timestamp(millis)), "{text}");
            assert_eq!(Timestamp(millis).to_string(), text);
        }
        let zoned = Timestamp::parse("2025-01-01T02:30:00.1+02:30");
        assert_eq!(zoned, Some(Timestamp(1_735_689_600_100)));
    }

    #[test]
    fn other_texts_are_no_time() {
        for text in
            ["", "2025-01-01", "2025-13-01T00:00:00Z", "2025-01-01T00:00:00", "now", "2025-01-01T00:00:00.Z"]
        {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }
}
