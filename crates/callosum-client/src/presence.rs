//! [`presence_source`]: the agents' state as panes and hooks show it, for routing in the mesh.
//!
//! The pane registry counts while it is believed. Without one, only the processes that hooks have
//! noted count: an event that reports "blocked" is not enough, since no client runs a hook when a
//! person answers a dialog.

use callosum_config::Homes;
use callosum_host::{Disk, process::table};
use callosum_mesh::{
    agent::AgentName,
    presence::{Activity, Presence, PresenceSource, Sighting},
};
use callosum_panes::{HookEvent, Pane, Registry, State, hook_event};
use jiff::Timestamp;

/// Returns a source that reads the pane registry, or the last events of hooks.
pub fn presence_source(disk: &Disk, homes: &Homes) -> PresenceSource {
    let (disk, homes) = (disk.clone(), homes.clone());
    PresenceSource::new(move |now| {
        let registry = Registry::read(&disk, &homes.pane_registry()).ok().flatten();
        let sightings = match registry.filter(|registry| registry.is_believed(now)) {
            Some(registry) => {
                let seen_at = registry.updated_at;
                let panes = registry.panes.iter();
                panes.filter_map(|pane| of_pane(pane, seen_at)).collect()
            }
            None => hook_event::read_all(&disk, &homes.hook_events())
                .iter()
                .filter_map(|event| of_event(event, now))
                .collect(),
        };
        Presence { sightings }
    })
}

fn of_pane(pane: &Pane, seen_at: Timestamp) -> Option<Sighting> {
    let activity = match pane.state {
        State::SessionEnded => Activity::Ended,
        State::BlockedOnApproval => Activity::Blocked,
        State::UsageLimited => Activity::Limited {
            until: pane.resets_at,
        },
        State::ContextExhausted
        | State::StuckOnError
        | State::TaskComplete
        | State::TrulyIdle
        | State::Working
        | State::Unknown => Activity::Present,
    };
    Some(Sighting {
        agent: pane.mesh_agent()?.parse().ok()?,
        place: pane.pane.clone(),
        session_id: pane.session_id.clone(),
        pid: Some(pane.pid),
        activity,
        since: pane.since,
        seen_at,
    })
}

fn of_event(event: &HookEvent, now: Timestamp) -> Option<Sighting> {
    let agent: AgentName = event.client.parse().ok()?;
    let pid = event.pid?;
    let runs = table::entry(pid).is_some_and(|process| Some(process.started) == event.started);
    let activity = if runs && event.state != State::SessionEnded {
        Activity::Present
    } else {
        Activity::Ended
    };
    Some(Sighting {
        agent,
        place: format!("pid:{pid}"),
        session_id: Some(event.session_id.clone()),
        pid: Some(pid),
        activity,
        since: event.at,
        seen_at: now,
    })
}

#[cfg(test)]
mod tests {
    use callosum_config::NewState;
    use jiff::SignedDuration;
    use serde_json::json;

    use super::*;

    fn homes(folder: &std::path::Path) -> Homes {
        Homes {
            machine: folder.to_owned(),
            user_config: folder.join("config.toml"),
            new_state: NewState::Project,
        }
    }

    /// CALC-ROUTE-1: states of panes count while their registry is believed, else the processes of hooks.
    #[test]
    fn panes_count_while_their_registry_is_believed() {
        let folder = tempfile::tempdir().unwrap();
        let homes = homes(folder.path());
        let disk = Disk::real();
        let now = Timestamp::from_second(1_000_000).unwrap();
        let pane = |name: &str, agent: &str, state: &str| {
            json!({
                "pane": name, "tty": null, "pid": 7, "session_id": "s", "project": null, "cwd": null,
                "last_prompt": null, "status": "active", "activity_state": "WORKING", "quadrant": null,
                "last_active": now, "agent": agent, "runtime": "x", "state": state, "detail": null,
                "since": now, "resets_at": now, "resets": null, "has_draft": false, "evidence": [],
            })
        };
        let registry = json!({
            "version": "1.0.0", "updated_at": now, "writer": 1,
            "panes": [pane("%1", "gemini", "USAGE_LIMITED"), pane("%2", "claude", "WORKING"), pane("%3", "codex", "BLOCKED_ON_APPROVAL")],
        });
        let text = registry.to_string();
        disk.replace(&homes.pane_registry(), text.as_bytes(), 0o600)
            .unwrap();
        let source = presence_source(&disk, &homes);
        let seen = source.look(now).sightings;
        let found: Vec<(&str, &Activity)> = seen
            .iter()
            .map(|seen| (seen.agent.as_str(), &seen.activity))
            .collect();
        let limited = Activity::Limited { until: Some(now) };
        assert_eq!(
            found,
            [
                ("gemini-cli", &limited),
                ("claude-code", &Activity::Present),
                ("codex", &Activity::Blocked)
            ]
        );
        let event = HookEvent {
            client: "codex".to_owned(),
            session_id: "s".to_owned(),
            event: "PermissionRequest".to_owned(),
            state: State::BlockedOnApproval,
            at: now,
            pid: Some(std::process::id()),
            started: table::entry(std::process::id()).map(|process| process.started),
            cwd: None,
            last_prompt: None,
        };
        hook_event::note(&disk, &homes.hook_events(), event).unwrap();
        let later = source.look(now + SignedDuration::from_secs(601)).sightings;
        let [only] = &later[..] else {
            panic!("{later:?}")
        };
        // Other systems do not list processes, so that an event alone shows no life.
        let expected = if cfg!(target_os = "linux") {
            Activity::Present
        } else {
            Activity::Ended
        };
        assert_eq!(only.activity, expected);
    }
}
