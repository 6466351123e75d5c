//! [`time_zone`]: the time zones of this machine, for limits that are lifted at a time of day (`resets 3pm`).

use std::{ffi::OsString, path::Path};

use callosum_host::Disk;
use jiff::tz::TimeZone;

/// The folder of the zones by name.
const ZONES: &str = "/usr/share/zoneinfo";

/// The zone of this machine.
const LOCAL: &str = "/etc/localtime";

/// Returns the time zone of a name, or that of this machine if there is no name; `None` if it is unknown here.
///
/// `environment` may have a zone of its own in `TZ`, as for the client whose words are read.
pub fn time_zone(
    disk: &Disk,
    environment: &[(OsString, OsString)],
    name: Option<&str>,
) -> Option<TimeZone> {
    let read = |name: &str, file: &Path| TimeZone::tzif(name, &disk.read(file).ok()?).ok();
    let named = |name: &str| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '+');
        // An answer's words must not lead out of the folder.
        let is_safe = !name.is_empty() && !name.starts_with('/') && name.chars().all(is_name);
        is_safe.then(|| read(name, &Path::new(ZONES).join(name)))?
    };
    if let Some(name) = name {
        return named(name);
    }
    let own = environment.iter().find(|(key, _)| key == "TZ");
    let own = own.and_then(|(_, value)| value.to_str());
    match own.map(|value| value.trim_start_matches(':')) {
        Some("UTC" | "UTC0" | "GMT") => Some(TimeZone::UTC),
        Some(name) if !name.is_empty() => named(name),
        _ if disk.exists(Path::new(LOCAL)).unwrap_or_default() => read("local", Path::new(LOCAL)),
        // A machine without the file runs in UTC.
        _ => Some(TimeZone::UTC),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A zone's name is a name, and no way to another file.
    #[test]
    fn a_name_does_not_lead_out_of_the_zones() {
        for name in [
            "../../../etc/passwd",
            "/etc/localtime",
            "",
            "a b",
            "Mars/Olympus",
        ] {
            assert!(
                time_zone(&Disk::real(), &[], Some(name)).is_none(),
                "{name}"
            );
        }
        let utc = [("TZ".into(), "UTC".into())];
        assert_eq!(time_zone(&Disk::real(), &utc, None), Some(TimeZone::UTC));
    }
}
