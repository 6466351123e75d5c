//! [`shown_time`]: a time for people, in their time zone.

use std::path::Path;

use callosum_host::Disk;
use jiff::{Timestamp, tz::TimeZone};

use super::terminal::{Terminal, is_terminal};

/// The folder of time zones by name.
const ZONES: &str = "/usr/share/zoneinfo";

/// The time zone of the machine.
const LOCAL: &str = "/etc/localtime";

/// Returns a time as a terminal shows it: local, to the second. What goes to a pipe keeps the time in UTC as it is, like
/// `--json`: lines of different machines can be compared.
pub(crate) fn shown_time(utc: &str) -> String {
    if is_terminal() {
        local(utc, Terminal::get().zone())
    } else {
        utc.to_owned()
    }
}

/// Returns a time in a zone; what is no time stays as it is.
fn local(utc: &str, zone: &TimeZone) -> String {
    match utc.parse::<Timestamp>() {
        Ok(time) => {
            let time = time.to_zoned(zone.clone());
            time.strftime("%Y-%m-%d %H:%M:%S").to_string()
        }
        Err(_) => utc.to_owned(),
    }
}

/// Returns the time zone that `$TZ` names, or else the machine's; UTC if it cannot be read.
///
/// jiff could do this itself, with features that add a database of zones to the program.
pub(super) fn zone(variable: Option<&str>) -> TimeZone {
    let disk = Disk::real();
    let from_file = |path: &Path| TimeZone::tzif("local", &disk.read(path).ok()?).ok();
    let found = match variable.map(|value| value.strip_prefix(':').unwrap_or(value)) {
        None => from_file(Path::new(LOCAL)),
        Some(name) => {
            let is_name = !name.split('/').any(|part| part == "..") && !name.is_empty();
            // An absolute path replaces the folder.
            let named = is_name.then(|| from_file(&Path::new(ZONES).join(name)));
            named.flatten().or_else(|| TimeZone::posix(name).ok())
        }
    };
    found.unwrap_or(TimeZone::UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_shown_in_the_zone_to_the_second() {
        let berlin = zone(Some("CET-1CEST,M3.5.0,M10.5.0/3"));
        for (utc, shown) in [
            ("2026-01-02T03:04:05.357Z", "2026-01-02 04:04:05"),
            ("2026-07-02T23:04:05Z", "2026-07-03 01:04:05"),
            ("-", "-"),
        ] {
            assert_eq!(local(utc, &berlin), shown);
        }
        for utc in [
            zone(Some("UTC")),
            zone(Some("")),
            zone(Some("no such zone")),
        ] {
            assert_eq!(local("2026-01-02T03:04:05Z", &utc), "2026-01-02 03:04:05");
        }
    }
}
