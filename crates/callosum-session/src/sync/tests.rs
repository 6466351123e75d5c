//! Two projects that take from one another: once each, in order, and nothing that a person did not
//! decide.

use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

use callosum_host::{Clock, Disk};
use proptest::prelude::*;

use super::*;
use crate::{trajectory::Agent, transaction::Session, zones::Zones};

const NOTES: &str = "loa-grimoire/NOTES.md";
const DAY: &str = "loa-grimoire/a2a/trajectory/claude-2026-01-02.jsonl";
const OWN_DAY: &str = "loa-grimoire/a2a/trajectory/implementing-tasks-2026-01-02.jsonl";
const BEAD: &str = ".beads/bd-1.yaml";

/// A project in a folder of its own.
struct Project {
    _folder: tempfile::TempDir,
    name: &'static str,
    disk: Disk,
    zones: Zones,
    clock: Clock,
}

impl Project {
    fn new(name: &'static str, files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let root = disk.canonicalize(folder.path()).unwrap();
        let project = Self {
            _folder: folder,
            name,
            disk,
            zones: Zones {
                tree: root.clone(),
                root,
            },
            clock: Clock::fixed("2026-01-02T03:04:05Z".parse().unwrap(), Duration::ZERO),
        };
        for (file, text) in files {
            project.write(file, text);
        }
        project
    }

    fn session(&self) -> Session<'_> {
        Session {
            disk: &self.disk,
            zones: &self.zones,
            clock: &self.clock,
            agent: Agent::default(),
        }
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.zones.root.join(file);
        self.disk.create_dir_all(path.parent().unwrap()).unwrap();
        self.disk.replace(&path, text.as_bytes(), 0o644).unwrap();
    }

    fn read(&self, file: &str) -> String {
        let bytes = self
            .disk
            .read_if_there(&self.zones.root.join(file))
            .unwrap();
        String::from_utf8(bytes.unwrap_or_default()).unwrap()
    }

    fn remove(&self, file: &str) {
        self.disk.remove_file(&self.zones.root.join(file)).unwrap();
    }

    /// Everything that a sync may write, by name.
    fn files(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        for folder in [
            "loa-grimoire",
            "loa-grimoire/.session",
            "loa-grimoire/a2a/trajectory",
            ".beads",
        ] {
            for entry in self.disk.list_dir(&self.zones.root.join(folder)).unwrap() {
                let name = format!("{folder}/{}", entry.name.to_str().unwrap());
                let is_ours = name.contains("/sync-") || !name.contains("/.session/");
                if is_ours && !name.ends_with("a2a") && !name.ends_with(".session") {
                    all.insert(name.clone(), self.read(&name));
                }
            }
        }
        all
    }

    fn offered(&self) -> Received {
        let session = self.session();
        let offer = session.offer().unwrap();
        let contents = offer.parts.iter().map(|part| {
            let name = Part::parse(&part.uri).unwrap();
            (part.uri.clone(), session.part(&name).unwrap().unwrap())
        });
        let contents = contents.collect();
        // Only what can be read again crosses.
        let offer = Offer::read(&serde_json::to_string(&offer).unwrap()).unwrap();
        Received { offer, contents }
    }

    fn take(&self, from: &Self) -> Pulled {
        let held = self.session().hold().unwrap();
        let before = self.session().preview(from.name, &from.offered()).unwrap();
        let pulled = held.pull(from.name, &from.offered()).unwrap();
        assert_eq!(before, pulled);
        pulled
    }

    fn status(&self) -> String {
        let text = self.read(BEAD);
        let line = text.lines().find_map(|line| line.strip_prefix("status: "));
        line.unwrap_or_default().to_owned()
    }

    fn set_status(&self, status: &str) {
        let was = format!("status: {}\n", self.status());
        let now = format!("status: {status}\n");
        self.write(BEAD, &self.read(BEAD).replace(&was, &now));
    }
}

fn notes(entries: &[(&str, &str)]) -> String {
    let mut log = String::new();
    for (ts, words) in entries {
        let _ = write!(log, "#### {ts} - {words}\n\n**Decision**: {words}\n\n");
    }
    format!("# NOTES\n\n## Session Continuity\n\n### Decision Log\n\n{log}")
}

fn cite(n: usize) -> String {
    let ts = format!("2026-01-02T00:{:02}:{:02}Z", n / 60 % 60, n % 60);
    format!("{{\"ts\":\"{ts}\",\"agent\":\"claude\",\"phase\":\"cite\",\"claim\":\"{n}\"}}\n")
}

fn bead(status: &str) -> String {
    format!("id: bd-1\ntitle: Pool\nstatus: {status}\npriority: 2\n")
}

fn ones(named: &[Named]) -> Vec<String> {
    let shown = named
        .iter()
        .map(|one| format!("{}: {}", one.file, one.what));
    shown.collect()
}

