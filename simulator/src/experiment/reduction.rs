//! Numbers that a whole curve gives.

use super::plot::CurvePoint;
use super::result_table::MilliValue;

/// Place at which a curve overtakes another, interpolated.
pub(super) fn crossing(one: &[CurvePoint], other: &[CurvePoint]) -> Option<MilliValue> {
    let points = one.iter().zip(other);
    zero(&points.map(|((x, one), (_, other))| (x.0, one.0 - other.0)).collect::<Vec<_>>())
}

/// Place at which half of the last value is reached, interpolated.
pub(super) fn half(curve: &[CurvePoint]) -> Option<MilliValue> {
    let goal = curve.last()?.1.0 / 2;
    zero(&curve.iter().map(|(x, y)| (x.0, y.0 - goal)).collect::<Vec<_>>())
}

/// First rise of a line from below zero, rounded down.
fn zero(points: &[(i64, i64)]) -> Option<MilliValue> {
    let mut pairs = points.iter().zip(points.iter().skip(1));
    let ((x, y), (x_after, y_after)) =
        pairs.find(|(before, after)| before.1 < 0 && after.1 >= 0)?;
    let part = i128::from(x_after - x) * i128::from(-y);
    let place = i128::from(*x) + part / i128::from((y_after - y).max(1));
    i64::try_from(place / 1000).ok().map(MilliValue::whole)
}

/// Slope between the last two points.
pub(super) fn rise(curve: &[CurvePoint]) -> Option<MilliValue> {
    slope(curve.get(curve.len().checked_sub(2)?..)?)
}

/// Slope of the least-squares line through the points.
pub(super) fn slope(points: &[CurvePoint]) -> Option<MilliValue> {
    let count = i128::try_from(points.len()).ok()?;
    let sum = |of: &dyn Fn(i128, i128) -> i128| -> i128 {
        points.iter().map(|(x, y)| of(i128::from(x.0), i128::from(y.0))).sum()
    };
    let (x, y) = (sum(&|x, _| x), sum(&|_, y| y));
    let above = count.checked_mul(sum(&|x, y| x * y))?.checked_sub(x.checked_mul(y)?)?;
    let below = count.checked_mul(sum(&|x, _| x * x))?.checked_sub(x.checked_mul(x)?)?;
    let scaled = above.checked_mul(1000)?.checked_add(below / 2)?.checked_div_euclid(below)?;
    i64::try_from(scaled).ok().map(MilliValue)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve<const N: usize>(points: [(i64, i64); N]) -> [CurvePoint; N] {
        points.map(|(x, y)| (MilliValue::whole(x), MilliValue::whole(y)))
    }

    #[test]
    fn a_place_lies_between_two_points() {
        let points = curve([(128, 2), (256, 10), (512, 20)]);
        assert_eq!(half(&points), Some(MilliValue::whole(256)));
        // 5 of 2 to 10: three eighths of the way.
        assert_eq!(half(&points[..2]), Some(MilliValue::whole(176)));
        // From 1 below to 7 above: an eighth of the way.
        assert_eq!(
            crossing(&points[..2], &curve([(128, 3), (256, 3)])),
            Some(MilliValue::whole(144))
        );
        assert_eq!(crossing(&points, &curve([(128, 1), (256, 1), (512, 1)])), None);
        assert_eq!(rise(&points), Some(MilliValue(39)));
        assert_eq!(rise(&points[..1]), None);
    }

    #[test]
    fn a_slope_is_that_of_the_least_squares() {
        let line = |points: &[(i64, i64)]| {
            let points: Vec<_> =
                points.iter().map(|(x, y)| (MilliValue(*x), MilliValue(*y))).collect();
            slope(&points)
        };
        assert_eq!(
            line(&[(1000, 13_000), (2000, 25_800), (3000, 38_600)]),
            Some(MilliValue(12_800))
        );
        // By hand: the means are 2 and 14/3; 1·4 + 1·4 over 2.
        assert_eq!(line(&[(1000, 1000), (2000, 4000), (3000, 9000)]), Some(MilliValue(4000)));
        assert_eq!(line(&[(1000, 9000), (2000, 1000)]), Some(MilliValue(-8000)));
        // Half a thousandth, and less than that.
        assert_eq!(line(&[(0, 0), (1000, 1), (2000, 1)]), Some(MilliValue(1)));
        assert_eq!(line(&[(0, 0), (3000, 1)]), Some(MilliValue(0)));
        assert_eq!(line(&[(1000, 9000), (1000, 1000)]), None);
        assert_eq!(line(&[]), None);
    }
}
