//! Missing, blank, broken or truncated files are restored from known sources, and nothing is thrown
//! away.

use std::{collections::BTreeMap, time::Duration};

use callosum_host::{Clock, Disk};

use super::*;
use crate::{notes::TEMPLATE, trajectory::Agent, zones::Zones};

struct Committed(BTreeMap<&'static str, &'static str>);

impl Past for Committed {
    fn file(&self, name: &str) -> Option<Vec<u8>> {
        self.0.get(name).map(|text| text.as_bytes().to_vec())
    }

    fn files(&self, folder: &str) -> Vec<String> {
        let all = self.0.keys().filter(|name| name.starts_with(folder));
        all.map(|name| (*name).to_owned()).collect()
    }

    fn changed(&self, folder: &str) -> Vec<String> {
        self.files(folder)
    }

    fn ever(&self, folder: &str) -> Option<Vec<String>> {
        Some(self.files(folder))
    }
}

fn heal(
    there: &[(&str, &str)],
    past: &[(&'static str, &'static str)],
) -> (Vec<String>, Vec<(String, String)>) {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::real();
    let root = disk.canonicalize(folder.path()).unwrap();
    for (name, text) in there {
        let path = root.join(name);
        disk.create_dir_all(path.parent().unwrap()).unwrap();
        disk.replace(&path, text.as_bytes(), 0o644).unwrap();
    }
    let zones = Zones {
        tree: root.clone(),
        root: root.clone(),
    };
    let clock = Clock::fixed("2026-01-02T03:04:05Z".parse().unwrap(), Duration::ZERO);
    let session = Session {
        disk: &disk,
        zones: &zones,
        clock: &clock,
        agent: Agent::default(),
    };
    let past = Committed(past.iter().copied().collect());
    let held = session.hold().unwrap();
    let healed = held.heal(&past).unwrap();
    assert!(
        held.heal(&past)
            .unwrap()
            .iter()
            .all(|again| again.from == RepairSource::Nobody)
    );
    let reports = healed
        .iter()
        .map(|one| format!("{} {} {}", one.file, one.was, one.from));
    let mut files = Vec::new();
    for folder in ["loa-grimoire", ".beads", "loa-grimoire/a2a/trajectory"] {
        for entry in disk.list_dir(&root.join(folder)).unwrap() {
            let name = format!("{folder}/{}", entry.name.to_str().unwrap());
            if let Ok(bytes) = disk.read(&root.join(&name)) {
                files.push((name, String::from_utf8(bytes).unwrap()));
            }
        }
    }
    (reports.collect(), files)
}

/// LOA-HEAL-1: the notes come from the last commit, or else from the template, and healing never
/// stops halfway.
#[test]
fn what_is_missing_comes_from_git_or_the_template() {
    let (reports, files) = heal(&[], &[]);
    assert_eq!(
        reports,
        [
            "loa-grimoire/NOTES.md missing template",
            ".beads missing anew"
        ]
    );
    assert_eq!(
        files,
        [("loa-grimoire/NOTES.md".to_owned(), TEMPLATE.to_owned())]
    );
    let (reports, files) = heal(
        &[
            ("loa-grimoire/NOTES.md", " \n"),
            (".beads/bd-2.yaml", "id: bd-2\n"),
        ],
        &[
            ("loa-grimoire/NOTES.md", "# kept\n"),
            (".beads/bd-1.yaml", "id: bd-1\n"),
            (".beads/config.yaml", "x: 1\n"),
        ],
    );
    assert_eq!(
        reports,
        [
            "loa-grimoire/NOTES.md blank git",
            ".beads/bd-1.yaml missing git"
        ]
    );
    assert_eq!(files[0].1, "# kept\n");
    assert_eq!(files.len(), 3);
}

/// LOA-HEAL-1: broken files are set aside, and those without a known source stay as they are.
#[test]
fn what_is_broken_is_set_aside_and_never_thrown_away() {
    let (reports, files) = heal(
        &[
            ("loa-grimoire/NOTES.md", "# mine\n\0\0"),
            (".beads/bd-1.yaml", "a: 1\na: 2\n"),
            (".beads/bd-2.yaml", "- x\n"),
        ],
        &[(".beads/bd-1.yaml", "id: bd-1\n")],
    );
    assert_eq!(
        reports[0],
        "loa-grimoire/NOTES.md broken: it contains NUL bytes template"
    );
    assert!(reports[1].starts_with(".beads/bd-1.yaml broken: ") && reports[1].ends_with(" git"));
    assert!(
        reports[2].starts_with(".beads/bd-2.yaml broken: ") && reports[2].ends_with(" not healed")
    );
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "loa-grimoire/NOTES.md",
            "loa-grimoire/NOTES.md.broken-20260102T030405Z",
            ".beads/bd-1.yaml",
            ".beads/bd-1.yaml.broken-20260102T030405Z",
            ".beads/bd-2.yaml"
        ]
    );
    assert_eq!(files[1].1, "# mine\n\0\0");
    assert_eq!(files[4].1, "- x\n");
}

