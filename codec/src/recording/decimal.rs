//! Decimal numbers as instruments write them: with a sign, a point or a comma, and an exponent.

use std::borrow::Cow;

/// Femtoseconds in a second.
pub(super) const SECOND_FS: u64 = 1_000_000_000_000_000;

/// Femtoseconds in a unit of time: `ns`, `nsec`, `nanoseconds`, `нс`, `纳秒` and the like.
pub(super) fn time_unit(name: &str) -> Option<u64> {
    let name = name.trim().replace(['µ', 'μ'], "u").to_lowercase();
    let endings = ["seconds", "second", "secs", "sec", "s", "сек", "с", "秒"];
    let prefix = endings.iter().find_map(|ending| name.strip_suffix(ending))?;
    let prefixes =
        ["", "m milli м 毫", "u micro мк 微", "n nano н 纳", "p pico п 皮", "f femto ф 飞"];
    let power = prefixes.iter().position(|all| all.split(' ').any(|one| one == prefix))?;
    Some(SECOND_FS / 1000_u64.pow(u32::try_from(power).ok()?))
}

/// Distance of samples: a whole number of them takes a whole number of femtoseconds, as one alone may not.
#[cfg(any(feature = "recordings", test))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleDistance {
    time_fs: u64,
    samples: u64,
}

#[cfg(any(feature = "recordings", test))]
impl SampleDistance {
    /// The distance of samples of a rate in mHz; `None` unless that is 1 Hz to 1 THz.
    pub fn of_rate(millihertz: u64) -> Option<Self> {
        let is_rate = (1000..=1_000_000_000_000_000).contains(&millihertz);
        let time_fs = 1000 * SECOND_FS;
        is_rate.then(|| match time_fs % millihertz {
            0 => Self::of_period(time_fs / millihertz),
            _ => Self { time_fs, samples: millihertz },
        })
    }

    /// The distance of samples that are a period in femtoseconds apart.
    pub const fn of_period(time_fs: u64) -> Self {
        Self { time_fs, samples: 1 }
    }

    /// Femtoseconds from the first sample to one of this number, rounded down; `None` beyond 5.1 hours.
    #[inline]
    pub fn time(self, number: u64) -> Option<u64> {
        if self.samples == 1 {
            return number.checked_mul(self.time_fs);
        }
        let of_all = u128::from(number) * u128::from(self.time_fs);
        u64::try_from(of_all / u128::from(self.samples)).ok()
    }
}

/// Distance of the samples of a rate: `500 MHz`, `500000.0 KHz`, `0.5 G`, `5e+08Hz`.
#[cfg(any(feature = "recordings", test))]
pub(super) fn sample_rate(text: &str) -> Option<SampleDistance> {
    let text = text.trim().to_ascii_lowercase();
    let text = text.trim_end_matches("/s").trim_end_matches("hz").trim_end();
    let text = text.strip_suffix("sa").or(text.strip_suffix('s')).unwrap_or(text).trim_end();
    let factor = |(unit, factor): (char, u64)| Some((text.strip_suffix(unit)?, factor));
    let (number, factor) = [('k', 1_000_000), ('m', 1_000_000_000), ('g', 1_000_000_000_000)]
        .into_iter()
        .find_map(factor)
        .unwrap_or((text, 1000));
    let millihertz = DecimalNumber::parse(number.trim())?.times(factor)?;
    SampleDistance::of_rate(u64::try_from(millihertz).ok()?)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DecimalNumber {
    digits: i128,
    exponent: i32,
}

impl DecimalNumber {
    /// Reads a number. Of its digits behind the point, those beyond the thirtieth are left out.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('+').unwrap_or(text);
        let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        // The point is the last separator; one that occurs before it, or an apostrophe, separates groups of digits.
        let (whole, fraction) = number.rsplit_once(['.', ',']).unwrap_or((number, ""));
        let point = number.chars().nth_back(fraction.chars().count());
        let other =
            |c: char| matches!(c, '.' | ',' | '\'' | '\u{a0}' | '\u{202f}') && Some(c) != point;
        let whole = if whole.contains(other) {
            let mut groups = whole.split(other);
            let is_first = groups.next().is_some_and(|first| !first.is_empty());
            if !is_first || !groups.all(|group| group.len() == 3) {
                return None;
            }
            Cow::Owned(whole.split(other).collect())
        } else {
            Cow::Borrowed(whole)
        };
        let digits = || whole.bytes().chain(fraction.bytes());
        if digits().next().is_none() || !digits().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let fraction = fraction.get(..30).unwrap_or(fraction);
        let digits = whole.bytes().chain(fraction.bytes()).try_fold(0_i128, |sum, digit| {
            sum.checked_mul(10)?.checked_add((digit - b'0').into())
        })?;
        let places = i32::try_from(fraction.len()).ok()?;
        Some(Self { digits: sign * digits, exponent: exponent.checked_sub(places)? })
    }

    /// The number times a factor, rounded down; `None` if it is too large.
    pub(super) fn times(self, factor: u64) -> Option<i128> {
        let product = self.digits.checked_mul(factor.into())?;
        let power = 10_i128.checked_pow(self.exponent.unsigned_abs());
        match power {
            _ if product == 0 => Some(0),
            Some(power) if self.exponent >= 0 => product.checked_mul(power),
            Some(power) => Some(product.div_euclid(power)),
            None if self.exponent >= 0 => None,
            None => Some(if product < 0 { -1 } else { 0 }),
        }
    }

    /// The number times a factor; `None` if it is no whole number, or too large.
    pub(super) fn times_exactly(self, factor: u64) -> Option<i128> {
        let (product, negative) = (self.times(factor)?, Self { digits: -self.digits, ..self });
        (negative.times(factor) == Some(-product)).then_some(product)
    }
}

