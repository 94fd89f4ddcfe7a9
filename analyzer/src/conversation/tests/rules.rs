//! Violations of rules, and near misses. T-2, T-4, T-5, T-12

use super::check;

cases! {
    #[test]
    fn a_message_behind_one_that_was_not_acknowledged_breaks_a_rule_where_acks_are_seen() {
        "0 S 7.0 0 | 12 A 7.0 0 | 100 D 7.1 100 =1 | 200 D 7.0 200 =2 | 212 A 7.0 200"
            => "SA D?! DA | 2 of 3 acknowledged, rtt 17/17/17
                200 gone unseen
                200 two-outstanding",
        // No answer was ever captured on that link: a missing one proves nothing.
        "0 S 7.0 0 | 200 D 7.1 200 =2"
            => "S? D? | 0 of 2 acknowledged
                200 gone unseen
                200 gone open",
        // The recording has a hole in between.
        "0 S 7.0 0 | 12 A 7.0 0 | 100 D 7.1 100 =1 | 120 hole | 200 D 7.0 200 =2
         212 A 7.0 200"
            => "SA D? DA | 2 of 3 acknowledged, rtt 17/17/17
                200 gone unseen",
    }

    #[test]
    fn numbers_flip_behind_an_ack_only_which_answers_nothing_lost_or_hurt() {
        "0 S 7.0 0 | 12 A 7.0 0 | 100 D 7.0 100 =1 | 112 N2 7.0 100 | 200 D 7.0 200 =2
         212 A 7.0 200"
            => "SA! DN?! DA | 2 of 3 acknowledged, rtt 17/17/17
                100 sequence-not-flipped
                112 nack queue-full
                200 gone unseen
                200 message-altered",
        "0 S 7.0 0 hurt | 12 A 7.0 0"
            => "sA! | 1 of 1 acknowledged, rtt 17/17/17
                12 ack-of-lost",
    }

    #[test]
    fn what_was_acknowledged_must_neither_be_refused_nor_sent_again() {
        "0 S 7.0 0 | 12 A 7.0 0 | 100 D 7.1 100 =1 | 112 A 7.1 100 | 4100 D 7.1 4100 =1
         4112 N2 7.1 4100"
            => "SA DAR!N! | 2 of 2 acknowledged, rtt 17/17/17
                4100 retransmission after-ack
                4100 resent-after-ack
                4112 nack queue-full
                4112 nack-after-ack",
    }
}

/// T-12: a restarted receiver has no state and may refuse a message that it had written.
#[test]
fn a_receiver_that_knows_nothing_may_refuse_what_it_acknowledged() {
    let text = check(
        "0 S 7.0 0 | 12 A 7.0 0 | 100 D 7.1 100 =1 | 112 A 7.1 100 lost | 4100 D 7.1 4100 =1
         4112 N4 7.1 4100 | 8100 S 8.0 8100 =1 | 8112 A 8.0 8100",
    );
    assert!(
        text.contains("4112 nack no-channel-state") && !text.contains("nack-after-ack"),
        "{text}"
    );
}

cases! {
    #[test]
    fn a_new_incarnation_needs_sync_and_an_old_one_bears_none() {
        "0 S 7.0 0 | 12 A 7.0 0 | 100 D 8.0 100 =1 | 112 A 8.0 100 | 200 S 8.1 200 =2
         212 A 8.1 200"
            => "SA D!A S!A | 3 of 3 acknowledged, rtt 17/17/17
                100 sync-missing
                200 sync-again",
    }

    #[test]
    fn an_answer_to_what_was_not_sent_breaks_a_rule_where_data_is_seen() {
        "0 S 7.0 50 | 12 A 7.0 50 | 20 A 7.1 60 | 30 A 7.1 40"
            => "SA | 1 of 1 acknowledged, rtt 17/17/17
                20 answer-unasked",
    }
}
