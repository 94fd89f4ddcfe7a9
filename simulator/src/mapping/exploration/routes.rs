//! Routes of probes, and of what comes back. N-8, S-8

use codec::route::RouteAddressing;

use super::{FoundSwitch, NetworkSearch, ProbePlace, SearchProbe, SwitchPort};

/// Route byte by which a packet leaves a switch of relative addressing by the port that it came in by. N-8
const TURN: u8 = 0x80;
/// First byte of a packet that asks a switch for its identity: port address 0x7F. S-8
const IDENTITY: u8 = 0xff;

impl FoundSwitch {
    /// Route byte from a port to another.
    fn byte(&self, from: i8, to: i8) -> u8 {
        let addressing = self.identity.map_or(RouteAddressing::Relative, |it| it.addressing);
        byte(addressing, from, to)
    }
}

/// Route byte from a port to another, both within the ports of a map.
fn byte(addressing: RouteAddressing, from: i8, to: i8) -> u8 {
    let [port] = match addressing {
        RouteAddressing::Absolute => to,
        RouteAddressing::Relative => (to - from) & 0x3f,
    }
    .to_le_bytes();
    0x80 | port
}

impl NetworkSearch {
    /// Route of a host probe to a place.
    pub(in crate::mapping) fn route_to(&self, place: ProbePlace) -> Vec<u8> {
        let ProbePlace::Port(SwitchPort { switch, port }) = place else { return Vec::new() };
        let Some(switch) = self.switch(switch) else { return Vec::new() };
        let mut route = switch.route.clone();
        route.push(switch.byte(switch.entry, port));
        route
    }

    /// Route home from a place: that of an answer.
    pub(in crate::mapping) fn way_back(&self, place: ProbePlace) -> Vec<u8> {
        let ProbePlace::Port(SwitchPort { switch, port }) = place else { return Vec::new() };
        let Some(switch) = self.switch(switch) else { return Vec::new() };
        let mut route = vec![switch.byte(port, switch.entry)];
        route.extend(&switch.home);
        route
    }

    /// The whole route of a probe. N-8
    pub(in crate::mapping) fn route(&self, probe: SearchProbe) -> Vec<u8> {
        match probe {
            SearchProbe::Host(place) => self.route_to(place),
            SearchProbe::Switch(place) => self.turned(place, &[TURN]),
            SearchProbe::Identity(place, port) => {
                self.turned(place, &[IDENTITY, byte(RouteAddressing::Absolute, 0, port)])
            }
            SearchProbe::Join(one, other) => self.across(one, other),
            SearchProbe::Merge(other) => {
                let mut route =
                    self.switches.last().map(|switch| switch.route.clone()).unwrap_or_default();
                route.extend(self.way_back(ProbePlace::Port(other)));
                route
            }
        }
    }

    /// Route to a place and back, with the bytes that the switch there reads. N-8
    fn turned(&self, place: ProbePlace, bytes: &[u8]) -> Vec<u8> {
        [&self.route_to(place), bytes, &self.way_back(place)].concat()
    }

    /// Route to the own switch and back.
    pub(in crate::mapping) fn over_own_cable(&self) -> Option<Vec<u8>> {
        let switch = self.switches.first()?;
        Some(vec![switch.byte(switch.entry, switch.entry)])
    }

    /// Route out of one port and home by another, which comes home if one cable joins them.
    pub(in crate::mapping) fn across(&self, one: SwitchPort, other: SwitchPort) -> Vec<u8> {
        let mut route = self.route_to(ProbePlace::Port(one));
        route.extend(self.way_back(ProbePlace::Port(other)));
        route
    }
}
