//! Laws: properties that hold for any input bytes, as functions that panic if an input breaks them.
//!
//! Fuzz targets, the replay of `corpus/` and seeded storms check them. Inputs are in real formats: chunk
//! payloads, frames, notation, capture files.

#![expect(missing_docs, reason = "not published; names that say enough have no comment")]
#![expect(clippy::missing_panics_doc, reason = "laws panic if an input breaks them")]

pub mod analyze;
#[cfg(test)]
mod canaries;
pub mod capture;
pub mod capture_input;
pub mod chars;
pub mod corpus;
pub mod crossbar;
pub mod damaged_wire;
pub mod delivery;
pub mod endpoints;
pub mod engines;
pub mod explorer;
pub mod failure;
pub mod fibre;
pub mod filter;
pub mod ip;
pub mod journeys;
pub mod judged_network;
pub mod link;
pub mod mapping;
pub mod model;
pub mod mutator;
pub mod network;
pub mod notation;
pub mod packet;
pub mod receiver;
mod record_ops;
pub mod recordings;
pub mod reference;
pub mod repair;
pub mod reproduction;
pub mod scenario;
pub mod score;
mod shrink;
pub mod single_thread;
pub mod standstill;
pub mod states;
pub mod storm;
pub mod taps;
mod trace;
pub mod transport;
pub mod transport_framing;
pub mod transport_packet;
pub mod unrecorded;
mod variety;
pub mod vita26;
pub mod wires;

/// Law of a target: panics if an input breaks it.
pub type LawFunction = fn(&[u8]);

/// Fuzz target: one law, or several of one domain, each a mode that the first byte of an input selects.
#[derive(Clone, Copy, Debug)]
pub struct LawTarget {
    /// Name of its directory in `corpus/`.
    pub name: &'static str,
    /// The law of the mode that an input selects.
    pub law: LawFunction,
    /// Names and laws of the modes; empty if there is one law.
    pub modes: &'static [(&'static str, LawFunction)],
}

pub fn target(name: &str) -> Option<&'static LawTarget> {
    TARGETS.iter().find(|target| target.name == name)
}

/// Checks the law of a target, or of the mode that an input selects.
pub fn run(name: &str, input: &[u8]) {
    let Some(target) = target(name) else { return };
    let (mode, body) = target.select(input);
    target.modes.get(mode).map_or(target.law, |(_, law)| *law)(body);
}

impl LawTarget {
    /// Mode of an input and the rest of it: the first bytes ff, fe, and so on are modes 0, 1, and so on; any
    /// other belongs to an input of mode 0. No text, capture, chunk or message begins with them.
    pub fn select<'a>(&self, input: &'a [u8]) -> (usize, &'a [u8]) {
        match input.split_first() {
            Some((byte, body)) if usize::from(!byte) < self.modes.len() => ((!byte).into(), body),
            Some(_) | None => (0, input),
        }
    }

    /// Input that selects a mode: undone by [`LawTarget::select`].
    pub fn input(&self, mode: usize, body: &[u8]) -> Vec<u8> {
        match u8::try_from(mode) {
            Ok(mode) if self.select(body) != (mode.into(), body) => [&[!mode], body].concat(),
            Ok(_) | Err(_) => body.to_vec(),
        }
    }
}

const fn single(name: &'static str, law: LawFunction) -> LawTarget {
    LawTarget { name, law, modes: &[] }
}

pub const TARGETS: &[LawTarget] = &[
    LawTarget {
        name: "analyze",
        law: |input| run("analyze", input),
        modes: &[("analyze-any", analyze::law), ("analyze-threads", analyze::threads)],
    },
    LawTarget {
        name: "capture",
        law: |input| run("capture", input),
        modes: &[
            ("capture-read", capture::law),
            ("capture-blocks", capture::blocks::law),
            ("capture-cuts", capture::cuts::law),
            ("capture-rows", capture::rows::law),
            ("capture-plans", capture::plans::law),
            ("capture-index", capture::index::law),
        ],
    },
    LawTarget {
        name: "chars",
        law: |input| run("chars", input),
        modes: &[("chars-runs", chars::law), ("chars-single", receiver::payload)],
    },
    single("crossbar", crossbar::law),
    single("endpoints", endpoints::law),
    single("engines", engines::law),
    LawTarget {
        name: "filter",
        law: |input| run("filter", input),
        modes: &[
            ("filter-text", filter::law),
            ("filter-rows", filter::rows),
            ("filter-errors", filter::shown),
        ],
    },
    single("link", link::law),
    LawTarget {
        name: "mapping",
        law: |input| run("mapping", input),
        modes: &[("mapping-machines", mapping::law), ("mapping-packets", mapping::packets)],
    },
    LawTarget {
        name: "message",
        law: |input| run("message", input),
        modes: &[
            ("message-fields", transport_packet::law),
            ("message-stream", transport_framing::law),
            ("message-vita26", vita26::law),
            ("message-ip", ip::law),
        ],
    },
    LawTarget {
        name: "network",
        law: |input| run("network", input),
        modes: &[
            ("network-any", judged_network::law),
            ("network-switch", judged_network::switch),
            ("network-talk", delivery::law),
        ],
    },
    LawTarget {
        name: "notation",
        law: |input| run("notation", input),
        modes: &[("notation-short", notation::law), ("notation-long", notation::long)],
    },
    single("packet", packet::law),
    single("receiver", receiver::law),
    LawTarget {
        name: "recordings",
        law: |input| run("recordings", input),
        modes: &[
            ("recordings-vcd", recordings::vcd),
            ("recordings-table", recordings::table),
            ("recordings-sigrok", recordings::sigrok),
            ("recordings-session", recordings::session),
            ("recordings-trip", recordings::trip),
            ("recordings-fst", recordings::fst),
        ],
    },
    LawTarget {
        name: "scenario",
        law: |input| run("scenario", input),
        modes: &[
            ("scenario-text", scenario::law),
            ("scenario-errors", scenario::shown),
            ("scenario-run", scenario::tried),
        ],
    },
    single("states", states::law),
    single("transport", transport::law),
    LawTarget {
        name: "wires",
        law: |input| run("wires", input),
        modes: &[("wires-window", wires::law), ("wires-any", wires::any)],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_selects_a_mode_and_is_made_for_one() {
        let capture = target("capture").unwrap();
        assert_eq!(capture.select(&[0xfc, 1, 2]), (3, &[1, 2][..]));
        assert_eq!(capture.select(&[0x0a, 0x0d]), (0, &[0x0a, 0x0d][..]));
        for (mode, body) in [(0, &[0x0a, 1][..]), (0, &[0xfe]), (0, &[]), (2, &[9]), (4, &[])] {
            assert_eq!(capture.select(&capture.input(mode, body)), (mode, body));
        }
        assert_eq!(target("packet").unwrap().select(&[0xff, 1]), (0, &[0xff, 1][..]));
    }
}
