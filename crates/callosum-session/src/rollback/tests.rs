//! Rollbacks bring back each state from the right source, and lose nothing.

#![expect(
    clippy::disallowed_methods,
    reason = "tests change files beside the session, as other programs do"
)]

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use callosum_host::{Clock, Disk};

use super::*;
use crate::{
    NewDecision,
    bead::{BeadId, NewBead},
    notes::Notes,
    trajectory::Agent,
    transaction::Session,
    zones::Zones,
};

/// Commits, each with its time and its files.
#[derive(Default)]
struct Commits(Vec<(&'static str, BTreeMap<String, Vec<u8>>)>);

impl Commits {
    fn last(&self) -> Option<&BTreeMap<String, Vec<u8>>> {
        self.0.last().map(|(_, files)| files)
    }
}

impl Past for Commits {
    fn file(&self, name: &str) -> Option<Vec<u8>> {
        self.last()?.get(name).cloned()
    }

    fn files(&self, folder: &str) -> Vec<String> {
        let names = self.last().into_iter().flat_map(BTreeMap::keys);
        names
            .filter(|name| name.starts_with(folder))
            .cloned()
            .collect()
    }

    fn changed(&self, folder: &str) -> Vec<String> {
        self.files(folder)
    }

    fn ever(&self, folder: &str) -> Option<Vec<String>> {
        Some(self.files(folder))
    }
}

impl History for Commits {
    fn commit_at(&self, time: Timestamp) -> Option<String> {
        let before = |at: &&str| at.parse::<Timestamp>().unwrap() <= time;
        let mut times = self.0.iter().map(|(at, _)| *at);
        times.rfind(before).map(str::to_owned)
    }

    fn file_of(&self, commit: &str, name: &str) -> Option<Vec<u8>> {
        let (_, files) = self.0.iter().find(|(at, _)| *at == commit)?;
        files.get(name).cloned()
    }

    fn files_of(&self, commit: &str, folder: &str) -> Vec<String> {
        let files = self.0.iter().find(|(at, _)| *at == commit);
        let names = files.into_iter().flat_map(|(_, files)| files.keys());
        names
            .filter(|name| name.starts_with(folder))
            .cloned()
            .collect()
    }
}

/// A project, in which each step has its time.
struct Project {
    _folder: tempfile::TempDir,
    disk: Disk,
    zones: Zones,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let root = disk.canonicalize(folder.path()).unwrap();
        let zones = Zones {
            tree: root.clone(),
            root,
        };
        Self {
            _folder: folder,
            disk,
            zones,
        }
    }

    /// Does something at a time of the day, which is also when files that it changes were changed.
    fn at<T>(&self, time: &str, act: impl FnOnce(&Session<'_>) -> T) -> T {
        let before = self.files();
        let clock = Clock::fixed(of_day(time), Duration::ZERO);
        let done = act(&Session {
            disk: &self.disk,
            zones: &self.zones,
            clock: &clock,
            agent: Agent::default(),
        });
        for (file, bytes) in self.files() {
            if before.get(&file) != Some(&bytes) {
                self.touch(&file, time);
            }
        }
        done
    }

    fn decide(&self, time: &str, words: &str) {
        self.at(time, |session| {
            let held = session.hold().unwrap();
            let new = NewDecision {
                decision: words.to_owned(),
                ground: crate::EvidenceKind::Assumption,
                ..NewDecision::default()
            };
            held.decide(&new).unwrap();
        });
    }

    fn create_bead(&self, time: &str, id: &str) {
        self.at(time, |session| {
            let held = session.hold().unwrap();
            let new = NewBead {
                id: BeadId::new(id),
                title: format!("Task {id}"),
                ..NewBead::default()
            };
            held.create_bead(&new, String::new).unwrap();
        });
    }

    fn roll_back(&self, now: &str, to: &str, history: &Commits) -> RollbackPlan {
        self.at(now, |session| {
            let held = session.hold().unwrap();
            held.roll_back(of_day(to), history).unwrap()
        })
    }

    fn undo(&self, now: &str, history: &Commits) -> RollbackPlan {
        self.at(now, |session| {
            session.hold().unwrap().undo_rollback(history).unwrap()
        })
    }

    /// The words of the decisions in the notes.
    fn decisions(&self) -> Vec<String> {
        let bytes = self.disk.read_if_there(&self.zones.notes()).unwrap();
        let notes = Notes::read(bytes.unwrap_or_default());
        let decisions = notes.decisions().into_iter();
        let words = decisions.map(|decision| decision.words().to_owned());
        words
            .map(|words| words.replace(" [ASSUMPTION]", ""))
            .collect()
    }

    /// All session files, but for those of our own.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let folders = [
            self.zones.notes().parent().unwrap().to_owned(),
            self.zones.beads(),
            self.zones.trajectories(),
        ];
        let mut files = BTreeMap::new();
        for folder in folders {
            for entry in self.disk.list_dir(&folder).unwrap() {
                let path: PathBuf = folder.join(&entry.name);
                if let Ok(bytes) = self.disk.read(&path) {
                    files.insert(self.zones.named(&path), bytes);
                }
            }
        }
        files
    }

    /// Sets when a file was changed.
    fn touch(&self, file: &str, time: &str) {
        let path = self.zones.root.join(file);
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(of_day(time).into()).unwrap();
    }
}

