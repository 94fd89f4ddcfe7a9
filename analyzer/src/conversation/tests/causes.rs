//! Causes of retransmissions, and storms. T-10

use super::check;

cases! {
    #[test]
    fn data_that_was_hurt_is_sent_again_for_being_corrupt() {
        "0 S 7.0 0 hurt | 4000 S 7.0 4000 | 4012 A 7.0 4000 hurt | 8000 S 7.0 8000
         8012 A 7.0 8000"
            => "sRaRA | 1 of 1 acknowledged, rtt 17/17/17
                4000 retransmission corrupt
                8000 retransmission corrupt
                8000 duplicate",
    }

    #[test]
    fn data_whose_ack_was_lost_is_a_duplicate_when_it_comes_again() {
        "0 S 7.0 0 | 12 A 7.0 0 lost | 4000 S 7.0 4000 | 4012 A 7.0 4000 | 4100 D 7.1 4100 =1
         4112 A 7.1 4100"
            => "SaRA DA | 2 of 2 acknowledged, rtt 17/17/17
                4000 retransmission lost-ack
                4000 duplicate",
    }

    /// The ACK of the first transmission is in transit when the second is made: the first ACK counts,
    /// and the second is late.
    #[test]
    fn a_timer_is_too_early_if_an_answer_was_on_its_way() {
        "0 S 7.0 0 | 3000 A 7.0 0 2000 | 4000 S 7.0 4000 | 4500 A 7.0 4000 2000
         5100 D 7.1 5100 =1 | 5112 A 7.1 5100"
            => "SATA DA | 2 of 2 acknowledged, rtt 17/2505/5000
                3000 late
                4000 retransmission too-early
                4000 duplicate",
    }
}

/// A NACK causes no retransmission, the scan does. Two taps show each. Repeated letters are abbreviated.
#[test]
fn a_full_queue_makes_a_storm_of_nacks() {
    let mut lines = String::new();
    for round in 0..9 {
        let time = round * 4000;
        lines += &format!("{time} S 7.0 {time}\n{} N2 7.0 {time}\n", time + 12);
        lines += &format!("{} N2 7.0 {time} tap2\n", time + 14);
    }
    lines += "36000 S 7.0 36000\n36012 A 7.0 36000\n";
    let text = check(&lines);
    let odd: Vec<&str> = text.lines().filter(|line| line.contains("storm")).collect();
    assert_eq!(text.lines().next(), Some("S(NR)9A | 1 of 1 acknowledged, rtt 17/17/17"));
    assert_eq!(odd, ["28012 nack-storm"]);
}

#[test]
fn a_message_that_gets_no_answer_makes_a_storm() {
    // The ninth transmission is the eighth retransmission. Answers that were not recorded prove nothing.
    for (fate, storm, history) in [
        ("lost", &["32000 retransmission-storm"][..], "sr11? | 0 of 1 acknowledged"),
        ("lost blind", &["32000 retransmission-storm"], "sr11? | 0 of 1 acknowledged"),
        ("", &["32000 retransmission-storm"], "SR11? | 0 of 1 acknowledged"),
        ("blind", &[], "SR11? | 0 of 1 acknowledged"),
    ] {
        let line = |n| format!("{0} S 7.0 {0} {fate}\n", n * 4000);
        let text = check(&(0..12).map(line).collect::<String>());
        let odd: Vec<&str> = text.lines().filter(|line| line.contains("storm")).collect();
        assert_eq!(odd, storm, "{fate}");
        assert_eq!(text.lines().next(), Some(history), "{fate}");
    }
}
