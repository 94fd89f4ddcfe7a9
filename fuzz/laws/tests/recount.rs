//! Totals are what a few plain lines make of the rows of the same capture, to the last digit: of random networks of
//! mixed rates whose links break, and of any characters, recorded with holes, cut, and several to a file.

mod capture_rows;
mod findings;
mod links;
mod maps;
mod states;
mod traffic;
mod waits;

use std::num::NonZeroU64;
use std::panic::catch_unwind;

use analyzer::mapping::MappingEvent;
use analyzer::options::AnalysisScope;
use analyzer::pipeline::AnalysisEvent;
use analyzer::window::{TimeWindow, WindowEdge};
use codec::capture::{Channel, merge};
use codec::time::Tick;
use laws::capture_input::{CaptureInput, drawn_link, drawn_repetition};
use laws::corpus;
use laws::network::analyzed::analyzed;
use laws::network::input::NetworkInput;
use laws::network::run::run;
use laws::repair::{SeededRng, draws};
use laws::single_thread::use_one_thread;
use laws::taps;
use laws::unrecorded::RecordedChunks;
use simulator::truth::TraceLevel;

use self::capture_rows::CaptureRows;

/// Returns the number of waits that ended with two reasons at once.
fn check(capture: &[u8], dice: &mut SeededRng) -> usize {
    let rows = CaptureRows::of(capture);
    links::check(capture, &rows);
    findings::check(&rows);
    findings::check_waits(&rows);
    traffic::check_flows(&rows);
    for _ in 0..2 {
        // From less than a character to more than a packet.
        let magnitude = 12 + dice.below(16);
        let every = 1000 + dice.below(1 << magnitude);
        traffic::check_series(&rows, NonZeroU64::new(every).unwrap());
    }
    waits::check(&rows)
}

fn named_check(name: &str, capture: &[u8], dice: &mut SeededRng) -> usize {
    let mut aside = dice.clone();
    let held = catch_unwind(move || check(capture, &mut aside));
    held.unwrap_or_else(|_| panic!("{name}"))
}

/// The capture of a random network, whole and with parts left out.
fn networks(dice: &mut SeededRng) -> Option<Vec<(&'static str, Vec<u8>)>> {
    let mut scenario = NetworkInput::from_bytes(&dice.bytes_within(60, 640))?.scenario()?;
    if dice.below(2) == 0 {
        scenario.taps = taps::at_every_cable(&scenario);
    }
    if scenario.taps.is_empty() {
        return None;
    }
    let whole = run(&scenario, TraceLevel::Nothing, 1000).capture;
    let chunks = RecordedChunks::of(&whole);
    let holes = chunks.without(chunks.draw(dice));
    let edge = |at| WindowEdge::Character(Tick(at));
    let [from, len] = [(); 2].map(|()| dice.below(scenario.duration));
    let window = TimeWindow { from: edge(from / 2), to: Some(edge(from / 2 + len)) };
    let mut select = |_, channel: &_| window.on(channel);
    let cut = merge([(&*whole, 0)], Vec::new(), &mut select, &mut |_, fault| panic!("{fault}"));
    let (cut, count) = cut.unwrap();
    let several = ("several", [&*whole, &holes].concat());
    let mut captures = vec![("whole", whole), ("with holes", holes), several];
    captures.extend((count.characters > 0).then_some(("cut", cut)));
    Some(captures)
}

#[test]
fn totals_of_networks_are_those_of_their_rows() {
    let (mut dice, mut seen, mut ties) = (SeededRng::new(b"recount"), 0, 0);
    for number in 0..draws(60) {
        let Some(captures) = networks(&mut dice) else { continue };
        seen += 1;
        for (name, capture) in captures {
            ties += named_check(&format!("network {number}, {name}"), &capture, &mut dice);
        }
    }
    assert!(seen > draws(60) / 2 && ties > 0, "{seen} {ties}");
}

/// a probe may follow another before the answer, and an answer may be lost.
#[test]
fn totals_of_a_link_are_those_of_its_rows() {
    let mut dice = SeededRng::new(b"recount of links");
    for number in 0..draws(100) {
        named_check(&format!("link {number}"), &drawn_link(&mut dice), &mut dice);
    }
    for number in 0..draws(20) {
        named_check(&format!("repetition {number}"), &drawn_repetition(&mut dice), &mut dice);
    }
}

#[test]
fn totals_of_any_characters_are_those_of_their_rows() {
    let mut dice = SeededRng::new(b"recount of characters");
    for number in 0..draws(400) {
        let plan = CaptureInput::from_bytes(&dice.bytes_within(40, 400));
        let Some(capture) = plan.and_then(|plan| plan.file().ok()) else { continue };
        named_check(&format!("capture {number}"), &capture, &mut dice);
    }
}

/// S-9
#[test]
fn totals_of_copies_are_those_of_their_rows() {
    for file in ["multicast/copies.pcapng", "demo-multicast/capture.pcapng"] {
        let capture = corpus::file(&format!("fixtures/{file}"));
        named_check(file, &capture, &mut SeededRng::new(b"recount of copies"));
    }
}

/// N-2
#[test]
fn maps_are_counted_once_however_often_an_interface_tells() {
    let (mut dice, mut spread) = (SeededRng::new(b"recount of maps"), 0);
    let places = [taps::at_every_cable, taps::at_far_ends, taps::at_every_port];
    for (number, taps) in (0..draws(4)).flat_map(|number| places.map(|taps| (number, taps))) {
        let text = format!(
            "seed = {number}\nduration_us = 1600\nroutes.method = 'mapped'\n\
             topology = {{ kind = 'line', switches = 2, hosts_per_switch = 2 }}\n\
             mapper = {{ period_us = 400, timeout_us = 20, tries = 3 }}\n\
             [[fault]]\nat_us = 0\nnoise = 'any'\nmean_characters = {}\nerrors = 'flip'\n",
            500 + dice.below(3000),
        );
        let mut scenario = crate::read(&text);
        scenario.taps = taps(&scenario);
        let capture = run(&scenario, TraceLevel::Nothing, 1000).capture;
        for taps in [u64::MAX, dice.roll(), dice.roll()] {
            let mut number = 0;
            // Both directions at a tap.
            let mut select = |_, _: &Channel| {
                number += 1;
                (Tick(0), Tick(if taps >> (number / 2) & 1 == 1 { u64::MAX } else { 0 }))
            };
            let part =
                merge([(&*capture, 0)], Vec::new(), &mut select, &mut |_, it| panic!("{it}"));
            let (part, count) = part.unwrap();
            if count.characters > 0 {
                spread += maps::check(&mapping(&part));
            }
        }
    }
    assert!(spread > 0);
}

fn mapping(capture: &[u8]) -> Vec<MappingEvent> {
    use_one_thread();
    let mapping =
        |event| if let AnalysisEvent::Mapping(event) = event { Some(event) } else { None };
    analyzed(capture, AnalysisScope::Mapping, mapping).0
}