fn of_day(time: &str) -> Timestamp {
    format!("2026-01-02T{time}Z").parse().unwrap()
}

/// LOA-FUT-1: without git, notes, beads and trajectories are byte for byte as they were, and undoing
/// brings back all that came later.
#[test]
fn the_state_of_each_step_comes_back_and_goes_again() {
    let project = Project::new();
    project.create_bead("01:00:00", "bd-1");
    project.decide("01:00:10", "Use one pool");
    let early = project.files();
    project.decide("01:00:20", "Retry twice");
    project.create_bead("01:00:30", "bd-2");
    let late = project.files();
    let none = Commits::default();
    let plan = project.roll_back("01:01:00", "01:00:10", &none);
    assert_eq!(plan.unknown, []);
    let mut there = project.files();
    let trajectory = there
        .keys()
        .find(|name| name.contains("/trajectory/"))
        .cloned()
        .unwrap();
    let records = there.insert(trajectory.clone(), early[&trajectory].clone());
    assert_eq!(there, early);
    let records = String::from_utf8(records.unwrap()).unwrap();
    let last = records.lines().last().unwrap();
    assert!(
        last.contains("\"rollback\"")
            && records.starts_with(&*String::from_utf8_lossy(&early[&trajectory])),
        "{records}"
    );
    let plan = project.undo("01:02:00", &none);
    assert!(plan.is_undo);
    let mut there = project.files();
    let records = there.insert(trajectory.clone(), late[&trajectory].clone());
    assert_eq!(there, late);
    let records = String::from_utf8(records.unwrap()).unwrap();
    for line in String::from_utf8_lossy(&late[&trajectory]).lines() {
        assert!(records.contains(line), "{line} is not in\n{records}");
    }
    project.at("01:03:00", |session| {
        let refused = session.hold().unwrap().undo_rollback(&none).unwrap_err();
        assert!(matches!(refused, RollbackError::NothingToUndo));
    });
}

/// LOA-FUT-1: any time can be gone back to, in any order, and what is in between is known as well.
#[test]
fn one_rollback_after_the_other_ends_at_its_own_time() {
    let project = Project::new();
    let words = ["one", "two", "three", "four"];
    for (at, words) in words.iter().enumerate() {
        project.decide(&format!("01:00:0{at}"), words);
    }
    let none = Commits::default();
    for (now, to, left) in [
        ("01:01:00", "01:00:02", 3),
        ("01:02:00", "01:00:00", 1),
        ("01:03:00", "01:01:30", 3),
        ("01:04:00", "01:00:59", 4),
    ] {
        project.roll_back(now, to, &none);
        assert_eq!(project.decisions().len(), left, "back to {to}");
        let mut records = project.files().into_iter();
        let (_, records) = records
            .find(|(name, _)| name.contains("/trajectory/"))
            .unwrap();
        let records = String::from_utf8(records).unwrap();
        assert_eq!(
            records.matches("\"cite\"").count(),
            left,
            "back to {to}: {records}"
        );
    }
}

