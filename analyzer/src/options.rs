//! Selection of the analysis output.

/// Output of an analysis. Findings and totals of slack buffers are always computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnalysisScope {
    /// Findings only.
    Findings,
    /// Totals of channels.
    Counts,
    /// Activity of channels.
    Intervals,
    /// Bounds of slack buffers.
    Fills,
    /// Journeys and waits.
    Network,
    /// Events of the reliability protocol.
    Conversations,
    /// Totals of channels, journeys, waits and conversations, as [`crate::analyze`] reports them.
    Report,
    /// Everything.
    Everything,
}

impl AnalysisScope {
    pub(crate) const fn includes_events(self) -> bool {
        matches!(self, Self::Everything)
    }

    pub(crate) const fn includes_states(self) -> bool {
        matches!(self, Self::Counts | Self::Intervals | Self::Report | Self::Everything)
    }

    pub(crate) const fn includes_intervals(self) -> bool {
        matches!(self, Self::Intervals | Self::Everything)
    }

    pub(crate) const fn includes_fills(self) -> bool {
        matches!(self, Self::Fills | Self::Everything)
    }

    pub(crate) const fn includes_network(self) -> bool {
        matches!(self, Self::Network | Self::Report | Self::Everything)
    }

    pub(crate) const fn includes_conversations(self) -> bool {
        matches!(self, Self::Conversations | Self::Report | Self::Everything)
    }
}
