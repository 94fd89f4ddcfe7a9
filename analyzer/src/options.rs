//! Selection of the analysis output.

/// Output of an analysis. Findings and totals of slack buffers are always computed, except for [`Self::Journeys`] and
/// [`Self::Series`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnalysisScope {
    /// Findings only.
    #[default]
    Findings,
    /// Every case of the findings.
    Cases,
    /// Events, waits and every case of the findings, in order of time.
    Log,
    /// Totals of channels.
    Counts,
    /// Activity of channels.
    Intervals,
    /// Bounds of slack buffers.
    Fills,
    /// Journeys.
    Journeys,
    /// Journeys and waits.
    Network,
    /// Activity of channels, and journeys.
    Series,
    /// Activity of channels, bounds of slack buffers, journeys and every case of the findings.
    Timeline,
    /// Events of the reliability protocol.
    Conversations,
    /// Events of mapping.
    Mapping,
    /// Totals of channels, journeys, waits and conversations, as [`crate::analyze`] reports them.
    Report,
    /// Totals of [`Self::Report`], with mapping, the activity of channels and the bounds of slack buffers over time.
    Pictures,
    /// Everything but the cases of findings.
    Everything,
}

impl AnalysisScope {
    pub(crate) const fn includes_events(self) -> bool {
        matches!(self, Self::Log | Self::Everything)
    }

    pub(crate) const fn includes_cases(self) -> bool {
        matches!(self, Self::Cases | Self::Log | Self::Timeline)
    }

    /// Findings, and waits, conversations and mapping, of which some are.
    pub(crate) const fn includes_findings(self) -> bool {
        !matches!(self, Self::Journeys | Self::Series)
    }

    pub(crate) const fn includes_states(self) -> bool {
        self.includes_intervals() || matches!(self, Self::Counts | Self::Report)
    }

    pub(crate) const fn includes_intervals(self) -> bool {
        matches!(
            self,
            Self::Intervals | Self::Series | Self::Timeline | Self::Pictures | Self::Everything
        )
    }

    pub(crate) const fn includes_fills(self) -> bool {
        matches!(self, Self::Fills | Self::Timeline | Self::Pictures | Self::Everything)
    }

    pub(crate) const fn includes_network(self) -> bool {
        self.includes_report()
            || matches!(self, Self::Log | Self::Network | Self::Timeline)
            || matches!(self, Self::Journeys | Self::Series)
    }

    pub(crate) const fn includes_mapping(self) -> bool {
        matches!(self, Self::Mapping | Self::Pictures | Self::Everything)
    }

    pub(crate) const fn includes_conversations(self) -> bool {
        self.includes_report() || matches!(self, Self::Conversations)
    }

    const fn includes_report(self) -> bool {
        matches!(self, Self::Report | Self::Pictures | Self::Everything)
    }
}
