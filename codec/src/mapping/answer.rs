//! Answers to requests. N-2, *chosen*

use nom::Parser;
use nom::error::context;
use nom::number::complete::u8 as byte;

use super::interface_address::address;
use super::{
    InterfaceAddress, InterfaceRole, MapVersion, MappingAnswer, MappingParse, ProbeTicket, ticket,
    version,
};
use crate::error::{DecodeError, unexpected};

crate::named_enum! {
    /// Result of a request.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum AnswerStatus {
        /// 0: the probe or the piece was received.
        Received = "received" as 0,
        /// 1: all pieces were received, and the routes can be installed.
        Complete = "complete" as 1,
        /// 2: the routes are installed.
        Installed = "installed" as 2,
        /// 3: the sender is not the mapper of the interface that answers, or the request does not fit
        /// the earlier ones.
        Refused = "refused" as 3,
    }
}

/// An answer behind its source.
pub(super) struct AnswerFields {
    ticket: ProbeTicket,
    mapper: Option<InterfaceAddress>,
    version: MapVersion,
    status: u8,
}

pub(super) fn answer(input: &[u8]) -> MappingParse<'_, AnswerFields> {
    let (rest, (ticket, mapper, version, status)) =
        (ticket, context("mapper", address), version, context("status", byte)).parse(input)?;
    Ok((rest, AnswerFields { ticket, mapper, version, status }))
}

impl AnswerFields {
    pub(super) fn check(&self, source: InterfaceAddress) -> Result<MappingAnswer, DecodeError> {
        let Self { ticket, mapper, version, status } = *self;
        let is_router = status & InterfaceRole::Router as u8 != 0;
        let role = if is_router { InterfaceRole::Router } else { InterfaceRole::Host };
        let plain = status & !(InterfaceRole::Router as u8);
        let known = AnswerStatus::ALL.into_iter().find(|known| *known as u8 == plain);
        let status = known.ok_or_else(|| unexpected(21, "status", plain, "0..=3"))?;
        Ok(MappingAnswer { source, ticket, mapper, version, status, role })
    }
}
