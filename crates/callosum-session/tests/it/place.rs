//! [`Place`]: a project with a file to cite, in a folder of its own.

use std::time::Duration;

use callosum_host::{Clock, Disk};
use callosum_session::{
    ClaimScope, Config, EvidenceKind, NewDecision, Session, Zones,
    bead::{BeadId, BeadUpdate, NewBead},
    checkpoint::Checked,
    evidence::{Evidence, Relative},
    grounding::Threshold,
    heal::Past,
    trajectory::Agent,
};

/// A project whose git has no file to restore.
pub(crate) struct NoFile {
    /// Files that were ever committed, if git reports them.
    pub(crate) ever: Option<&'static [&'static str]>,
}

/// A project that was never committed.
pub(crate) const NOTHING: NoFile = NoFile { ever: Some(&[]) };

impl Past for NoFile {
    fn file(&self, _: &str) -> Option<Vec<u8>> {
        None
    }

    fn files(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn changed(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn ever(&self, _: &str) -> Option<Vec<String>> {
        let ever = self.ever?.iter().map(ToString::to_string);
        Some(ever.collect())
    }
}

/// A project, and the time in it, which goes on by a second with each look.
pub(crate) struct Place {
    _folder: tempfile::TempDir,
    pub(crate) disk: Disk,
    pub(crate) zones: Zones,
    pub(crate) clock: Clock,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let root = disk.canonicalize(folder.path()).unwrap();
        disk.replace(&root.join("a.rs"), b"fn one() {}\nfn two() {}\n", 0o644)
            .unwrap();
        Self {
            _folder: folder,
            disk,
            zones: Zones {
                tree: root.clone(),
                root,
            },
            clock: Clock::fixed(
                "2026-01-02T03:04:05Z".parse().unwrap(),
                Duration::from_secs(1),
            ),
        }
    }

    pub(crate) fn session(&self) -> Session<'_> {
        self.session_of(Agent::default())
    }

    pub(crate) fn session_of(&self, agent: Agent) -> Session<'_> {
        Session {
            disk: &self.disk,
            zones: &self.zones,
            clock: &self.clock,
            agent,
        }
    }

    /// Makes the bead `bd-1`, which is current from now on, with these steps before it.
    pub(crate) fn with_current_bead(&self, next_steps: &[&str]) -> BeadId {
        let held = self.session().hold().unwrap();
        let new = NewBead {
            id: BeadId::new("bd-1"),
            title: "Work".to_owned(),
            ..NewBead::default()
        };
        let id = held.create_bead(&new, || "x".to_owned()).unwrap();
        let update = BeadUpdate {
            is_current: true,
            next_steps: next_steps.iter().map(ToString::to_string).collect(),
            ..BeadUpdate::default()
        };
        held.update_bead(&id, &update).unwrap();
        id
    }

    pub(crate) fn decide(&self, words: &str, place: Option<&str>, ground: EvidenceKind) {
        let places = place.map(|place| Evidence::parse(place, Relative::Accepted).unwrap());
        let new = NewDecision {
            decision: words.to_owned(),
            places: places.into_iter().collect(),
            scenarios: vec![format!("{words} holds")],
            ground,
            ..NewDecision::default()
        };
        self.session().hold().unwrap().decide(&new).unwrap();
    }

    pub(crate) fn check(&self, config: &Config) -> Checked {
        self.session()
            .hold()
            .unwrap()
            .check(config, &Threshold::default(), ClaimScope::Everyone)
            .unwrap()
    }

    pub(crate) fn trajectory(&self, line: &str) {
        let path = self.session().trajectory().file_of("2026-01-02").unwrap();
        let mut text = self.disk.read_if_there(&path).unwrap().unwrap_or_default();
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
        self.disk.create_dir_all(path.parent().unwrap()).unwrap();
        self.disk.replace(&path, &text, 0o644).unwrap();
    }
}
