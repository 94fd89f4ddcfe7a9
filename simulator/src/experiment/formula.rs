//! Formulas and templates of experiments' descriptions.
//!
//! A formula is a sum of products of numbers and names, all apart by spaces: `bytes * 8 / periods - 1`. Besides `+`, `-`, `*`
//! and `/` there are `//` (a quotient rounded down), `%` (what such a division leaves), and `=` (1, or no value where both sides
//! differ). In a template `{formula}` is replaced by an integer, `{name}` by a word, `{repeat formula}…{end}` by so many copies,
//! in which `i` counts from 0, and `{crc}` by the CRC byte of the bytes behind the last `GAP`.

use codec::crc::crc8;

use super::result_table::MilliValue;

/// Exact quotient, in lowest terms; the second number is greater than 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExactNumber(i128, i128);

impl ExactNumber {
    /// None for a division by zero.
    pub(super) fn quotient(part: i128, whole: i128) -> Option<Self> {
        let (mut divisor, mut rest) = (whole, part);
        while rest != 0 {
            (divisor, rest) = (rest, divisor.checked_rem(rest)?);
        }
        let divisor = divisor.checked_abs()?.checked_mul(whole.signum())?;
        Some(Self(part.checked_div(divisor)?, whole.checked_div(divisor)?))
    }

    /// To the nearest thousandth.
    pub(super) fn rounded(self) -> Option<MilliValue> {
        let scaled = self.0.checked_mul(1000)?.checked_add(self.1 / 2)?.div_euclid(self.1);
        i64::try_from(scaled).ok().map(MilliValue)
    }

    fn combine(self, sign: &str, Self(part, whole): Self) -> Option<Self> {
        let down = |Self(part, whole)| Self(i128::div_euclid(part, whole), 1);
        let product =
            |part, whole| Self::quotient(self.0.checked_mul(part)?, self.1.checked_mul(whole)?);
        let sum = |part: i128| {
            let all = self.0.checked_mul(whole)?.checked_add(part.checked_mul(self.1)?)?;
            Self::quotient(all, self.1.checked_mul(whole)?)
        };
        match sign {
            "+" => sum(part),
            "-" => sum(part.checked_neg()?),
            "*" => product(part, whole),
            "/" => product(whole, part),
            "//" => product(whole, part).map(down),
            "%" => {
                let times = down(product(whole, part)?);
                self.combine("-", Self(part, whole).combine("*", times)?)
            }
            "=" => (self == Self(part, whole)).then_some(Self(1, 1)),
            _ => None,
        }
    }
}

impl From<u64> for ExactNumber {
    fn from(count: u64) -> Self {
        Self(count.into(), 1)
    }
}

impl From<MilliValue> for ExactNumber {
    fn from(number: MilliValue) -> Self {
        Self::quotient(number.0.into(), 1000).unwrap_or(Self(0, 1))
    }
}

/// Value of a formula, if all names in it have one.
pub(super) fn evaluate(
    formula: &str,
    value: &dyn Fn(&str) -> Option<ExactNumber>,
) -> Option<ExactNumber> {
    let value = |word: &str| word.parse().map_or_else(|_| value(word), |it: u64| Some(it.into()));
    let mut words = formula.split_whitespace();
    let (mut sum, mut before) = (ExactNumber::from(0), "+");
    let mut product = value(words.next()?)?;
    while let Some(sign) = words.next() {
        let next = value(words.next()?)?;
        if ["+", "-"].contains(&sign) {
            sum = sum.combine(before, product)?;
            (before, product) = (sign, next);
        } else {
            product = product.combine(sign, next)?;
        }
    }
    sum.combine(before, product)
}

/// Text of a template, of which `word` has the texts of names. None if a placeholder has no value.
pub(super) fn fill(template: &str, word: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let (mut text, mut rest) = (String::new(), template);
    while let Some((before, behind)) = rest.split_once('{') {
        let (inside, behind) = behind.split_once('}')?;
        text += before;
        rest = behind;
        if let Some(count) = inside.strip_prefix("repeat ") {
            let (block, behind) = rest.split_once("{end}")?;
            rest = behind;
            for i in 0..integer(count, word)? {
                let counted =
                    |name: &str| if name == "i" { Some(i.to_string()) } else { word(name) };
                text += &fill(block, &counted)?;
            }
        } else if inside == "crc" {
            let (_, bytes) = text.rsplit_once("GAP")?;
            let bytes = bytes.split_whitespace().map(|byte| u8::from_str_radix(byte, 16));
            let crc = crc8(&bytes.collect::<Result<Vec<_>, _>>().ok()?);
            text += &format!("{crc:02x}");
        } else {
            text += &match word(inside) {
                Some(word_text) => fill(&word_text, word)?,
                None => integer(inside, word)?.to_string(),
            };
        }
    }
    Some(text + rest)
}

/// Integer that a formula of a template gives.
pub(super) fn integer(formula: &str, word: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let value = evaluate(formula, &|name| {
        let inner = word(name)?;
        // A name stands for its own formula; the depth of both is that of the description.
        integer(&inner, word).map(ExactNumber::from)
    })?;
    u64::try_from(value.0).ok().filter(|_| value.1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_a_sum_of_exact_products() {
        let name = |name: &str| (name == "n").then(|| ExactNumber::from(7));
        for (formula, milli) in [
            ("2 + 3 * 4 - n", Some(7_000)),
            ("n / 3 * 3", Some(7_000)),
            ("1 / 3", Some(333)),
            ("2 / 3", Some(667)),
            ("1 - n", Some(-6_000)),
            ("n // 2 * 10 + n % 4", Some(33_000)),
            ("n = 7 * 5", Some(5_000)),
            ("n = 8 * 5", None),
            ("n / 0", None),
            ("n + m", None),
            ("n +", None),
            ("", None),
        ] {
            let found = evaluate(formula, &name).and_then(ExactNumber::rounded);
            assert_eq!(found, milli.map(MilliValue), "{formula}");
        }
    }

    #[test]
    fn a_template_is_filled_with_words_and_integers() {
        let word = |name: &str| match name {
            "n" => Some("2".to_owned()),
            "word" => Some("<{n + 1}>".to_owned()),
            _ => None,
        };
        // x³ + x² + x + 1, the CRC's polynomial without its highest power, is that of a byte 01.
        for (template, text) in [
            ("a {word} {n * n}", Some("a <3> 4")),
            ("{repeat n}{i + 5}{word} {end}.", Some("5<3> 6<3> .")),
            ("GAP 01 {crc} GAP", Some(&*format!("GAP 01 {:02x} GAP", crc8(&[1])))),
            ("{m}", None),
            ("{n / 4}", None),
        ] {
            assert_eq!(fill(template, &word).as_deref(), text, "{template}");
        }
    }
}
