//! Stored measurements.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::SearchMethod;
use super::patch::FaultPatch;
use crate::workspace::{TaskError, at, root};

/// All that has been measured: by fault, then by what looked for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlantedResults(BTreeMap<String, BTreeMap<String, FaultMeasurement>>);

/// Measurement of one search for one fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FaultMeasurement {
    /// The commit that the fault was planted in, with a `+` if there was more than that.
    pub(crate) commit: String,
    /// Seconds for each seed.
    pub(crate) budget: u64,
    /// One a seed; one in all of the tests, which have none.
    pub(crate) runs: Vec<SearchRun>,
}

/// One search for a fault.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SearchRun {
    pub(crate) seed: u64,
    /// The target or the test that found it.
    pub(crate) found: Option<String>,
    /// Time until the fault was found or the search ended, without building.
    pub(crate) milliseconds: u64,
    /// Inputs of fuzz targets, networks of the storm.
    pub(crate) executions: u64,
}

impl SearchRun {
    /// Adds what has passed since.
    pub(crate) fn add_since(&mut self, begin: Instant) {
        let passed = u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.milliseconds = self.milliseconds.saturating_add(passed);
    }
}

impl PlantedResults {
    fn path() -> PathBuf {
        root().join("fuzz/planted/results.json")
    }

    /// Reads the stored results; empty without a file.
    pub(crate) fn read() -> Result<Self, TaskError> {
        let path = Self::path();
        match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| at(&path)(error.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(at(&path)(error)),
        }
    }

    /// Measurement of a fault by a method.
    pub(crate) fn of(&self, patch: &FaultPatch, by: SearchMethod) -> Option<&FaultMeasurement> {
        self.0.get(&patch.name)?.get(by.name())
    }

    pub(crate) fn has(&self, patch: &FaultPatch, by: SearchMethod) -> bool {
        self.of(patch, by).is_some()
    }

    /// Keeps one more, beside what others have kept since.
    pub(crate) fn keep(
        &mut self,
        patch: &FaultPatch,
        by: SearchMethod,
        new: FaultMeasurement,
    ) -> Result<(), TaskError> {
        *self = Self::read()?;
        let of_patch = self.0.entry(patch.name.clone()).or_default();
        of_patch.insert(by.name().to_owned(), new);
        let path = Self::path();
        let mut text =
            serde_json::to_string_pretty(self).map_err(|error| at(&path)(error.into()))?;
        text.push('\n');
        fs::write(&path, text).map_err(at(&path))
    }

    /// True if all methods were measured and none finds the fault.
    pub(crate) fn survives(&self, patch: &FaultPatch) -> bool {
        SearchMethod::ALL.into_iter().all(|by| {
            let measured = self.of(patch, by);
            measured.is_some_and(|it| it.runs.iter().all(|run| run.found.is_none()))
        })
    }
}
