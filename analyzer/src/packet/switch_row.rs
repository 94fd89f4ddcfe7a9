//! Answers of switches in rows. S-8

use codec::error::DecodeError;
use codec::route::RouteAddressing;
use codec::switch_answer::{AnsweredPorts, SHARE_WHOLE, SwitchAnswer};

use crate::packet::{PAYLOAD_MAX, too_long};
use crate::row::FieldShape::Words;
use crate::row::row;

/// Contents of a captured packet of type [`codec::switch_answer::TAG`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchAnswers {
    answers: Vec<SwitchAnswer>,
    /// True if answers may follow behind the bytes that are kept.
    is_cut: bool,
    fault: Option<DecodeError>,
}

row! {
    /// An answer of a switch.
    pub struct SwitchAnswerRow {
        node: u32, "", "", "its node number";
        port_count: u8, "ports", "S-8", "its number of ports";
        addressing: &'static str as Words(RouteAddressing::NAMES), "", "S-1", "meaning of its route bytes";
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
    /// Reads the first bytes of a payload of `len` bytes, at most [`PAYLOAD_MAX`].
    pub(crate) fn new(kept: &[u8], len: u64) -> Self {
        let most = usize::try_from(len).unwrap_or(usize::MAX).min(PAYLOAD_MAX);
        let (answers, fault) = SwitchAnswer::parse_all(kept.get(..most).unwrap_or(kept));
        let is_cut = len > most as u64 && !matches!(fault, Some(DecodeError::Unexpected { .. }));
        let fault = if is_cut { Some(too_long(len)) } else { fault };
        Self { answers, is_cut, fault }
    }

    /// The answers in the order of the switches.
    pub fn rows(&self) -> Vec<SwitchAnswerRow> {
        self.answers.iter().map(SwitchAnswerRow::new).collect()
    }

    /// Place in the payload at which no answer follows, and the reason.
    pub fn fault(&self) -> Option<String> {
        self.fault.map(|fault| fault.to_string())
    }

    /// The answers in a few words, behind the route.
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
        let word = if self.is_cut { "not all read" } else { "malformed" };
        parts.extend(self.fault.map(|fault| format!("{word}: {fault}")));
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
            addressing: answer.addressing.name(),
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

#[cfg(test)]
mod tests {
    use codec::route::PortId;
    use codec::switch_answer::SwitchPortState;

    use super::*;

    #[test]
    fn answers_longer_than_what_is_kept_are_not_malformed() {
        let (input, addressing) = (PortId(0), RouteAddressing::Relative);
        let ports = AnsweredPorts::Watched(vec![SwitchPortState::default(); 32]);
        let mut payload = Vec::new();
        for node in 0..3 {
            SwitchAnswer { node, addressing, input, ports: ports.clone() }.emit(&mut payload);
        }
        // 3 × (8 + 32 × 12)
        assert_eq!(payload.len(), 1176);
        let kept = payload.get(..=PAYLOAD_MAX).unwrap();
        let answers = SwitchAnswers::new(kept, 1176);
        assert_eq!(answers.rows().len(), 2);
        let fault = "byte 1024: payload length is 1176, not at most 1024";
        assert!(answers.summary().ends_with(&format!("not all read: {fault}")));
        let malformed = SwitchAnswers::new(kept.get(1..).unwrap(), 1175).summary();
        assert!(malformed.contains("malformed"), "{malformed}");
    }
}
