//! Answers. T-5, T-6, T-8, T-12

use codec::transport::{ChannelIncarnation, Nic};

use super::{PARAMETERS, REASONS, step};
use crate::transport::{Micros, Transport};

#[test]
fn late_answers_leave_the_machine_as_it_was() {
    let mut nic = Transport::new(Nic(0), PARAMETERS, ChannelIncarnation(7));
    let mut effects = Vec::new();
    for (now, words) in
        [(0, "load 3"), (5, "send 3 a"), (9, "ack 0 0 7 @5"), (10, "send 3 b"), (60, "tick")]
    {
        let words: Vec<_> = words.split_whitespace().collect();
        step(&mut nic, Micros(now), &words, &mut effects);
    }
    let before = nic.clone();
    for seq in [0, 1] {
        for incarnation in [6, 7, 8] {
            for timestamp in [4, 5, 10, 59, 60, 61] {
                let nacks = REASONS.iter().map(|(reason, _)| ("nack", *reason));
                for (kind, reason) in nacks.chain([("ack", "")]) {
                    // T-11: an answer to any transmission is a sign of life.
                    let counts = (seq, incarnation) == (1, 7);
                    let line = format!("{kind} 0 {seq} {incarnation} @{timestamp} {reason}");
                    let words: Vec<_> = line.split_whitespace().collect();
                    step(&mut nic, Micros(70), &words, &mut effects);
                    assert_eq!(nic != before, counts, "{line}");
                    nic = before.clone();
                }
            }
        }
    }
}
