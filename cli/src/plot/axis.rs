//! An axis: positions of values, and labels.

use simulator::experiment::plot::AxisScale;
use simulator::experiment::result_table::MilliValue;

/// Fraction bits of a logarithm.
const BITS: u32 = 16;

pub(super) struct PixelAxis {
    scale: AxisScale,
    from: i64,
    to: i64,
    /// Distance of two labels of a linear axis.
    step: i64,
    /// Positions of `from` and `to`, in tenths of a pixel.
    ends: (i64, i64),
}

impl PixelAxis {
    pub(super) fn new(scale: AxisScale, values: &[MilliValue], ends: (i64, i64)) -> Self {
        let most = values.iter().map(|value| value.0).max().unwrap_or(0).max(1);
        let least = values.iter().map(|value| value.0).filter(|value| *value > 0).min();
        let step = step(most);
        let (from, to) = match scale {
            AxisScale::Linear => (0, most.saturating_add(step - 1) / step * step),
            // Each name is in the middle of its share.
            AxisScale::Names(names) => (-500, i64::try_from(names.len()).unwrap_or(1) * 1000 - 500),
            AxisScale::Doubling => (doubling_below(least.unwrap_or(1)), doubling_above(most)),
        };
        let to = if to > from { to } else { from.saturating_mul(2).max(1) };
        Self { scale, from, to, step, ends }
    }

    /// Position of a value; none if the axis cannot show it.
    pub(super) fn place(&self, value: MilliValue) -> Option<i64> {
        let (part, whole) = match self.scale {
            AxisScale::Linear | AxisScale::Names(_) => {
                (value.0.checked_sub(self.from)?, self.to - self.from)
            }
            AxisScale::Doubling => {
                let from = log2(self.from)?;
                (log2(value.0)? - from, log2(self.to)? - from)
            }
        };
        let (start, end) = self.ends;
        let along = i128::from(end - start) * i128::from(part.max(0));
        // To the nearest tenth.
        let whole = i128::from(whole.max(1));
        let along = (2 * along + whole).div_euclid(2 * whole);
        i64::try_from(along).ok().and_then(|along| start.checked_add(along))
    }

    /// Labelled values and their labels.
    pub(super) fn ticks(&self) -> Vec<(MilliValue, String)> {
        if let AxisScale::Names(names) = self.scale {
            let names = names.iter().map(|name| (*name).to_owned());
            return (0..).map(MilliValue::whole).zip(names).collect();
        }
        let mut ticks = Vec::new();
        let mut value = self.from;
        while value <= self.to {
            ticks.push((MilliValue(value), grouped(MilliValue(value))));
            value = match self.scale {
                AxisScale::Linear | AxisScale::Names(_) => value.saturating_add(self.step),
                AxisScale::Doubling => value.saturating_mul(2),
            };
        }
        ticks
    }
}

/// Smallest power of two, down to an eighth, that is at least `value`.
fn doubling_above(value: i64) -> i64 {
    let mut power = 125_i64;
    while power < value && power < i64::MAX / 4 {
        power *= 2;
    }
    power
}

/// Largest power of two that is at most `value`; a thousandth for values below an eighth.
fn doubling_below(value: i64) -> i64 {
    let above = doubling_above(value);
    match above {
        _ if above <= value => above,
        125 => 1,
        _ => above / 2,
    }
}

/// Smallest step of 1, 2 or 5 times a power of ten of which eight reach `most`.
fn step(most: i64) -> i64 {
    let mut ten = 1_i64;
    loop {
        for factor in [1, 2, 5] {
            let step = ten.saturating_mul(factor);
            if step.saturating_mul(8) >= most {
                return step;
            }
        }
        ten = ten.saturating_mul(10);
    }
}

/// Logarithm to base 2 of a positive number, in units of 2⁻¹⁶, by repeated squaring of integers.
fn log2(value: i64) -> Option<i64> {
    let value = u64::try_from(value).ok().filter(|value| *value > 0)?;
    let whole = value.ilog2();
    // In 1..2, as a fixed-point number with 63 fraction bits.
    let mut mantissa = u128::from(value) << (63 - whole);
    let mut log = i64::from(whole);
    for _ in 0..BITS {
        mantissa = (mantissa * mantissa) >> 63;
        log *= 2;
        if mantissa >> 64 > 0 {
            mantissa >>= 1;
            log += 1;
        }
    }
    Some(log)
}

/// A number with separated thousands.
fn grouped(number: MilliValue) -> String {
    let text = number.to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) && whole.len() > 4 {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    if part.is_empty() { grouped } else { format!("{grouped}.{part}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_axis_begins_at_zero_and_has_round_steps() {
        let ruler = PixelAxis::new(AxisScale::Linear, &[MilliValue(31_400)], (0, 1000));
        let names: Vec<String> = ruler.ticks().into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["0", "5", "10", "15", "20", "25", "30", "35"]);
        assert_eq!(ruler.place(MilliValue(17_500)), Some(500));
        assert_eq!([1, 8, 9, 80, 81, 100_000].map(step), [1, 1, 2, 10, 20, 20_000]);
    }

    #[test]
    fn an_axis_of_doublings_has_a_name_for_each() {
        let values = [MilliValue(60_000), MilliValue(500_000)];
        let ruler = PixelAxis::new(AxisScale::Doubling, &values, (0, 400));
        let names: Vec<String> = ruler.ticks().into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["32", "64", "128", "256", "512"]);
        assert_eq!([100, 125, 200, 1000].map(doubling_below), [1, 125, 125, 1000]);
        // 90.51 lies half-way between 64 and 128.
        let places =
            [32_000, 64_000, 90_510, 512_000, 0, -1].map(|value| ruler.place(MilliValue(value)));
        assert_eq!(places, [Some(0), Some(100), Some(150), Some(400), None, None]);
    }

    #[test]
    fn logarithms_are_exact_to_a_bit_and_thousands_stand_apart() {
        assert_eq!(log2(1), Some(0));
        assert_eq!(log2(1 << 40), Some(40 << BITS));
        // 1.584962500721156 · 65536 = 103872.1
        assert_eq!(log2(3), Some(103_872));
        assert_eq!((log2(0), log2(-5)), (None, None));
        let groups = [999, 1_000, 8_192, 78_125, 1_234_567].map(|n| grouped(MilliValue::whole(n)));
        assert_eq!(groups, ["999", "1000", "8192", "78\u{202f}125", "1\u{202f}234\u{202f}567"]);
        assert_eq!(grouped(MilliValue(500)), "0.5");
    }
}
