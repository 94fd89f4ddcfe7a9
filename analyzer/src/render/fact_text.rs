//! Facts of findings in words.

use super::count;
use crate::finding::NOTHING_FOLLOWS;
use crate::finding_row::{FirstOccurrence, ShownFact};

/// Maximum number of channels named of a chain.
const CHAIN_SHOWN: usize = 6;

/// Facts about the first occurrence, in words.
pub fn details(first: &FirstOccurrence<'_>) -> String {
    // Bytes tell more than a syndrome.
    let has_bytes = first.0.iter().any(|(name, _)| *name == "became");
    let is_none = |name, fact: &ShownFact<'_>| {
        ["cleared", "set"].contains(&name) && *fact == ShownFact::Number(0)
    };
    let is_less = |name| has_bytes && ["flipped", "bit"].contains(&name);
    let shown = first.0.iter().filter(|(name, fact)| !is_less(*name) && !is_none(*name, fact));
    let words: Vec<String> = shown.map(|(name, fact)| detail(name, fact)).collect();
    words.join(", ")
}

fn detail(name: &str, fact: &ShownFact<'_>) -> String {
    match fact {
        ShownFact::Byte(byte) if name == "code" => format!("0x{byte:02x}"),
        ShownFact::Byte(byte) => format!("{name} {byte:02x}"),
        ShownFact::Text(text) if name == "symbol" => format!("corrected to {text}"),
        ShownFact::Text(text) if name == "after" => format!("unchanged up to {text}"),
        ShownFact::Text("end") if name == "until" => "to the end".to_owned(),
        ShownFact::Text(text) if name == "cause" && *text == NOTHING_FOLLOWS => {
            "nothing follows".to_owned()
        }
        ShownFact::Text(text) if name == "unrecorded" => format!("{text} not recorded"),
        ShownFact::Text(text) if name == "wire" => (*text).to_owned(),
        ShownFact::Text(text) if name == "flipped" => format!("an {text} number of bits flipped"),
        ShownFact::Text(text) => format!("{name} {text}"),
        ShownFact::Address(address) => format!("{} {address}", name.replace('_', " ")),
        ShownFact::Texts(names) => {
            let shown = names.get(..CHAIN_SHOWN).unwrap_or(names).join(" → ");
            let more = if names.len() > CHAIN_SHOWN { " → …" } else { "" };
            match name {
                "circle" => format!("{shown}{more} → again"),
                _ => format!("waits for {shown}{more}"),
            }
        }
        ShownFact::Number(number) => match name {
            "share" => format!("{number} % of the time"),
            "length" | "bytes" => count(*number, "byte"),
            "cells" => format!("by {}", count(*number, "cell")),
            "periods" => count(*number, "period"),
            "missing" => count(*number, "character"),
            "after_stop" => format!("{} after STOP", count(*number, "period")),
            "rounds" => format!("{} more", count(*number, "round")),
            "every" => format!("{} each", count(*number, "character")),
            "number" => format!("PRB{number}"),
            "wire" if *number == 8 => "wire d".to_owned(),
            "skew_ps" => format!("longest character {number} ps"),
            "window_ps" => format!("window {number} ps"),
            "tolerance_ppm" => format!("tolerance {number} ppm"),
            "ppm" => format!("{number} ppm"),
            "glitches" => count(*number, "second transition"),
            "cleared" => format!("{} became 0", count(*number, "one")),
            "set" => format!("{} became 1", count(*number, "zero")),
            "apart" => format!("{} apart", count(*number, "byte")),
            "missing_bytes" => format!("{} missing", count(*number, "byte")),
            "more_bytes" => format!("{} more", count(*number, "byte")),
            "beyond_ns" => format!("{number} ns over the bound"),
            "bit" => format!("{number} bits before its end if one bit flipped, modulo 127"),
            "source" => format!("from NIC {number}"),
            "destination" => format!("to NIC {number}"),
            "logical_channel" => format!("logical channel {number}"),
            _ => format!("{name} {number}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_wires_without_a_change_and_what_bytes_tell_are_left_out() {
        let number = |name, number| (name, ShownFact::Number(number));
        for (facts, text) in [
            (vec![number("cleared", 0), number("set", 2)], "2 zeros became 1"),
            (vec![number("bytes", 0), number("wire", 8)], "0 bytes, wire d"),
            (vec![number("bit", 3), ("became", ShownFact::Byte(7))], "became 07"),
        ] {
            assert_eq!(details(&FirstOccurrence(facts)), text);
        }
    }
}