/// LOA-FUT-1: files that no step of ours has changed come from the commit of that time; one without a known version stays, and is
/// named.
#[test]
fn what_others_changed_comes_from_git_or_stays() {
    let project = Project::new();
    project.create_bead("01:00:00", "bd-1");
    let committed = project.files();
    let history = Commits(vec![("2026-01-02T01:00:05Z", committed.clone())]);
    let own = project.zones.own().join(versions::FOLDER);
    std::fs::remove_dir_all(own).unwrap();
    for (file, text) in [
        (".beads/bd-1.yaml", "id: bd-1\ntitle: Other\n"),
        (".beads/bd-2.yaml", "id: bd-2\ntitle: Of hand\n"),
    ] {
        std::fs::write(project.zones.root.join(file), text).unwrap();
        project.touch(file, "01:00:30");
    }
    let plan = project.roll_back("01:01:00", "01:00:10", &history);
    assert_eq!(plan.files.len(), 1, "{:?}", plan.files);
    assert!(matches!(plan.files[0].from, StateSource::Commit(_)));
    assert_eq!(
        project.files()[".beads/bd-1.yaml"],
        committed[".beads/bd-1.yaml"]
    );
    assert_eq!(plan.unknown.len(), 1);
    assert_eq!(plan.unknown[0].file, ".beads/bd-2.yaml");
    assert_eq!(
        project.files()[".beads/bd-2.yaml"],
        b"id: bd-2\ntitle: Of hand\n"
    );
}

/// LOA-FUT-1, LOA-HEAL-1: healing leaves what was committed and is rolled back, until another version is committed.
#[test]
fn healing_does_not_bring_back_what_was_rolled_back() {
    let project = Project::new();
    project.decide("01:00:00", "Use one pool");
    project.create_bead("01:00:10", "bd-1");
    project.decide("01:00:20", "Retry twice");
    let history = Commits(vec![("2026-01-02T01:00:30Z", project.files())]);
    project.roll_back("01:01:00", "01:00:05", &history);
    let rolled = project.files();
    project.at("01:02:00", |session| {
        let healed = session.hold().unwrap().heal(&history).unwrap();
        assert_eq!(healed, []);
    });
    assert_eq!(project.files(), rolled);
    assert_eq!(project.decisions(), ["Use one pool"]);
    // Another version is committed, and lost.
    let mut files = rolled.clone();
    files.insert(
        ".beads/bd-1.yaml".into(),
        b"id: bd-1\ntitle: Again\n".to_vec(),
    );
    let history = Commits(vec![("2026-01-02T01:03:00Z", files)]);
    project.at("01:04:00", |session| {
        session.hold().unwrap().heal(&history).unwrap();
    });
    assert!(project.files().contains_key(".beads/bd-1.yaml"));
}

/// LOA-FUT-1: what is written after a rollback survives its undoing.
#[test]
fn undoing_keeps_what_was_decided_since() {
    let project = Project::new();
    project.decide("01:00:00", "Use one pool");
    project.decide("01:00:10", "Retry twice");
    let none = Commits::default();
    project.roll_back("01:01:00", "01:00:05", &none);
    project.decide("01:02:00", "Retry once");
    project.undo("01:03:00", &none);
    let mut decisions = project.decisions();
    decisions.sort();
    assert_eq!(decisions, ["Retry once", "Retry twice", "Use one pool"]);
}

/// LOA-FUT-1: a process that is killed before a rollback has changed anything, or everything, leaves the rest to the next.
#[test]
fn a_rollback_that_was_killed_is_finished_by_the_next_step() {
    let project = Project::new();
    project.decide("01:00:00", "Use one pool");
    let early = project.files();
    project.decide("01:00:10", "Retry twice");
    let late = project.files();
    let none = Commits::default();
    project.roll_back("01:01:00", "01:00:05", &none);
    let own = project.zones.own();
    let record = std::fs::read_to_string(own.join(record::DONE)).unwrap();
    // As it was after the record was written, and nothing else.
    std::fs::remove_file(own.join(record::DONE)).unwrap();
    for (file, bytes) in &late {
        std::fs::write(project.zones.root.join(file), bytes).unwrap();
    }
    std::fs::write(own.join(record::PENDING), record.trim()).unwrap();
    project.at("01:05:00", |session| {
        let held = session.hold().unwrap();
        assert!(held.mended.is_some());
    });
    assert_eq!(project.decisions(), ["Use one pool"]);
    assert_eq!(
        project.files()["loa-grimoire/NOTES.md"],
        early["loa-grimoire/NOTES.md"]
    );
    assert!(!own.join(record::PENDING).exists());
    project.undo("01:06:00", &none);
    assert_eq!(project.decisions().len(), 2);
}

