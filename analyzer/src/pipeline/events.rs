//! The events of an analysis as an iterator, beside [`CaptureAnalysis::step`].

use std::collections::VecDeque;
use std::io::Read;

use codec::capture::{CaptureError, ReadProgress};

use super::{AnalysisEvent, CaptureAnalysis};

/// Iterator over the events of a capture. It reads a batch of the file at a time; an error that ends
/// the reading is its last item.
#[derive(Debug)]
pub struct AnalysisEvents<R> {
    analysis: CaptureAnalysis<R>,
    queue: VecDeque<AnalysisEvent>,
    progress: ReadProgress,
}

impl<R: Read + Send> AnalysisEvents<R> {
    pub(super) const fn new(analysis: CaptureAnalysis<R>) -> Self {
        Self { analysis, queue: VecDeque::new(), progress: ReadProgress::More }
    }

    /// The analysis: channels, findings and topology so far.
    pub const fn analysis(&self) -> &CaptureAnalysis<R> {
        &self.analysis
    }

    /// The analysis, without the remaining events.
    pub fn into_analysis(self) -> CaptureAnalysis<R> {
        self.analysis
    }
}

impl<R: Read + Send> Iterator for AnalysisEvents<R> {
    type Item = Result<AnalysisEvent, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Some(Ok(event));
            }
            if self.progress == ReadProgress::Done {
                return None;
            }
            let Self { analysis, queue, .. } = self;
            match analysis.step(&mut |event| queue.push_back(event)) {
                Ok(progress) => self.progress = progress,
                Err(error) => {
                    self.progress = ReadProgress::Done;
                    return Some(Err(error));
                }
            }
        }
    }
}
