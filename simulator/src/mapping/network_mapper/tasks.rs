//! Packets that a mapper sends, and the results that it waits for.

use codec::mapping::{HomeProbe, InterfaceAddress, MappingAnswer};

use crate::mapping::ProbeKind;
use crate::mapping::exploration::{AnsweredSwitch, SearchProbe};
use crate::mapping::map_routes::RoundTrip;

/// A packet that is answered, or comes home, and its routes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct MapperTask {
    pub(super) trip: RoundTrip,
    pub(super) purpose: TaskPurpose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum TaskPurpose {
    Search(SearchProbe),
    /// Keeps an interface from beginning to map.
    Remind,
    Deliver(usize),
    WatchHost(InterfaceAddress),
    WatchLink,
}

/// Result of a task; `None` is silence.
pub(super) type TaskResult = Option<TaskAnswer>;

#[derive(Clone, Copy, Debug)]
pub(super) enum TaskAnswer {
    Home,
    Switch(AnsweredSwitch),
    Answer(MappingAnswer),
}

impl TaskAnswer {
    pub(super) fn answer(self) -> Option<MappingAnswer> {
        match self {
            Self::Home | Self::Switch(_) => None,
            Self::Answer(answer) => Some(answer),
        }
    }
}

impl TaskPurpose {
    /// Kind of a probe that comes home.
    pub(super) const fn home(self) -> Option<HomeProbe> {
        match self.probe() {
            Some(ProbeKind::Switch) => Some(HomeProbe::Switch),
            Some(ProbeKind::Compare) => Some(HomeProbe::Compare),
            Some(ProbeKind::Identity) => Some(HomeProbe::Identity),
            Some(ProbeKind::Host) | None => None,
        }
    }

    pub(super) const fn probe(self) -> Option<ProbeKind> {
        match self {
            Self::Deliver(_) => None,
            Self::Remind | Self::WatchHost(_) | Self::Search(SearchProbe::Host(_)) => {
                Some(ProbeKind::Host)
            }
            Self::Search(SearchProbe::Switch(_)) => Some(ProbeKind::Switch),
            Self::Search(SearchProbe::Identity(..)) => Some(ProbeKind::Identity),
            Self::WatchLink | Self::Search(SearchProbe::Join(..) | SearchProbe::Merge(_)) => {
                Some(ProbeKind::Compare)
            }
        }
    }
}
