//! Ends of messages without acknowledgment, and packets after the end.

use crate::conversation::ObservationKind;

cases! {
    #[test]
    fn a_final_nack_refuses_a_message() {
        "0 S 7.0 0 | 12 N16 7.0 0 | 100 S 8.0 100 =1 | 112 A 8.0 100 | 200 D 8.1 200 =2
         212 N17 8.1 200"
            => "SF SA DF | 1 of 3 acknowledged, rtt 17/17/17
                12 nack bad-key
                100 gone refused
                212 nack no-such-endpoint
                212 gone refused",
    }

    #[test]
    fn a_message_without_any_answer_is_gone_when_its_channel_is_opened_anew() {
        "0 S 7.0 0 | 12 A 7.0 0 | 100 D 7.1 100 lost =1 | 4100 D 7.1 4100 lost =1
         4000000 S 8.0 4000000 =2 | 4000012 A 8.0 4000000"
            => "SA dr< SA | 2 of 3 acknowledged, rtt 17/17/17
                4100 retransmission lost-data
                4000000 gone unanswered",
    }

    #[test]
    fn answers_to_what_is_over_are_late_and_those_to_older_incarnations_stale() {
        "0 S 7.0 0 | 12 A 7.0 0 | 100 D 7.1 100 =1 | 105 A 7.0 0 | 112 A 7.1 100
         200 S 8.0 200 =2 | 205 A 6.0 0 | 212 A 8.0 200"
            => "SA DA SA | 3 of 3 acknowledged, rtt 17/17/17
                105 late
                205 stale",
    }
}

/// T-6, T-12: whatever else was lost, before or after it.
#[test]
fn the_last_refusal_that_arrived_decides_how_a_message_ends() {
    const ANSWERS: [(&str, Option<&str>); 8] = [
        ("", None),
        ("A lost", None),
        ("N1", Some("withdrawn")),
        ("N1 lost", None),
        ("N4", Some("reopened")),
        ("N4 lost", None),
        ("N16", Some("refused")),
        ("N16 lost", None),
    ];
    for number in 0..ANSWERS.len().pow(3) {
        let answers = [number / 64, number / 8 % 8, number % 8].map(|answer| ANSWERS[answer]);
        let mut packets = String::from("0 S 7.0 0 | 12 A 7.0 0");
        for (time, (answer, _)) in [100, 4100, 8100].into_iter().zip(answers) {
            packets += &format!(" | {time} D 7.1 {time} =1");
            let mut words = answer.split(' ');
            if let Some(letter) = words.next().filter(|letter| !letter.is_empty()) {
                let lost = words.next().unwrap_or_default();
                packets += &format!(" | {} {letter} 7.1 {time} {lost}", time + 12);
            }
        }
        packets += " | 4000000 S 8.0 4000000 =2 | 4000012 A 8.0 4000000";
        let (observation, _) = crate::conversation::tests::observations(&packets);
        let gone = observation.iter().find_map(|it| {
            if let ObservationKind::Gone(gone) = it.observed { Some(gone.name()) } else { None }
        });
        let last = answers.iter().rev().find_map(|(_, end)| *end);
        assert_eq!(gone, last.or(Some("unanswered")), "{packets}");
    }
}
