//! Serial server: a processor or bus with one job at a time.

/// Processor or bus with one job at a time.
#[derive(Clone, Debug)]
pub(super) struct SerialServer<J> {
    work: Option<(u64, J)>,
    busy: u64,
}

impl<J> Default for SerialServer<J> {
    fn default() -> Self {
        Self { work: None, busy: 0 }
    }
}

impl<J> SerialServer<J> {
    /// Starts a job if idle; it takes at least one period.
    pub(super) fn begin(&mut self, now: u64, time: u64, job: J) {
        let time = time.max(1);
        self.busy = self.busy.saturating_add(time);
        self.work = Some((now.saturating_add(time), job));
    }

    /// Ends the current job this much later.
    pub(super) const fn delay(&mut self, time: u64) {
        if let Some((until, _)) = &mut self.work {
            *until = until.saturating_add(time);
        }
    }

    pub(super) fn end(&mut self, now: u64) -> Option<J> {
        self.work.take_if(|(until, _)| *until <= now).map(|(_, job)| job)
    }

    pub(super) fn stop(&mut self) {
        self.work = None;
    }

    pub(super) fn job(&self) -> Option<&J> {
        self.work.as_ref().map(|(_, job)| job)
    }

    pub(super) const fn is_idle(&self) -> bool {
        self.work.is_none()
    }

    pub(super) fn due(&self) -> Option<u64> {
        self.work.as_ref().map(|(until, _)| *until)
    }

    /// Busy time including the current job.
    pub(super) const fn busy(&self) -> u64 {
        self.busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_at_a_time_takes_its_time_and_a_period_at_least() {
        let mut server = SerialServer::default();
        server.begin(10, 5, 'a');
        assert_eq!((server.end(14), server.due(), server.is_idle()), (None, Some(15), false));
        assert_eq!((server.end(15), server.is_idle()), (Some('a'), true));
        server.begin(15, 0, 'b');
        assert_eq!((server.end(15), server.end(16), server.busy()), (None, Some('b'), 6));
    }
}