/// LOA-FUT-1: what another project has arrives once and in order, with its origin on record, and a
/// second sync writes nothing.
#[test]
fn everything_arrives_once_and_a_second_sync_writes_nothing() {
    let theirs = Project::new(
        "theirs",
        &[
            (
                NOTES,
                &notes(&[
                    ("2026-01-02T00:00:02Z", "Two"),
                    ("2026-01-02T00:00:04Z", "Four"),
                ]),
            ),
            (DAY, &(cite(1) + &cite(2))),
            (BEAD, &bead("open")),
        ],
    );
    let ours = Project::new(
        "ours",
        &[
            (
                NOTES,
                &notes(&[
                    ("2026-01-02T00:00:01Z", "One"),
                    ("2026-01-02T00:00:03Z", "Three"),
                ]),
            ),
            (DAY, &(cite(1) + &cite(3))),
        ],
    );
    let pulled = ours.take(&theirs);
    let titles: Vec<&str> = pulled
        .decisions
        .iter()
        .map(|one| one.title.as_str())
        .collect();
    assert_eq!(titles, ["Two", "Four"]);
    assert_eq!(pulled.beads.len(), 1);
    assert_eq!(pulled.records[0].records, 1);
    assert!(pulled.conflicts.is_empty() && pulled.left.is_empty());
    let text = ours.read(NOTES);
    let at =
        ["One", "Two", "Three", "Four"].map(|title| text.find(&format!(" - {title}\n")).unwrap());
    assert!(at.is_sorted(), "{text}");
    assert_eq!(ours.read(DAY), cite(1) + &cite(3) + &cite(2));
    assert_eq!(ours.read(BEAD), bead("open"));
    let record = ours.read(OWN_DAY);
    assert!(record.contains(r#""phase":"sync""#) && record.contains(r#""from":"theirs""#));
    let before = ours.files();
    let again = ours.take(&theirs);
    assert_eq!(again, Pulled::default());
    assert_eq!(ours.files(), before);
    assert_eq!(theirs.read(DAY), cite(1) + &cite(2));
}

/// LOA-FUT-1: what both changed differently stays as it is here, and is named at every sync until both
/// sides agree.
#[test]
fn a_conflict_keeps_ours_and_is_named_until_both_agree() {
    let theirs = Project::new("theirs", &[(BEAD, &bead("closed")), (NOTES, &notes(&[]))]);
    let ours = Project::new("ours", &[(BEAD, &bead("blocked")), (NOTES, &notes(&[]))]);
    for _ in 0..2 {
        let pulled = ours.take(&theirs);
        assert_eq!(ones(&pulled.conflicts), [".beads/bd-1.yaml: status"]);
        assert!(!pulled.changes_anything());
        assert_eq!(ours.status(), "blocked");
    }
    theirs.set_status("blocked");
    assert_eq!(ours.take(&theirs), Pulled::default());
    theirs.set_status("closed");
    assert_eq!(ours.take(&theirs).conflicts, []);
    assert_eq!(ours.status(), "closed");
}

/// LOA-FUT-1: a change there arrives if ours is as it was, a change here stays, and both are
/// distinguished in either direction, also if a value returns to an earlier one.
#[test]
fn a_status_that_returns_to_an_earlier_one_is_a_change_too() {
    let a = Project::new("a", &[(BEAD, &bead("open"))]);
    let b = Project::new("b", &[(NOTES, &notes(&[]))]);
    b.take(&a);
    b.set_status("closed");
    // Not there yet: ours stays, and the difference is named.
    let pulled = b.take(&a);
    assert_eq!(ones(&pulled.differing), [".beads/bd-1.yaml: status"]);
    assert_eq!(
        (pulled.conflicts, b.status()),
        (vec![], "closed".to_owned())
    );
    a.take(&b);
    assert_eq!(a.status(), "closed");
    // A puts it back to what B last saw of A.
    a.set_status("open");
    assert_eq!(b.take(&a).conflicts, []);
    assert_eq!(b.status(), "open");
    // B goes on, to what A took of B before.
    b.set_status("closed");
    assert_eq!(b.take(&a).conflicts, []);
    assert_eq!(b.status(), "closed");
    assert_eq!(a.take(&b).conflicts, []);
    assert_eq!(a.status(), "closed");
}

/// LOA-FUT-1: what a person took out here does not come back.
#[test]
fn what_was_removed_here_stays_removed() {
    let entries = [
        ("2026-01-02T00:00:01Z", "One"),
        ("2026-01-02T00:00:02Z", "Two"),
    ];
    let theirs = Project::new(
        "theirs",
        &[(BEAD, &bead("open")), (NOTES, &notes(&entries))],
    );
    let ours = Project::new("ours", &[(NOTES, &notes(&[]))]);
    ours.take(&theirs);
    ours.remove(BEAD);
    ours.write(NOTES, &notes(&entries[..1]));
    assert_eq!(ours.take(&theirs), Pulled::default());
    assert_eq!(ours.read(BEAD), "");
    assert!(!ours.read(NOTES).contains("Two"));
    theirs.set_status("closed");
    let pulled = ours.take(&theirs);
    assert_eq!(
        ones(&pulled.conflicts),
        [".beads/bd-1.yaml: removed here, changed there"]
    );
    assert_eq!(ours.read(BEAD), "");
}

/// LOA-FUT-1, LOA-SEC-1: of a hostile project, only sound records arrive. What is not sound is left
/// there, and named.
#[test]
fn what_is_not_sound_is_left_there_and_named() {
    let token = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6");
    let other = cite(5).replace("claude", "codex");
    let secret = cite(6).replace("\"6\"", &format!("\"{token}\""));
    let future = DAY.replace("2026-01-02", "2999-01-01");
    let late = DAY.replace("claude", "late");
    let theirs = Project::new(
        "theirs",
        &[
            (NOTES, &notes(&[("2999-01-02T00:00:02Z", "Two")])),
            (DAY, &(cite(4) + "not a record\n" + &other + &secret)),
            (&future, &cite(7)),
            (
                &late,
                &cite(8).replace("2026-", "2027-").replace("claude", "late"),
            ),
            (".beads/bd-2.yaml", "id: [\n"),
            (
                ".beads/bd-3.yaml",
                "id: bd-3\n<<<<<<< ours\nstatus: open\n=======\nstatus: closed\n>>>>>>> theirs\n",
            ),
            (
                ".beads/bd-4.yaml",
                "id: bd-4\ndecisions:\n  - ts: 2999-01-01T00:00:00Z\n    decision: x\n",
            ),
        ],
    );
    let mut received = theirs.offered();
    let whole: String = received.contents.values().cloned().collect();
    assert!(!whole.contains(&token));
    // A server of another make may not mask.
    for text in received.contents.values_mut() {
        *text = text.replace("[secret: github token]", &token);
    }
    let ours = Project::new("ours", &[(NOTES, &notes(&[]))]);
    let held = ours.session().hold().unwrap();
    let pulled = held.pull("theirs", &received).unwrap();
    let left: Vec<(&str, &str)> = pulled
        .left
        .iter()
        .map(|one| (one.file.as_str(), one.why.as_str()))
        .collect();
    let time = "it has a time in the future, ";
    let is_left = |file: &str, why: &str| {
        left.iter()
            .any(|one| one.0 == file && one.1.starts_with(why))
    };
    assert!(
        is_left(NOTES, &format!("{time}2999-01-02T00:00:02Z")),
        "{left:?}"
    );
    assert!(is_left(&future, &format!("{time}2999-01-01")), "{left:?}");
    assert!(
        is_left(&late, &format!("{time}2027-01-02T00:00:08Z")),
        "{left:?}"
    );
    assert!(is_left(".beads/bd-4.yaml", time), "{left:?}");
    assert!(is_left(".beads/bd-2.yaml", ""), "{left:?}");
    assert!(
        is_left(".beads/bd-3.yaml", "one side contains an unfinished merge"),
        "{left:?}"
    );
    assert_eq!(
        ones(&pulled.notices),
        [
            format!("{DAY}: left out lines that are not records: 1"),
            format!("{DAY}: left out lines of another agent: 1"),
        ]
    );
    let masked = secret.replace(&token, "[secret: github token]");
    assert_eq!(ours.read(DAY), cite(4) + &masked);
    assert!(pulled.beads.is_empty());
}

/// LOA-SEC-1: links that lead out of a project are not offered, and not written through.
#[test]
fn no_link_leads_out_of_either_project() {
    let theirs = Project::new("theirs", &[(DAY, &cite(1)), (BEAD, &bead("open"))]);
    let secret = theirs.zones.root.join("secret.yaml");
    theirs.write("secret.yaml", "id: bd-9\n");
    let link = theirs.zones.root.join(".beads/bd-9.yaml");
    std::os::unix::fs::symlink(secret, link).unwrap();
    let names: Vec<String> = theirs.offered().contents.into_keys().collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let outside = tempfile::tempdir().unwrap();
    let ours = Project::new("ours", &[(NOTES, &notes(&[]))]);
    let beads = ours.zones.root.join(".beads");
    std::os::unix::fs::symlink(outside.path(), beads).unwrap();
    let held = ours.session().hold().unwrap();
    // Our own list fails on it too.
    let pulled = held.pull("theirs", &theirs.offered()).unwrap();
    assert_eq!(pulled.left[0].file, BEAD);
    assert!(pulled.left[0].why.contains("points outside the project"));
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

/// LOA-TRJ-1: records that were compressed here do not come back.
#[test]
fn compressed_records_do_not_come_back() {
    let old = DAY.replace("2026-01-02", "2025-11-02");
    let theirs = Project::new("theirs", &[(&old, &(cite(1) + &cite(2)))]);
    let ours = Project::new("ours", &[(&old, &cite(1))]);
    let held = ours.session().hold().unwrap();
    held.prune(&crate::trajectory::Retention::default())
        .unwrap();
    assert_eq!(ours.read(&old), "");
    let pulled = held.pull("theirs", &theirs.offered()).unwrap();
    assert_eq!(pulled.records[0].records, 1);
    assert_eq!(ours.read(&old), cite(2));
}

/// LOA-FUT-1: an offer with a name that is no session file's, with a name twice, of a newer program, or
/// with too many files is refused as a whole.
#[test]
fn a_hostile_offer_is_refused_as_a_whole() {
    let offer = |parts: &str, format: u32, clock: u64| {
        format!(r#"{{"format":{format},"clock":{clock},"parts":[{parts}]}}"#)
    };
    let part = |uri: &str| format!(r#"{{"uri":"{uri}","bytes":1,"sha256":"x"}}"#);
    let notes = part("callosum://session/notes");
    assert!(Offer::read(&offer(&notes, 1, 0)).is_ok());
    let many = vec![notes.as_str(); MOST_PARTS + 1].join(",");
    for (text, expected) in [
        (
            offer(&part("callosum://session/beads/../x"), 1, 0),
            "it lists `callosum://session/beads/../x`, which is not the name of a session file",
        ),
        (
            offer(&format!("{notes},{notes}"), 1, 0),
            "it lists `callosum://session/notes` twice",
        ),
        (
            offer("", 2, 0),
            "its list of session files has format 2; this program reads format 1",
        ),
        (offer(&many, 1, 0), "it lists more than 20000 session files"),
        (
            offer("", 1, u64::MAX),
            "its list of session files cannot be read: its clock is out of range",
        ),
    ] {
        assert_eq!(Offer::read(&text).unwrap_err().to_string(), expected);
    }
    for text in ["", "[]", "{}", r#"{"format":1}"#, "\0"] {
        assert!(
            matches!(Offer::read(text), Err(OfferError::Unreadable(_))),
            "{text}"
        );
    }
}

/// A step of one of two people.
#[derive(Clone, Copy, Debug)]
enum Act {
    Decide,
    Record,
    Status(usize),
    Take,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// LOA-FUT-1: in any order of changes and syncs of two people, both end with every
    /// decision and record once, a value that differs is named, and no sync after that writes
    /// anything.
    #[test]
    fn both_sides_end_with_everything_once(
        acts in proptest::collection::vec((any::<bool>(), prop_oneof![
            1 => Just(Act::Decide), 1 => Just(Act::Record), 3 => (0..3_usize).prop_map(Act::Status),
            3 => Just(Act::Take),
        ]), 0..14),
    ) {
        let all = [("a", bead("open")), ("b", bead("open"))];
        let [a, b] = all.map(|(name, bead)| Project::new(name, &[(NOTES, &notes(&[])), (BEAD, &bead)]));
        let (mut decided, mut recorded) = (0, 0);
        for (is_a, act) in acts {
            let (it, other) = if is_a { (&a, &b) } else { (&b, &a) };
            match act {
                Act::Decide => {
                    decided += 1;
                    let ts = format!("2026-01-02T01:00:{decided:02}Z");
                    let entry = format!("#### {ts} - No {decided}\n\n**Decision**: No {decided}\n\n");
                    it.write(NOTES, &(it.read(NOTES) + &entry));
                }
                Act::Record => {
                    recorded += 1;
                    it.write(DAY, &(it.read(DAY) + &cite(recorded)));
                }
                Act::Status(n) => it.set_status(["open", "blocked", "closed"][n]),
                Act::Take => drop(it.take(other)),
            }
        }
        for _ in 0..2 {
            a.take(&b);
            b.take(&a);
        }
        let (last_a, last_b) = (a.files(), b.files());
        let (of_a, of_b) = (a.take(&b), b.take(&a));
        prop_assert_eq!(a.files(), last_a);
        prop_assert_eq!(b.files(), last_b);
        let is_named = !of_a.conflicts.is_empty() || !of_a.differing.is_empty() || !of_b.conflicts.is_empty() || !of_b.differing.is_empty();
        prop_assert_eq!(a.status() != b.status(), is_named);
        for it in [&a, &b] {
            for n in 1..=decided {
                let heading = format!(" - No {n}\n");
                prop_assert_eq!(it.read(NOTES).matches(&heading).count(), 1);
            }
            for n in 1..=recorded {
                prop_assert_eq!(it.read(DAY).matches(cite(n).trim_end()).count(), 1);
            }
        }
    }
}
