//! Two sessions that write at once.

use std::{thread, time::Duration};

use callosum_host::{Clock, Disk};
use callosum_session::{
    NewDecision, Session, Zones,
    bead::{Bead, BeadId},
    trajectory::Agent,
};

/// LOA-FMT-1: sessions that write at once each have all that they wrote, under names of their own.
#[test]
fn decisions_of_several_sessions_are_all_there() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::real();
    let root = disk.canonicalize(folder.path()).unwrap();
    let zones = Zones {
        tree: root.clone(),
        root: root.clone(),
    };
    let clock = Clock::fixed("2026-01-02T03:04:05Z".parse().unwrap(), Duration::ZERO);
    disk.create_dir_all(&root.join(".beads")).unwrap();
    disk.replace(&root.join(".beads/bd-1.yaml"), b"id: bd-1\n", 0o644)
        .unwrap();
    let decide = |agent: &str| {
        let agent = Agent::new(agent).unwrap();
        for number in 0..5 {
            let session = Session {
                disk: &disk,
                zones: &zones,
                clock: &clock,
                agent: agent.clone(),
            };
            let new = NewDecision {
                decision: format!("{agent} {number}"),
                bead: BeadId::new("bd-1"),
                ..NewDecision::default()
            };
            session.hold().unwrap().decide(&new).unwrap();
        }
    };
    thread::scope(|scope| {
        for agent in ["a", "b", "c"] {
            scope.spawn(move || decide(agent));
        }
    });
    let session = Session {
        disk: &disk,
        zones: &zones,
        clock: &clock,
        agent: Agent::new("b").unwrap(),
    };
    let decisions = session.notes().unwrap().unwrap().decisions();
    let mut times: Vec<&str> = decisions
        .iter()
        .map(|decision| decision.ts.as_str())
        .collect();
    times.sort_unstable();
    times.dedup();
    assert_eq!(times.len(), 15);
    let sheet = session.bead(&BeadId::new("bd-1").unwrap()).unwrap();
    assert_eq!(Bead::of(sheet.members()).decisions.len(), 15);
    assert_eq!(
        session.trajectory().since_handoff().unwrap().records.len(),
        5
    );
}