/// LOA-HEAL-1: a truncated bead is healed, wherever it was cut, and one that a person changed is
/// not; uncommitted content that the trajectory knows comes back.
#[test]
fn a_bead_is_healed_wherever_it_was_cut() {
    let whole = "id: bd-1\ntitle: Work\nstatus: open\ndecisions: []\nnext_steps:\n  - go on\n";
    let past = [
        ("loa-grimoire/NOTES.md", TEMPLATE),
        (".beads/bd-1.yaml", whole),
    ];
    let record = r#"{"ts":"2026-01-01T00:00:00Z","agent":"a","phase":"cite","decision":"2026-01-01T00:00:00Z","claim":"Use one","bead_id":"bd-1","grounding":"none"}"#;
    let trajectory = "loa-grimoire/a2a/trajectory/implementing-tasks-2026-01-01.jsonl";
    for cut in 0..whole.len() {
        let (reports, files) = heal(
            &[
                ("loa-grimoire/NOTES.md", TEMPLATE),
                (".beads/bd-1.yaml", &whole[..cut]),
                (trajectory, record),
            ],
            &past,
        );
        let bead = &files
            .iter()
            .find(|(name, _)| name == ".beads/bd-1.yaml")
            .unwrap()
            .1;
        assert!(
            bead.contains("  - go on\n") && bead.contains("Use one"),
            "{cut}: {bead}"
        );
        assert!(
            reports[0].starts_with(".beads/bd-1.yaml ") && reports[0].ends_with(" git"),
            "{reports:?}"
        );
        assert!(
            reports[0].contains("(1 decision restored from the trajectory)"),
            "{reports:?}"
        );
    }
    let changed = whole.replace("go on", "go");
    let (reports, _) = heal(
        &[
            ("loa-grimoire/NOTES.md", TEMPLATE),
            (".beads/bd-1.yaml", &changed),
        ],
        &past,
    );
    assert_eq!(reports, [""; 0]);
}

/// LOA-HEAL-1: temporary bead files of a killed process are removed; a person's file of another
/// name stays.
#[test]
fn what_a_killed_process_left_is_swept() {
    let left = [
        ("loa-grimoire/NOTES.md", TEMPLATE),
        (".beads/.bd-1.yaml.4194305-7.tmp", "id: b"),
        (".beads/.mine.4194305-7.tmp", "x"),
    ];
    let (_, files) = heal(&left, &[]);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["loa-grimoire/NOTES.md", ".beads/.mine.4194305-7.tmp"]
    );
}

/// LOA-HEAL-1, LOA-TRJ-1: a committed trajectory comes back from git as it was, with its hand-offs,
/// and nothing that git has is written again; what was written since is after it, and what a person
/// took out stays out.
#[test]
fn a_committed_trajectory_comes_from_git() {
    let name = "loa-grimoire/a2a/trajectory/implementing-tasks-2026-01-02.jsonl";
    let cite = |ts: &str| {
        format!(
            r#"{{"ts":"{ts}","agent":"implementing-tasks","phase":"cite","decision":"{ts}","claim":"Use one","grounding":"none"}}"#
        )
    };
    let over =
        r#"{"ts":"2026-01-02T00:00:02Z","agent":"implementing-tasks","phase":"session_handoff"}"#;
    let first = cite("2026-01-02T00:00:01Z");
    let committed: &'static str = format!("{first}\n{over}\n").leak();
    let notes: &'static str = TEMPLATE
        .replace(
            "### Pending",
            "#### 2026-01-02T00:00:01Z - Use one\n**Decision**: Use one\n\n### Pending",
        )
        .leak();
    let past = [("loa-grimoire/NOTES.md", notes), (name, committed)];
    let later = format!("{}\n", cite("2026-01-02T00:00:03Z"));
    let taken_out = format!("{over}\n");
    let behind = format!("{committed}{later}");
    for (there, was, whole) in [
        (None, Some("missing"), committed),
        (Some(&committed[..40]), Some("truncated"), committed),
        (
            Some(&*later),
            Some("missing its committed records"),
            &*behind,
        ),
        (Some(&*behind), None, &*behind),
        (Some(&*taken_out), None, &*taken_out),
    ] {
        let mut files = vec![("loa-grimoire/NOTES.md", notes)];
        files.extend(there.map(|text| (name, text)));
        let (reports, files) = heal(&files, &past);
        let of_it: Vec<&String> = reports
            .iter()
            .filter(|report| report.starts_with(name))
            .collect();
        let wanted = was.map(|was| format!("{name} {was} git"));
        assert_eq!(
            of_it.first().map(|report| report.as_str()),
            wanted.as_deref(),
            "{reports:?}"
        );
        let made = files.iter().find(|(file, _)| file == name).unwrap();
        assert_eq!(made.1, whole);
    }
}