/// First times that are kept as they are: from 0 to a second. *Chosen*
const BEGINS_FS: std::ops::Range<i128> = 0..SECOND_FS as i128;

/// Times of a recording. One that begins before 0, or a second later, is counted from its first time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimeOrigin(pub(super) Option<i128>);

impl TimeOrigin {
    /// A time since the origin; `None` if it is before it, or beyond 5.1 hours.
    pub(super) fn since(&mut self, time_fs: i128) -> Option<u64> {
        let first_fs = if BEGINS_FS.contains(&time_fs) { 0 } else { time_fs };
        let origin = *self.0.get_or_insert(first_fs);
        u64::try_from(time_fs.checked_sub(origin)?).ok()
    }

    pub(super) fn is_before(self, time_fs: i128) -> bool {
        self.0.is_some_and(|origin| time_fs < origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_many_spellings() {
        for (text, micro) in [
            ("0", Some(0)),
            ("-1e-06", Some(-1)),
            ("0,000002", Some(2)),
            ("2.5E+1", Some(25_000_000)),
            ("000000000000000000000000000000000000000000001", Some(1_000_000)),
            (".5", Some(500_000)),
            ("1e-400", Some(0)),
            ("1e400", None),
            ("", None),
            ("-", None),
            (".", None),
            ("1.2.3", None),
            ("1,2.5", None),
            ("1,234.5", Some(1_234_500_000)),
            ("1.0000000000005e13", Some(10_000_000_000_005_000_000)),
            ("-1.234.567,5", Some(-1_234_567_500_000)),
            ("1'234.5", Some(1_234_500_000)),
            ("0x1", None),
        ] {
            let number = DecimalNumber::parse(text).and_then(|it| it.times(1_000_000));
            assert_eq!(number, micro, "{text}");
        }
        for (text, rate) in [
            ("500000.0 KHz", Some(500_000_000)),
            ("500.0 MHz", Some(500_000_000)),
            ("0.5 GHz", Some(500_000_000)),
            ("500 M", Some(500_000_000)),
            ("5e+08Hz", Some(500_000_000)),
            ("500 MS/s", Some(500_000_000)),
            ("24000000", Some(24_000_000)),
            ("0 Hz", None),
            ("0.5 Hz", None),
            ("2 THz", None),
        ] {
            let distance = rate.and_then(|hertz: u64| SampleDistance::of_rate(1000 * hertz));
            let expected = (distance, rate.is_some());
            assert_eq!((sample_rate(text), distance.is_some()), expected, "{text}");
        }
        // The 9 000 000 000th sample of 3 MHz, of 500 MHz and of a rate below 1 Hz.
        let times = [3_000_000_000, 500_000_000_000, 999].map(SampleDistance::of_rate);
        let times = times.map(|it| it.and_then(|it| it.time(9_000_000_000)));
        assert_eq!(times, [Some(3000 * SECOND_FS), Some(18 * SECOND_FS), None]);
        let exactly = |text| DecimalNumber::parse(text).unwrap().times_exactly(1000);
        let whole = ["0.001", "2.5", "2.5001", "1e-9"].map(exactly);
        assert_eq!(whole, [Some(1), Some(2500), None, None]);
        let units = ["ns", "Nanoseconds", "µsec", "S", "", "xs"].map(time_unit);
        let expected = [1_000_000, 1_000_000, 1_000_000_000, SECOND_FS].map(Some);
        assert_eq!(units, [&expected[..], &[None; 2]].concat()[..]);
    }
}
