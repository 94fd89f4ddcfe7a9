//! Mapping of a network by its interfaces, as a pure state machine without clock or I/O. N-2..N-4,
//! N-7, N-8
//!
//! The machine of an interface knows its own address and nothing else of the network. Each step
//! takes the time and an input, and appends effects to a list. No document gives packets, timers or
//! an algorithm: all that no rule states is *chosen*.
//!
//! One interface maps the network: it searches it with probes, distributes the map (or, in the
//! design of N-7, the routes), and then probes hosts and links in every period, so that it searches
//! again as soon as anything is missing, and after some periods in any case. An interface that hears of no mapper for
//! some periods begins to map. Of two mappers that hear of each other, the one with the lower
//! address resigns. N-2, N-4

mod distribution;
mod exploration;
mod follower;
mod map_routes;
mod network_mapper;
mod request_queue;
mod watch;

pub use self::map_routes::{AddressRoutes, MappedRoutes};
pub use self::network_mapper::NetworkMapper;
pub use crate::truth::{MappingNotice, ProbeKind};

/// Parameters of mapping. Times are in periods of the full rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MapperParameters {
    /// Content that the mapper distributes.
    pub design: MapperDesign,
    /// Period of the mapper's probes of what it has found. N-4
    pub period: u64,
    /// Time without an answer after which a probe is sent again.
    pub timeout: u64,
    /// Transmissions of a probe until silence means that nothing is there.
    pub tries: u32,
    /// Search for switches.
    pub switches: SwitchSearch,
}

/// The search for the switches of a network. N-8, S-8
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SwitchSearch {
    /// Packets are turned round at them, and known ones are recognized by comparison: all have relative addressing.
    #[default]
    Turned,
    /// They are asked for their identities, and the answers come home by one of so many ports, or by the one that the
    /// question came in by.
    Requested(u8),
}

/// The two designs of the documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MapperDesign {
    /// The map is distributed, and every interface computes its routes. N-2
    #[default]
    Map,
    /// The leader of the daemons computes the routes and distributes them. N-7
    Daemon,
}

/// Beginning of an interface that has just been started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapperStart {
    /// It waits for a fraction of a period that follows from its address, and maps if it hears no
    /// mapper until then.
    #[default]
    Soon,
    /// It maps at once: the network manager has chosen it. N-2
    AtOnce,
    /// It maps if it hears no mapper for some periods: the network manager has chosen another. N-2
    Patient,
}

/// Number of requests that a step may send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SendPace {
    /// All that the window allows: sending takes no time.
    #[default]
    AllAtOnce,
    /// One, so that its timeout begins when it leaves, and not those before it.
    OneByOne,
}

/// Effect of a step of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MappingEffect {
    /// Send a packet of type [`codec::mapping::TAG`] on this route.
    Send {
        /// Route bytes.
        route: Vec<u8>,
        /// Bytes between tag and CRC byte.
        payload: Vec<u8>,
    },
    /// Use these routes from now on.
    Install(MappedRoutes),
    /// Notice for counters and truth.
    Noted(MappingNotice),
}

impl Default for MapperParameters {
    /// *Chosen*: 50 ms, in which a network of the time is mapped; 200 µs, the time of two of the
    /// longest packets; 3 transmissions.
    fn default() -> Self {
        Self {
            design: MapperDesign::Map,
            period: 4_000_000,
            timeout: 16_000,
            tries: 3,
            switches: SwitchSearch::Turned,
        }
    }
}
