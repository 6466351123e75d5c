//! [`ErrorEvent`]: one error that a tool printed (Seed CAKE §5).

use serde::{Deserialize, Serialize};

/// One error that a tool printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorEvent {
    /// The class that the language prints, without its package, else a name of [`NAMES`](crate::error_type::NAMES).
    pub error_type: String,
    /// The file as it is printed; `None` if the output names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// The line in the file, from 1 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_number: Option<u32>,
    /// The message, without terminal sequences, on one line.
    pub message: String,
    /// The tool's own code for it, as in `E0308`, `TS2345` or `F401`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The module, package, program or symbol that is missing or at fault, as printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// The test that failed, as its runner names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Its severity.
    pub severity: Severity,
    /// The stream that it was printed to.
    pub stream_source: StreamSource,
    /// The time at which it was read, in UTC, as RFC 3339. The caller gives it; no reader asks a clock.
    pub timestamp: String,
    /// The lines that it was read from, masked and cut.
    pub raw_output: String,
}

/// Severity of an error, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The tool itself calls it a warning, a note or a convention.
    Low,
    /// A test failed, or a linter found an error.
    Medium,
    /// The command failed because of it.
    High,
    /// Data, memory or the disk are at stake.
    Critical,
}

impl Severity {
    /// Returns its name in lowercase.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

impl StreamSource {
    /// Returns its name in lowercase.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Merged => "merged",
        }
    }
}

/// The stream that an error was printed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StreamSource {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// Both, as a terminal or a client merges them.
    Merged,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-WATCH-1: an event is written with the seed's names, and severities are in ascending order.
    #[test]
    fn an_event_has_the_names_of_its_format() {
        let event = ErrorEvent {
            error_type: "KeyError".to_owned(),
            file_path: None,
            line_number: Some(3),
            message: "'x'".to_owned(),
            code: None,
            module: None,
            test: None,
            severity: Severity::High,
            stream_source: StreamSource::Merged,
            timestamp: "2026-01-02T03:04:05Z".to_owned(),
            raw_output: String::new(),
        };
        let written = serde_json::to_value(&event).unwrap();
        assert_eq!(written["severity"], "high");
        assert_eq!(written["stream_source"], "merged");
        assert!(written.get("file_path").is_none());
        let read: ErrorEvent = serde_json::from_value(written).unwrap();
        assert_eq!(read, event);
        assert!(Severity::Critical > Severity::High && Severity::Medium > Severity::Low);
    }
}
