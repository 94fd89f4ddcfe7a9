//! Damage to packets, and where it came from.

use super::*;

#[test]
fn a_flipped_bit_is_known_modulo_127() {
    // On the way to h1 bit 3 of byte 9 is hurt: 8 bytes and 3 bits are behind it, 8 × 8 + 3 = 67.
    let p = relative();
    let (q, r) = (hop(&p), flip(hop(&hop(&p)), 9, 3));
    assert_eq!(r.len() - 1 - 9, 8);
    let (text, journeys) = journeys(&[(A, &[(100, p)]), (B, &[(140, q)]), (C, &[(180, r)])]);
    insta::assert_snapshot!(text, @"
    1.2500  h0 > s0 0:1 > s1 2:3 > h1                  05       16      1.0000           0  arrived
            hurt between s0:1>s1:2 and s1:3>h1:0: syndrome ^98, wire 3: 1 one became 0
                 byte       9
                 before    09
                 after     01
    ");
    assert_eq!(journeys[0].injuries[0].bit, Some(67));
}

#[test]
fn two_injuries_are_two() {
    let p = relative();
    let q = flip(hop(&p), 4, 0);
    let r = flip(hop(&q), 12, 7);
    insta::assert_snapshot!(analysis_text(&[(A, &[(100, p)]), (B, &[(140, q)]), (C, &[(180, r)])]), @"
    1.2500  h0 > s0 0:1 > s1 2:3 > h1                  05       16      1.0000           0  arrived
            hurt between h0:0>s0:0 and s0:1>s1:2: syndrome ^e5, wire 0: 1 one became 0
                 byte       4
                 before    03
                 after     02
            hurt between s0:1>s1:2 and s1:3>h1:0: syndrome ^97, wire 7: 1 zero became 1
                 byte      12
                 before    0c
                 after     8c
    ");
}

#[test]
fn the_parity_of_a_syndrome_is_that_of_the_flipped_bits() {
    let p = relative();
    let q = flip(flip(hop(&p), 4, 0), 7, 2);
    let r = flip(flip(flip(hop(&q), 3, 0), 6, 2), 9, 1);
    insta::assert_snapshot!(analysis_text(&[(A, &[(100, p)]), (B, &[(140, q)]), (C, &[(180, r)])]), @"
    1.2500  h0 > s0 0:1 > s1 2:3 > h1                  05       16      1.0000           0  arrived
            hurt between h0:0>s0:0 and s0:1>s1:2: syndrome ^99, no single wire: wire 0: 1 one became 0; wire 2: 1 one became 0
                 byte       4     7
                 before    03    06
                 after     02    02
            hurt between s0:1>s1:2 and s1:3>h1:0: syndrome ^bf, no single wire: wire 0: 1 zero became 1; wire 1: 1 zero became 1; wire 2: 1 zero became 1
                 byte       3     6     9
                 before    02    02    09
                 after     03    06    0b
    ");
}

/// W-8
#[test]
fn errors_of_one_wire_are_located() {
    let short = relative();
    let long = packet(&[&[0x81, 0x81, 5][..], &(0..=200).collect::<Vec<u8>>()].concat());
    let insert = |bytes: Vec<u8>, at: usize| {
        let (head, tail) = bytes.split_at(at);
        [head, &[0], tail].concat()
    };
    let double = |bytes: Vec<u8>, one, other, bit| flip(flip(bytes, one, bit), other, bit);
    let last = hop(&short).len() - 1;
    for (sent, left, expected) in [
        (&short, double(hop(&short), 4, 5, 3), "byte.bit 4.3 and 5.3: one wire (W-8)".to_owned()),
        (&short, hop(&double(short.clone(), 4, 5, 3)), "byte.bit 3.3 and 4.3: one wire".to_owned()),
        (&short, double(hop(&short), 2, last, 7), format!("byte.bit 2.7 and {last}.7: one wire")),
        (&long, double(hop(&long), 3, 62, 0), "byte.bit 3.0 and 62.0: one wire".to_owned()),
        (&long, double(hop(&long), 3, 180, 6), "byte.bit 3.6 and 180.6: one wire".to_owned()),
        // The CRC is good all the same: x has order 127, and x + x¹⁶ + x³² + 1 = 0 in x⁸ for x. P-4
        (&long, double(hop(&long), 3, 130, 6), "wire 6: ".to_owned()),
        (&long, double(double(hop(&long), 10, 26, 3), 41, 42, 3), "wire 3: ".to_owned()),
        (&short, insert(hop(&short), 4), "byte 4, 00, was inserted".to_owned()),
        (&short, hop(&insert(short.clone(), 5)), "byte 4, 00, was inserted".to_owned()),
        (&long, insert(hop(&long), 64), "byte 64, 00, was inserted".to_owned()),
        (&short, flip(flip(hop(&short), 4, 3), 5, 2), "no single wire: wire 2: 1 ".to_owned()),
        (&short, double(insert(hop(&short), 4), 6, 7, 2), String::new()),
    ] {
        let text = analysis_text(&[(A, &[(100, sent.clone())]), (B, &[(140, left)])]);
        assert!(text.contains(&expected), "{expected}: {text}");
        let is_located = text.contains("wire") || text.contains("inserted");
        assert_eq!(is_located, !expected.is_empty(), "{text}");
    }
}

#[test]
fn a_hurt_crc_byte_is_told_from_hurt_bytes() {
    let p = relative();
    let last = p.len() - 1;
    let q = hop(&flip(p.clone(), last, 6));
    let r = hop(&q);
    insta::assert_snapshot!(analysis_text(&[(A, &[(100, p)]), (B, &[(140, q)]), (C, &[(180, r)])]), @"
    1.2500  h0 > s0 0:1 > s1 2:3 > h1                  05       16      1.0000           0  arrived
            hurt between h0:0>s0:0 and s0:1>s1:2: syndrome ^40, wire 6: 1 one became 0
                 byte      18
                 before    c7
                 after     87
    ");
}

#[test]
fn what_a_recording_begins_inside_was_not_hurt_before_it() {
    // Of what is first its beginning is missing, at the start and behind a hole; of the others it is not.
    let text = "GO 09 0a 0b 0c GAP (GO)×20 GAP 05 01 02 03 GAP".to_owned();
    let file = recording(&[(C, vec![(100, text.clone()), (1000, text)])]);
    insta::assert_snapshot!(read(&file).0, @"
     1.2625  s1 > h1                                     -        2           -           -  arrived
     1.5875  s1 > h1                                    05        2           -           -  arrived
             hurt before s1:3>h1:0: syndrome ^d8, an even number of bits flipped
    12.5125  s1 > h1                                     -        2           -           -  arrived
    12.8375  s1 > h1                                    05        2           -           -  arrived
             hurt before s1:3>h1:0: syndrome ^d8, an even number of bits flipped
    ");
}

#[test]
fn a_bit_flipped_where_nothing_was_captured_is_located() {
    // Between the switches bit 2 of byte 7: of 19 bytes 11 are behind it, so 8 × 11 + 2 = 90. Then one of the CRC byte.
    let (p, q) = (relative(), hop(&relative()));
    let text = [flip(q.clone(), 7, 2), flip(q.clone(), q.len() - 1, 5)]
        .map(|q| analysis_text(&[(A, &[(100, p.clone())]), (C, &[(180, hop(&q))])]));
    insta::assert_snapshot!(text.concat(), @"
    1.2500  h0 > s0:0 ⋯2⋯ s1:3 > h1                    05       16      1.0000           -  arrived, by order
            hurt between h0:0>s0:0 and s1:3>h1:0, or on 1 link not captured: syndrome ^7c, wire 2: 1 one became 0
                 byte       6
                 before    06
                 after     02
    1.2500  h0 > s0:0 ⋯2⋯ s1:3 > h1                    05       16      1.0000           -  arrived, by order
            hurt between h0:0>s0:0 and s1:3>h1:0, or on 1 link not captured: syndrome ^20, wire 5: 1 zero became 1
                 byte      17
                 before    86
                 after     a6
    ");
}

#[test]
fn few_bits_flipped_where_nothing_was_captured_are_told_if_none_else_can_be_meant() {
    let p = relative();
    let r = hop(&flip(flip(flip(hop(&p), 3, 0), 6, 2), 9, 1));
    insta::assert_snapshot!(analysis_text(&[(A, &[(100, p.clone())]), (C, &[(180, r.clone())])]), @"
    1.2500  h0 > s0:0 ⋯2⋯ s1:3 > h1                    05       16      1.0000           -  arrived, by order
            hurt between h0:0>s0:0 and s1:3>h1:0, or on 1 link not captured: syndrome ^34, no single wire: wire 0: 1 zero became 1; wire 1: 1 zero became 1; wire 2: 1 one became 0
                 byte       2     5     8
                 before    02    05    08
                 after     03    01    0a
    ");
    let other = packet(&[0x81, 0x81, 5, 9, 9, 9, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
    insta::assert_snapshot!(analysis_text(&[(A, &[(100, p), (130, other)]), (C, &[(180, r)])]), @"
    2.2500  s1 > h1                                    05       16           -           -  arrived
            hurt before s1:3>h1:0: syndrome ^34, an odd number of bits flipped
                 if one bit, it is the one with 79 behind it, modulo 127: byte.bit 8.7
    1.2500  h0 > s0 0:1                                05       16           -           -  out of sight
    1.6250  h0 > s0 0:1                                05       16           -           -  out of sight
    ");
}

#[test]
fn what_was_hurt_out_of_sight_is_not_taken_for_what_it_cannot_have_been() {
    let p = relative();
    let r = hop(&flip(hop(&p), 7, 2));
    // Longer by a byte; with another route left; later; and one of two that are alike.
    let longer =
        packet(&[0x81, 0x81, 5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]);
    insta::assert_snapshot!(analysis_text(&[(A, &[(100, longer)]), (C, &[(180, r.clone())])]), @"
    2.2500  s1 > h1                                    05       16           -           -  arrived
            hurt before s1:3>h1:0: syndrome ^7c, an odd number of bits flipped
                 if one bit, it is the one with 90 behind it, modulo 127: byte.bit 6.2
    1.2500  h0 > s0 0:1                                05       17           -           -  out of sight
    ");
    let elsewhere = packet(&[&[0x81, 0x83, 0x81], &p[2..19]].concat());
    let left = flip(packet(&[&[0x82], &p[2..19]].concat()), 7, 2);
    insta::assert_snapshot!(analysis_text(&[(A, &[(100, elsewhere)]), (C, &[(180, left)])]), @"
    1.2500  h0 > s0 0:1                                05       16           -           -  out of sight
    2.2500  s1 > h1 0:2                                05       16           -           -  out of sight
            hurt before s1:3>h1:0: syndrome ^7c, an odd number of bits flipped
                 if one bit, it is the one with 90 behind it, modulo 127: byte.bit 7.2
    ");
    insta::assert_snapshot!(analysis_text(&[(A, &[(300, p.clone())]), (C, &[(180, r.clone())])]), @"
    2.2500  s1 > h1                                    05       16           -           -  arrived
            hurt before s1:3>h1:0: syndrome ^7c, an odd number of bits flipped
                 if one bit, it is the one with 90 behind it, modulo 127: byte.bit 6.2
    3.7500  h0 > s0 0:1                                05       16           -           -  out of sight
    ");
    insta::assert_snapshot!(analysis_text(&[(A, &[(100, p.clone()), (130, p)]), (C, &[(180, r)])]), @"
    2.2500  s1 > h1                                    05       16           -           -  arrived
            hurt before s1:3>h1:0: syndrome ^7c, an odd number of bits flipped
                 if one bit, it is the one with 90 behind it, modulo 127: byte.bit 6.2
    1.2500  h0 > s0 0:1                                05       16           -           -  out of sight
    1.6250  h0 > s0 0:1                                05       16           -           -  out of sight
    ");
}