/// LOA-FUT-1, LOA-SEC-1: a record that a repository brings along changes no file but those of sessions.
#[test]
fn a_foreign_record_reaches_no_other_file() {
    let project = Project::new();
    project.decide("01:00:00", "Use one pool");
    let root = &project.zones.root;
    std::fs::write(root.join("main.rs"), "fn main() {}\n").unwrap();
    let files = [
        "main.rs",
        "../out",
        ".beads/../main.rs",
        "loa-grimoire/.session/lock",
    ];
    let files = files
        .map(|file| serde_json::json!({"file": file, "before": null, "after": null, "head": null}));
    let record = serde_json::json!({
        "format": 1, "ts": "2026-01-02T01:00:00Z", "agent": "x", "to": "2026-01-02T00:00:00Z",
        "is_undo": false, "files": files,
    });
    let pending = project.zones.own().join(record::PENDING);
    std::fs::write(pending, record.to_string()).unwrap();
    project.at("01:05:00", |session| drop(session.hold().unwrap()));
    assert!(root.join("main.rs").exists() && project.zones.own().join("lock").exists());
    assert_eq!(project.decisions(), ["Use one pool"]);
}

/// LOA-FUT-1: records that were taken from elsewhere go with the rest, though they are older than the time.
#[test]
fn older_records_that_came_later_go_as_well() {
    let project = Project::new();
    project.decide("01:00:10", "Use one pool");
    let early = project.files();
    let name = "loa-grimoire/a2a/trajectory/other-2026-01-02.jsonl";
    project.at("01:00:20", |session| {
        let held = session.hold().unwrap();
        let record = br#"{"ts":"2026-01-02T00:30:00Z","agent":"other","phase":"cite"}"#;
        let path = project.zones.root.join(name);
        held.write_if_changed(&path, record).unwrap();
    });
    project.roll_back("01:01:00", "01:00:15", &Commits::default());
    assert!(!project.files().contains_key(name));
    assert_eq!(
        project.files()["loa-grimoire/NOTES.md"],
        early["loa-grimoire/NOTES.md"]
    );
}

/// LOA-FUT-1: a time in the future is refused.
#[test]
fn a_time_that_is_yet_to_come_is_refused() {
    let project = Project::new();
    project.at("01:00:00", |session| {
        let refused = session.plan_rollback(of_day("01:00:01"), &Commits::default());
        assert!(matches!(refused, Err(RollbackError::Future { .. })));
    });
}

/// LOA-FUT-1: the versions stay within their bound, and the newest stay.
#[test]
fn the_oldest_versions_are_forgotten_first() {
    let project = Project::new();
    let versions = project.at("01:00:00", |session| {
        session.hold().unwrap();
        versions::Versions::of(&project.disk, session.zones).unwrap()
    });
    // Random text does not get smaller.
    let mut state = 1_u64;
    let mut noise = |bytes: usize| -> Vec<u8> {
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as u8
        };
        (0..bytes).map(|_| next()).collect()
    };
    for number in 0..40 {
        let ts = format!("2026-01-02T01:00:{number:02}Z");
        versions
            .keep(&ts, "loa-grimoire/NOTES.md", Some(&noise(1 << 20)))
            .unwrap();
    }
    let folder = project.zones.own().join(versions::FOLDER);
    let entries = project.disk.list_dir(&folder).unwrap();
    let sizes = entries.iter().map(|entry| {
        let stat = project.disk.stat(&folder.join(&entry.name)).unwrap();
        stat.unwrap().len
    });
    assert!(sizes.sum::<u64>() < 34 << 20);
    let newest = versions.at("2026-01-02T01:00:38Z").unwrap();
    let sum = newest["loa-grimoire/NOTES.md"].clone().unwrap();
    assert_eq!(versions.content(&sum).unwrap().unwrap().len(), 1 << 20);
}
