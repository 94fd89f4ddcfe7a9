//! Packets that taps miss, or capture twice, late or corrupted.

use super::check;

cases! {
    /// The first captured transmission may be the second one, and the ACK that of the first.
    #[test]
    fn the_first_message_that_is_seen_may_have_had_its_ack_before() {
        "50 A 7.0 30 | 100 D 7.1 100 =1 | 200 D 7.0 200 =2 | 212 A 7.0 200"
            => "D? DA | 1 of 2 acknowledged, rtt 17/17/17
                200 gone unseen",
    }

    /// Journeys end, and are reported, in another order than their packets were sent.
    #[test]
    fn packets_that_come_out_of_order_are_put_in_order() {
        "112 A 7.1 100 | 0 S 7.0 0 | 100 D 7.1 100 =1 | 12 A 7.0 0"
            => "SA DA | 2 of 2 acknowledged, rtt 17/17/17",
    }

    #[test]
    fn one_transmission_that_two_taps_saw_is_one() {
        "0 S 7.0 0 far | 3 S 7.0 0 | 12 A 7.0 0"
            => "SA | 1 of 1 acknowledged, rtt 17/17/17",
    }
}

/// The link of the host may not have been recorded at the time of the packet.
#[test]
fn the_fate_of_a_packet_near_a_hole_is_unknown() {
    for hole in ["50", "150"] {
        let text = check(&format!(
            "0 S 7.0 0 | 12 A 7.0 0 | {hole} hole | 100 D 7.1 100 far =1 | 4100 D 7.1 4100 =1
             4112 A 7.1 4100"
        ));
        assert!(text.contains("4100 retransmission unknown"), "{text}");
    }
}

/// Any bit of a header may be hurt: the packet is then no other one, and those behind it are what they are.
#[test]
fn a_packet_that_is_hurt_accuses_no_other() {
    for bit in 0..32 {
        for (before, time, behind) in
            [("", 100, "4100 D 7.1 4100 =1"), ("100 D 7.1 100 =1 lost", 4100, "")]
        {
            let stamp = time ^ 1_u32 << bit;
            let hurts = [
                format!("{time} D 7.1 {stamp} bad =9"),
                format!("{time} D 7.0 {time} bad =9"),
                format!("{time} D {}.1 {time} bad =9", 7 ^ 1 << (bit % 16)),
            ];
            for hurt in hurts {
                let text = check(&format!(
                    "0 S 7.0 0 | 12 A 7.0 0 | {before} | {hurt} | {behind} | 8100 D 7.1 8100 =1 | 8112 A 7.1 8100
                     9000 D 7.0 9000 =2 | 9012 A 7.0 9000 | 9500 D 7.1 9500 =3 | 9512 A 7.1 9500"
                ));
                assert!(text.contains("4 of 4 acknowledged"), "{hurt}: {text}");
                let is_calm = |line: &&str| line.contains("retransmission") || line.contains('|');
                let odd: Vec<&str> = text.lines().filter(|line| !is_calm(line)).collect();
                assert!(odd.is_empty(), "{hurt}: {odd:?}");
            }
        }
    }
}

cases! {
    #[test]
    fn a_packet_that_is_not_seen_where_others_arrive_was_lost() {
        "0 S 7.0 0 | 12 A 7.0 0 | 100 D 7.1 100 far =1 | 4100 D 7.1 4100 =1 | 4112 A 7.1 4100"
            => "SA dRA | 2 of 2 acknowledged, rtt 17/17/17
                4100 retransmission lost-data",
        "0 S 7.0 0 far | 4000 S 7.0 4000 far | 4012 A 7.0 4000"
            => "SRA | 1 of 1 acknowledged, rtt 17/17/17
                4000 retransmission unknown",
    }

    #[test]
    fn an_ack_that_went_out_of_sight_need_not_have_arrived() {
        "0 S 7.0 0 | 12 A 7.0 0 far | 4000 S 7.0 4000 | 4012 A 7.0 4000 far"
            => "SARA | 1 of 1 acknowledged, rtt 17/17/17
                4000 retransmission unknown
                4000 duplicate",
    }

    /// Messages were missed: two with the same sequence number prove nothing.
    #[test]
    fn nothing_is_concluded_over_a_hole() {
        "0 S 7.0 0 | 12 A 7.0 0 | 50 hole | 100 D 7.0 100 =1 | 112 A 7.0 100 | 150 hole
         200 D 8.0 200 =2 | 212 N1 8.0 200 | 250 hole | 300 D 8.0 300 =3"
            => "SA DA DN? D? | 2 of 4 acknowledged, rtt 17/17/17
                212 nack not-resident
                300 gone unseen
                300 gone open",
    }

    /// A corrupted header may hold any value; only one that matches is used.
    #[test]
    fn a_packet_that_is_hurt_is_believed_if_it_fits() {
        "0 S 7.0 0 | 12 A 7.0 0 bad | 4000 S 7.0 4000 | 4012 A 7.0 4000 | 4020 A 7.0 9999 bad
         4030 S 9.0 4030 bad | 5000 D 7.1 5000 bad =9 | 9000 D 7.1 9000 =1 | 9012 A 7.1 9000"
            => "SaRA dRA | 2 of 2 acknowledged, rtt 17/17/17
                4000 retransmission corrupt
                4000 duplicate
                9000 retransmission corrupt",
    }

    #[test]
    fn the_middle_of_a_conversation_is_no_fault() {
        "0 A 7.1 0 | 10 D 7.0 20 | 22 A 7.0 20 | 100 D 7.1 100 =1 | 112 A 7.1 100
         200 D 7.0 200 =2"
            => "(DA)2 D? | 2 of 3 acknowledged, rtt 17/17/17
                200 gone open",
    }
}
