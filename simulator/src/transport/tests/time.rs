//! Timers. T-8, T-10, T-11

use codec::transport::ChannelIncarnation;

use super::{PARAMETERS, check, check_with};
use crate::transport::TransportParameters;

#[test]
fn the_timeout_is_exceeded() {
    for (scan, resent) in [(39, 0), (40, 0), (41, 1)] {
        let script = format!("0 load 3\n 5 send 3 a\n {} tick", 5 + scan);
        let picture = check(&script);
        assert_eq!(picture.matches("Retransmitted").count(), resent, "{picture}");
    }
}

/// T-11
#[test]
fn a_message_goes_back_when_as_many_retransmissions_as_there_may_be_had_no_answer() {
    for retries in [0, 1, 3, 20] {
        let parameters = TransportParameters { retries, ..PARAMETERS };
        let ticks: String =
            (0..=retries).map(|count| format!("\n {} tick", 50 * (count + 1))).collect();
        let picture =
            check_with(parameters, ChannelIncarnation(7), &format!("0 load 3\n 5 send 3 a{ticks}"));
        assert_eq!(picture.matches("Retransmitted").count(), retries as usize, "{picture}");
        assert!(picture.ends_with("tick\n  returned a, unreachable\n"), "{picture}");
    }
}

/// With very short timers each answer followed the next transmission; of 8993 NACKs none counted
/// once, and their sender was declared unreachable. T-8, T-11
#[test]
fn a_nack_of_an_earlier_transmission_is_a_sign_of_life() {
    let turn = |count: u32| {
        let now = 50 * (count + 1);
        format!("\n {now} tick\n {} nack 0 0 7 @{} full", now + 1, (now - 50).max(5))
    };
    let turns: String = (0..8993).map(turn).collect();
    let picture = check(&format!("0 load 3\n 5 send 3 a{turns}"));
    assert_eq!(picture.matches("noted Refused(QueueFull)").count(), 8993);
    assert_eq!(picture.matches("noted Retransmitted").count(), 8993);
    assert_eq!(picture.matches("returned").count(), 0);
}
