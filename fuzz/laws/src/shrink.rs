//! The shortest list of operations that still fails, for a report that can be read.

/// Drops what can be dropped, longer stretches first, while it still fails.
pub(crate) fn shortest<T: Clone>(ops: &[T], fails: &mut impl FnMut(&[T]) -> bool) -> Vec<T> {
    let mut ops = ops.to_vec();
    let mut stretch = ops.len().div_ceil(2);
    while stretch > 0 {
        let before = ops.len();
        let mut at = 0;
        while at < ops.len() {
            let end = (at + stretch).min(ops.len());
            let mut fewer = ops.clone();
            fewer.drain(at..end);
            if fails(&fewer) {
                ops = fewer;
            } else {
                at = end;
            }
        }
        if ops.len() == before || stretch > 1 {
            stretch /= 2;
        }
    }
    ops
}

#[cfg(test)]
mod tests {
    use super::shortest;

    #[test]
    fn what_matters_stays() {
        let ops: Vec<u32> = (0..100).collect();
        let mut fails = |ops: &[u32]| ops.contains(&17) && ops.contains(&60);
        assert_eq!(shortest(&ops, &mut fails), [17, 60]);
    }
}
