//! [`began_since`] and [`received_ago`]: what a process and those that descend from it are at.
//!
//! What the system lists of all processes is read once, and then decided upon. Deliberately not here: what such a process does; one that
//! sleeps is as much alive as one that computes.

use std::time::Instant;

use super::identity::Status;

/// Whether a process runs that descends from `above` and began at `since` or later.
#[cfg(target_os = "linux")]
pub(super) fn began_since(above: u32, since: Instant) -> bool {
    use std::time::Duration;

    use rustix::{
        param::clock_ticks_per_second,
        time::{ClockId, clock_gettime},
    };

    let now = clock_gettime(ClockId::Boottime);
    let now = Duration::try_from(now).unwrap_or_default();
    let since = now.saturating_sub(since.elapsed());
    let ticks = since.as_millis() * u128::from(clock_ticks_per_second()) / 1000;
    has_younger(
        &super::identity::all(),
        above,
        u64::try_from(ticks).unwrap_or(u64::MAX),
    )
}

/// This system does not say who descends from whom.
#[cfg(not(target_os = "linux"))]
pub(super) fn began_since(_above: u32, _since: Instant) -> bool {
    has_younger(&[], 0, 0)
}

/// Returns the time since a process that descends from `above`, or `above` itself, last received
/// something from elsewhere.
#[cfg(target_os = "linux")]
pub(super) fn received_ago(above: u32) -> Option<std::time::Duration> {
    let mut family: Vec<u32> = below(&super::identity::all(), above)
        .map(|(pid, _)| *pid)
        .collect();
    family.push(above);
    super::tcp_activity::last_received(&family)
}

/// This system does not say who descends from whom.
#[cfg(not(target_os = "linux"))]
pub(super) fn received_ago(_above: u32) -> Option<std::time::Duration> {
    None
}

/// Whether one of the processes, each with its number, descends from `above`, began at `since` or later, and has not ended.
fn has_younger(processes: &[(u32, Status)], above: u32, since: u64) -> bool {
    below(processes, above).any(|(_, status)| status.started >= since && !status.has_ended)
}

/// Those of the processes that descend from `above`.
fn below(processes: &[(u32, Status)], above: u32) -> impl Iterator<Item = &(u32, Status)> {
    let mut family = vec![above];
    let mut next = 0;
    while let Some(parent) = family.get(next).copied() {
        let children = processes
            .iter()
            .filter(|(_, status)| status.parent == parent);
        // One that is its own ancestor would be a listing that changed while it was read.
        let children: Vec<u32> = children
            .map(|(pid, _)| *pid)
            .filter(|pid| !family.contains(pid))
            .collect();
        family.extend(children);
        next += 1;
    }
    processes
        .iter()
        .filter(move |(pid, _)| *pid != above && family.contains(pid))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, parent: u32, started: u64) -> (u32, Status) {
        let status = Status {
            name: "x".to_owned(),
            parent,
            started,
            has_ended: false,
        };
        (pid, status)
    }

    #[test]
    fn a_descendant_counts_that_is_young_and_alive() {
        let client = [
            process(9, 1, 900),
            process(10, 9, 100),
            process(11, 10, 110),
        ];
        assert!(
            !has_younger(&client, 9, 200),
            "helpers are older, others not below"
        );
        let tool = [&client[..], &[process(12, 11, 300)]].concat();
        assert!(has_younger(&tool, 9, 200));
        assert!(!has_younger(&tool, 9, 301));
        assert!(!has_younger(&tool, 12, 200), "it is not its own descendant");
        let mut ended = tool.clone();
        ended[3].1.has_ended = true;
        assert!(!has_younger(&ended, 9, 200));
        let round = [process(1, 2, 0), process(2, 1, 0)];
        assert!(!has_younger(&round, 1, 200));
    }
}
