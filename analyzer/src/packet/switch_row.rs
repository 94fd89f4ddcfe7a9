//! Answers of switches in rows. S-8

use codec::error::DecodeError;
use codec::route::RouteAddressing;
use codec::switch_answer::{AnsweredPorts, SHARE_WHOLE, SwitchAnswer};

use crate::row::FieldShape::Words;
use crate::row::row;

/// Contents of a captured packet of type [`codec::switch_answer::TAG`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchAnswers {
    answers: Vec<SwitchAnswer>,
    fault: Option<DecodeError>,
}

row! {
    /// An answer of a switch.
    pub struct SwitchAnswerRow {
        node: u32, "", "", "its node number";
        port_count: u8, "ports", "S-8", "its number of ports";
        addressing: &'static str as Words(&["absolute", "relative"]), "", "S-1", "meaning of its route bytes";
        input: u8, "", "", "port at which the packet came in";
        ports: Vec<SwitchPortRow> ["Vec::is_empty"], "ports", "S-8", "state of each port, from a computer" => SwitchPortRow::FIELDS;
    }
}

row! {
    /// State of a port in an answer.
    pub struct SwitchPortRow {
        data: u32, "ppm", "S-8", "share of its periods with data, since the start";
        stopped: u32, "ppm", "F-2", "share of its periods in which STOP held it";
        drops: u32, "packets", "S-8", "packets dropped at it";
    }
}

impl SwitchAnswers {
    /// Reads the first bytes of a payload of `len` bytes.
    pub(crate) fn new(kept: &[u8], len: u64) -> Self {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let (answers, fault) = SwitchAnswer::parse_all(kept.get(..len).unwrap_or(kept));
        Self { answers, fault }
    }

    /// The answers in the order of the switches.
    #[must_use]
    pub fn rows(&self) -> Vec<SwitchAnswerRow> {
        self.answers.iter().map(SwitchAnswerRow::new).collect()
    }

    /// Place in the payload at which no answer follows, and the reason.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        self.fault.map(|fault| fault.to_string())
    }

    /// The answers in a few words, behind the route.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut parts = Vec::new();
        for answer in self.rows() {
            let SwitchAnswerRow { node, port_count, addressing, input, ports } = answer;
            parts.push(format!("node {node}: {port_count} ports {addressing} from {input}"));
            parts.extend((0..).zip(&ports).filter(|(_, it)| it.is_busy()).map(|(port, it)| {
                let percent = |share: u32| f64::from(share) * 100.0 / f64::from(SHARE_WHOLE);
                let (used, stopped) = (percent(it.data), percent(it.stopped));
                let drops = it.drops;
                format!("port {port}: {used:.1} % data {stopped:.1} % STOP {drops} dropped")
            }));
        }
        parts.extend(self.fault.map(|fault| format!("malformed: {fault}")));
        format!("switch {}", parts.join(", ")).trim_end().to_owned()
    }
}

impl SwitchAnswerRow {
    fn new(answer: &SwitchAnswer) -> Self {
        let states = match &answer.ports {
            AnsweredPorts::Counted(_) => &[][..],
            AnsweredPorts::Watched(states) => states,
        };
        let ports = states.iter().map(|state| SwitchPortRow {
            data: state.utilisation,
            stopped: state.stopped,
            drops: state.drops,
        });
        Self {
            node: answer.node,
            port_count: answer.port_count(),
            addressing: match answer.addressing {
                RouteAddressing::Absolute => "absolute",
                RouteAddressing::Relative => "relative",
            },
            input: answer.input.0,
            ports: ports.collect(),
        }
    }
}

impl SwitchPortRow {
    const fn is_busy(&self) -> bool {
        self.data | self.stopped | self.drops != 0
    }
}
