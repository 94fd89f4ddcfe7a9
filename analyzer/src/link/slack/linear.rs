//! Linear functions of periods, and their maxima and minima.

/// A linear function: the value in the first period, and the change per period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LinearRamp {
    pub(super) at: i64,
    pub(super) slope: i64,
}

impl LinearRamp {
    /// A constant.
    pub(super) const fn flat(at: i64) -> Self {
        Self { at, slope: 0 }
    }

    /// The value after `periods`.
    pub(super) fn after(self, periods: u64) -> i64 {
        let periods = i64::try_from(periods).unwrap_or(i64::MAX);
        self.at.saturating_add(self.slope.saturating_mul(periods))
    }

    /// The function from `periods` on.
    pub(super) fn from(self, periods: u64) -> Self {
        Self { at: self.after(periods), slope: self.slope }
    }

    const fn mirrored(self) -> Self {
        Self { at: -self.at, slope: -self.slope }
    }

    /// The first period in which `other` is greater, if this function is not smaller at first.
    fn crossing(self, other: Self, len: u64) -> Option<u64> {
        let rise = other.slope - self.slope;
        if rise <= 0 {
            return None;
        }
        let periods = u64::try_from((self.at - other.at) / rise).ok()?.saturating_add(1);
        (periods < len).then_some(periods)
    }
}

/// Maximum of two functions over `len` periods: one of them, and from a period on the other.
pub(super) fn higher(
    one: LinearRamp,
    other: LinearRamp,
    len: u64,
) -> (LinearRamp, Option<(u64, LinearRamp)>) {
    let (first, second) = if one.at >= other.at { (one, other) } else { (other, one) };
    let crossing = first.crossing(second, len);
    (first, crossing.map(|periods| (periods, second.from(periods))))
}

/// Minimum of two functions over `len` periods.
pub(super) fn lower(
    one: LinearRamp,
    other: LinearRamp,
    len: u64,
) -> (LinearRamp, Option<(u64, LinearRamp)>) {
    let (first, then) = higher(one.mirrored(), other.mirrored(), len);
    (first.mirrored(), then.map(|(periods, ramp)| (periods, ramp.mirrored())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maximum_is_the_greater_value_in_every_period() {
        let ramps = || (-4..5).flat_map(|at| (-3..3).map(move |slope| LinearRamp { at, slope }));
        let value = |(first, then): (LinearRamp, Option<(u64, LinearRamp)>), n| match then {
            Some((from, ramp)) if n >= from => ramp.after(n - from),
            Some(_) | None => first.after(n),
        };
        for (one, other) in ramps().flat_map(|one| ramps().map(move |other| (one, other))) {
            for len in 1..9 {
                for n in 0..len {
                    let [a, b] = [one.after(n), other.after(n)];
                    assert_eq!(value(higher(one, other, len), n), a.max(b), "{one:?} {other:?}");
                    assert_eq!(value(lower(one, other, len), n), a.min(b), "{one:?} {other:?}");
                }
            }
        }
    }
}
