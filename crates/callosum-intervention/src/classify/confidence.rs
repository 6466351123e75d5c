//! [`confidence`]: how sure it is that an event is the error that it names.

use callosum_diagnose::{ErrorEvent, error_type};

/// Types that a tool prints in one fixed wording, so that a place adds little.
const EXACT: [&str; 13] = [
    "AddressInUse",
    "CommandNotFound",
    "CoverageDrop",
    "DependencyError",
    "DiskFull",
    "FileNotFoundError",
    "GitPushRejected",
    "MergeConflict",
    "NoTestsRan",
    "OutOfMemory",
    "PermissionError",
    "SegFault",
    "UnboundVariable",
];

/// Returns the confidence in an event, from 0 to 1 in steps of 0.01.
///
/// | what the event has | confidence |
/// | --- | --- |
/// | file and line | 0.95 |
/// | a code, a test or a module, or a file without a line | 0.90 |
/// | a type with one fixed wording (`DiskFull`, `MergeConflict`), without a place | 0.85 |
/// | an exception class of its own, without a place | 0.75 |
/// | another listed type (`BuildError`, `GitError`), or the bare class `Error`, without a place | 0.70 |
/// | no message | 0.20 less |
/// | a type that is not a class | 0 |
///
/// The numbers order the formats; they are not measured frequencies. Only their position to the threshold counts
/// (0.8, Seed CAKE §2).
pub fn confidence(event: &ErrorEvent) -> f64 {
    let name = event.error_type.as_str();
    if !error_type::is_class(name) {
        return 0.0;
    }
    let hundredths: u8 = if event.file_path.is_some() && event.line_number.is_some() {
        95
    } else if event.file_path.is_some()
        || event.code.is_some()
        || event.test.is_some()
        || event.module.is_some()
    {
        90
    } else if EXACT.contains(&name) {
        85
    } else if error_type::is_listed(name) || name == "Error" {
        70
    } else {
        75
    };
    let without = if event.message.trim().is_empty() {
        20
    } else {
        0
    };
    f64::from(hundredths - without) / 100.0
}
