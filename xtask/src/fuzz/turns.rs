//! Schedule of the targets: equal turns, so that no job is idle.

use std::time::Duration;

/// Turns of `targets` on `jobs` in `time`, as indices of targets, and the length of a turn.
///
/// Every target has a turn. What is left of the last round goes to the first targets once more,
/// and where there are more jobs than targets, several share a target and its corpus.
pub(crate) fn turns(targets: usize, jobs: usize, time: Duration) -> (Vec<usize>, Duration) {
    let rounds = targets.div_ceil(jobs.max(1)).max(1);
    let turns = (0..targets).cycle().take(if targets == 0 { 0 } else { rounds * jobs }).collect();
    let each = time.as_secs() / u64::try_from(rounds).unwrap_or(u64::MAX);
    // libFuzzer takes whole seconds, and 0 for ever.
    (turns, Duration::from_secs(each.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(targets: usize, jobs: usize, seconds: u64) -> (Vec<usize>, u64) {
        let (turns, each) = turns(targets, jobs, Duration::from_secs(seconds));
        (turns, each.as_secs())
    }

    #[test]
    fn two_jobs_share_four_targets() {
        assert_eq!(check(4, 2, 60), (vec![0, 1, 2, 3], 30));
    }

    #[test]
    fn no_job_is_idle_in_the_last_round() {
        assert_eq!(check(3, 2, 60), (vec![0, 1, 2, 0], 30));
    }

    #[test]
    fn many_jobs_share_a_target() {
        assert_eq!(check(2, 5, 60), (vec![0, 1, 0, 1, 0], 60));
    }

    #[test]
    fn a_turn_is_never_without_end() {
        assert_eq!(check(3, 1, 2), (vec![0, 1, 2], 1));
    }
}
