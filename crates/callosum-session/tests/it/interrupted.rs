//! After any crash during a step, the next session has all of it or none.

use std::{path::PathBuf, time::Duration};

use callosum_host::{Clock, Disk};
use callosum_session::{
    NewDecision, Session, Zones,
    bead::{Bead, BeadId},
    evidence::{Evidence, Relative},
    trajectory::{Agent, DEFAULT_AGENT},
};
use callosum_testkit::disk::{Crashes, Image, MemoryDisk};

const ROOT: &str = "/project";

fn image() -> Image {
    let mut image = Image::with_folder(ROOT);
    for folder in [
        "loa-grimoire",
        "loa-grimoire/a2a",
        "loa-grimoire/a2a/trajectory",
        ".beads",
    ] {
        image.put_folder(format!("{ROOT}/{folder}"));
    }
    image.put_file(format!("{ROOT}/a.rs"), "fn one() {}\n");
    image.put_file(
        format!("{ROOT}/loa-grimoire/NOTES.md"),
        "## Session Continuity\n### Active Context\n- **Current Bead**: bd-1\n### Decision Log\nby hand\n",
    );
    image.put_file(
        format!("{ROOT}/.beads/bd-1.yaml"),
        "id: bd-1 # mine\ntitle: t\n",
    );
    image
}

/// Returns how often the decision occurs in notes, bead and trajectory.
fn counts(disk: &Disk, zones: &Zones, clock: &Clock) -> [usize; 3] {
    let session = Session {
        disk,
        zones,
        clock,
        agent: Agent::default(),
    };
    let notes = session.notes().unwrap().unwrap();
    assert!(String::from_utf8_lossy(notes.bytes()).contains("by hand\n"));
    let sheet = session.bead(&BeadId::new("bd-1").unwrap()).unwrap();
    assert!(sheet.text().contains("# mine\n"));
    let read = session.trajectory().since_handoff().unwrap();
    assert_eq!(read.bad_lines(), 0, "{read:?}");
    [
        notes.decisions().len(),
        Bead::of(sheet.members()).decisions.len(),
        read.records.len(),
    ]
}

/// LOA-FMT-1: a decision that was acknowledged is in notes, bead and trajectory; one that was not is
/// in all three or in none once the next session has begun, and in none twice.
#[test]
fn a_decision_is_whole_or_absent_after_any_crash() {
    let zones = Zones {
        tree: PathBuf::from(ROOT),
        root: PathBuf::from(ROOT),
    };
    let clock = Clock::fixed("2026-01-02T03:04:05Z".parse().unwrap(), Duration::ZERO);
    let memory = MemoryDisk::with(&image());
    let disk = memory.disk();
    let session = Session {
        disk: &disk,
        zones: &zones,
        clock: &clock,
        agent: Agent::default(),
    };
    let held = session.hold().unwrap();
    held.decide(&NewDecision {
        decision: "Keep one".to_owned(),
        places: vec![Evidence::parse("a.rs:1", Relative::Accepted).unwrap()],
        ..NewDecision::default()
    })
    .unwrap();
    memory.tell();
    drop(held);
    let crashes = Crashes::of(&memory.trace(), 7).generate();
    let (mut mended, mut whole) = (0, 0);
    for crash in &crashes {
        let memory = MemoryDisk::with(&crash.image);
        let disk = memory.disk();
        let session = Session {
            disk: &disk,
            zones: &zones,
            clock: &clock,
            agent: Agent::default(),
        };
        let held = session.hold().unwrap();
        mended += usize::from(held.mended.is_some());
        drop(held);
        let counted = counts(&disk, &zones, &clock);
        let is_promised = crash.told > 0;
        assert!(
            counted == [1; 3] || (counted == [0; 3] && !is_promised),
            "{counted:?}\n{}",
            crash.image.listing()
        );
        whole += counted[0];
        assert_eq!(session.hold().unwrap().mended, None);
    }
    assert!(
        mended > 3 && whole > mended && whole < crashes.len(),
        "{mended} {whole} {}",
        crashes.len()
    );
}

fn of<'s>(disk: &'s Disk, zones: &'s Zones, clock: &'s Clock, agent: &str) -> Session<'s> {
    Session {
        disk,
        zones,
        clock,
        agent: Agent::new(agent).unwrap(),
    }
}

/// CCOS-RTFS-2: a decision of a call whose process was killed is found by its key or was not made; made again
/// under that key, it is the same.
#[test]
fn a_decision_of_one_call_is_made_once_after_any_crash() {
    let zones = Zones {
        tree: PathBuf::from(ROOT),
        root: PathBuf::from(ROOT),
    };
    let clock = Clock::fixed("2026-01-02T03:04:05Z".parse().unwrap(), Duration::ZERO);
    let new = NewDecision {
        decision: "Keep one".to_owned(),
        places: vec![Evidence::parse("a.rs:1", Relative::Accepted).unwrap()],
        call: Some("k1".to_owned()),
        ..NewDecision::default()
    };
    let memory = MemoryDisk::with(&image());
    let disk = memory.disk();
    let made = of(&disk, &zones, &clock, DEFAULT_AGENT)
        .hold()
        .unwrap()
        .decide(&new);
    let made = made.unwrap();
    assert_eq!(made.bead, BeadId::new("bd-1"));
    let (mut found, mut pending) = (0, 0);
    let crashes = Crashes::of(&memory.trace(), 7).generate();
    for crash in &crashes {
        let memory = MemoryDisk::with(&crash.image);
        let disk = memory.disk();
        // The agent that continues the run may be another one.
        let held = of(&disk, &zones, &clock, "other").hold().unwrap();
        assert_eq!(held.decided_by("k2").unwrap(), None);
        let known = held.decided_by("k1").unwrap();
        found += usize::from(known.is_some());
        pending += usize::from(held.mended.is_some());
        if let Some(known) = known {
            assert_eq!(
                (&known.decision.ts, &known.bead),
                (&made.decision.ts, &made.bead)
            );
            assert_eq!(known.decision.evidence, made.decision.evidence);
            assert_eq!(held.decide(&new).unwrap(), known);
            drop(held);
        } else {
            drop(held);
            of(&disk, &zones, &clock, DEFAULT_AGENT)
                .hold()
                .unwrap()
                .decide(&new)
                .unwrap();
        }
        assert_eq!(counts(&disk, &zones, &clock), [1; 3]);
    }
    assert!(pending > 3 && found > pending && found < crashes.len());
}
