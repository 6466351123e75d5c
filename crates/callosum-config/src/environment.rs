//! [`Environment`]: the variables that this process was started with, read once.
//!
//! Nothing else in the program asks the system for a variable, so that a test can pass any.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::PathBuf,
    time::Duration,
};

use callosum_host::{Clock, Ids};
use jiff::SignedDuration;

/// Stops the clock at the moment that it names, or sets it wrong by these seconds (`+3600`); for tests.
const TEST_CLOCK: &str = "CALLOSUM_TEST_CLOCK";

/// Makes ids count up instead of being random; for tests.
const TEST_IDS: &str = "CALLOSUM_TEST_IDS";

/// Name of the variable with the least timeout of any wait, in seconds; for tests, on a machine
/// that is busy.
const TEST_PATIENCE: &str = "CALLOSUM_TEST_PATIENCE";

/// The variables that a process was started with.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// The variables of this process.
    pub fn from_process() -> Self {
        std::env::vars_os().collect()
    }

    /// A variable; an empty one counts as not set.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    /// Returns the same environment with another value of one variable.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut variables = self.variables.clone();
        variables.insert(name.into(), value.into());
        Self { variables }
    }

    /// A variable that names a place.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from)
    }

    /// Returns a path of a configuration, with `~/` as the home folder.
    pub fn at_home(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), self.path("HOME")) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(path),
        }
    }

    /// Every variable, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// The clock to go by: the system's, unless a test fixed it or set it wrong.
    pub fn clock(&self) -> Result<Clock, EnvironmentError> {
        let Some(value) = self.get(TEST_CLOCK) else {
            return Ok(Clock::system());
        };
        let text = value.to_str().unwrap_or_default();
        if let Ok(start) = text.parse() {
            return Ok(Clock::fixed(start, Duration::ZERO));
        }
        let is_signed = text.starts_with(['+', '-']);
        match text.parse().ok().filter(|_| is_signed) {
            Some(seconds) => Ok(Clock::shifted(SignedDuration::from_secs(seconds))),
            None => Err(EnvironmentError::new(
                TEST_CLOCK,
                value,
                "a time such as 2026-01-02T03:04:05Z, or seconds such as +3600",
            )),
        }
    }

    /// Returns the source of ids: random, unless a test fixed them.
    pub fn ids(&self) -> Result<Ids, EnvironmentError> {
        match self.get(TEST_IDS) {
            None => Ok(Ids::random()),
            Some(value) if value == "sequence" => Ok(Ids::sequence()),
            Some(value) => Err(EnvironmentError::new(TEST_IDS, value, "sequence")),
        }
    }

    /// Returns the timeout of something: the usual one, or a longer one that a test sets.
    ///
    /// A released program ignores the variable: a project's settings of a client may set variables,
    /// and a hook that takes longer than its client waits denies nothing.
    pub fn patience(&self, usual: Duration) -> Result<Duration, EnvironmentError> {
        let Some(value) = self.get(TEST_PATIENCE).filter(|_| cfg!(debug_assertions)) else {
            return Ok(usual);
        };
        match value.to_str().and_then(|text| text.parse().ok()) {
            Some(seconds) => Ok(usual.max(Duration::from_secs(seconds))),
            None => Err(EnvironmentError::new(TEST_PATIENCE, value, "whole seconds")),
        }
    }
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        Self {
            variables: variables
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        }
    }
}

/// A variable whose value makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the variable {name} is `{value}` (allowed: {allowed})")]
pub struct EnvironmentError {
    /// The variable.
    pub name: &'static str,
    /// Its value, as far as it is text.
    pub value: String,
    /// Allowed values.
    pub allowed: &'static str,
}

impl EnvironmentError {
    fn new(name: &'static str, value: &OsStr, allowed: &'static str) -> Self {
        Self {
            name,
            value: value.to_string_lossy().into_owned(),
            allowed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_counts_as_not_set() {
        let environment: Environment = [("CAL_RETRY_MAX", ""), ("HOME", "/h")]
            .into_iter()
            .collect();
        assert_eq!(environment.get("CAL_RETRY_MAX"), None);
        assert_eq!(environment.path("HOME"), Some(PathBuf::from("/h")));
    }

    /// REQ-TEST-004: a test fixes time and ids from outside.
    #[test]
    fn a_test_fixes_the_clock_and_the_ids() {
        let environment: Environment =
            [(TEST_CLOCK, "2026-01-02T03:04:05Z"), (TEST_IDS, "sequence")]
                .into_iter()
                .collect();
        let clock = environment.clock().unwrap();
        assert_eq!(clock.now().to_string(), "2026-01-02T03:04:05Z");
        assert_eq!(clock.now().to_string(), "2026-01-02T03:04:05Z");
        assert!(environment.ids().unwrap().uuid_v4().ends_with("0001"));
    }

    #[test]
    fn a_test_makes_bounds_wider_and_none_narrower() {
        let environment: Environment = [(TEST_PATIENCE, "60")].into_iter().collect();
        let wider = if cfg!(debug_assertions) { 60 } else { 4 };
        for (usual, given) in [(4, wider), (90, 90)] {
            let given = Ok(Duration::from_secs(given));
            assert_eq!(environment.patience(Duration::from_secs(usual)), given);
        }
        let usual = Duration::from_secs(4);
        assert_eq!(Environment::default().patience(usual), Ok(usual));
    }

    #[test]
    fn a_senseless_test_variable_is_an_error_that_says_what_is_allowed() {
        let environment: Environment = [(TEST_IDS, "counting")].into_iter().collect();
        assert_eq!(
            environment.ids().unwrap_err().to_string(),
            "the variable CALLOSUM_TEST_IDS is `counting` (allowed: sequence)"
        );
    }
}
