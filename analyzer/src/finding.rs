//! What is odd about a capture: one variant for each thing that can be wrong.

use codec::capture::Channel;

use crate::blocking::Blocked;
use crate::link::slack::SlackSaid;
use crate::path::Journey;
use crate::timeline::Row;

/// All findings so far, counted by kind and place, the first of each kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {}

impl Findings {
    /// What a row says.
    pub fn row(&mut self, _channel: &Channel, _row: &Row) {}

    /// What a journey says.
    pub fn journey(&mut self, _journey: &Journey) {}

    /// What a wait says.
    pub fn blocked(&mut self, _blocked: &Blocked) {}

    /// What a slack buffer says.
    pub fn slack(&mut self, _said: &SlackSaid) {}

    /// Takes over what others have found.
    pub fn absorb(&mut self, _other: &Self) {}
}
