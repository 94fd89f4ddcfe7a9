//! What is said in the reliability protocol. T-1..T-13

use super::Findings;
use crate::conversation::Spoken;

impl Findings {
    /// What a packet, a message or a conversation of the reliability protocol says.
    pub fn spoken(&mut self, spoken: &Spoken) {
        let _ = spoken;
    }
}
