//! Packets that taps miss, or capture twice, late or corrupted.

use super::check;

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
