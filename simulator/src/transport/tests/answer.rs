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
                for answer in ["ack", "nack"]
                    .into_iter()
                    .flat_map(|kind| REASONS.iter().map(move |(reason, _)| (kind, *reason)))
                {
                    let counts = match answer.0 {
                        "ack" => (seq, incarnation) == (1, 7),
                        // T-11: whichever transmission it is of, there was a sign of life.
                        _ => (seq, incarnation) == (1, 7),
                    };
                    let line =
                        format!("{} 0 {seq} {incarnation} @{timestamp} {}", answer.0, answer.1);
                    let words: Vec<_> = line.split_whitespace().collect();
                    step(&mut nic, Micros(70), &words, &mut effects);
                    assert_eq!(nic != before, counts, "{line}");
                    nic = before.clone();
                }
            }
        }
    }
}
