//! Archives that are believed because the journal tells of them, and files that are not.

use callosum_json::Checksum;
use callosum_ledger::{
    ErrorCode, GoneArchive, Ledger, Query, ReadError, RecoverFrom, RecoverOptions, Verification,
    WriteError, verify, verify::VerifyFinding,
};
use serde_json::Value;

use crate::project::{Project, id, spawn};

/// Three entries in an archive, and one in the active ledger.
fn archived() -> (Project, std::path::PathBuf) {
    let (project, _) = Project::with_entries(3);
    let ledger = project.open();
    let archive = ledger.rotate().unwrap().unwrap().archive;
    project.store(&ledger, "active");
    drop(ledger);
    (project, archive)
}

fn found(project: &Project) -> Verification {
    verify(&project.disk, &project.paths).unwrap()
}

/// The faults with the files that they are in.
fn faults(project: &Project) -> Vec<(VerifyFinding, String)> {
    let named = |path: &std::path::Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let problems = found(project).problems.into_iter();
    problems
        .map(|problem| (problem.fault, named(&problem.path)))
        .collect()
}

fn summary(project: &Project, id_text: &str) -> String {
    let found = project.reader().find(&id(id_text)).unwrap().unwrap();
    found.entry.summary
}

/// A ledger with one entry of this id, whose checksum is right.
fn forged(id_text: &str) -> String {
    let source = Project::new();
    let ledger = source.open();
    ledger.commit(source.entry(id(id_text), "FORGED")).unwrap();
    drop(ledger);
    source.text(&source.paths.ledger)
}

/// CAL-GOV-4, REQ-LED-005: a foreign file among the archives is not read, but reported.
#[test]
fn what_the_journal_does_not_tell_of_is_no_archive() {
    let (project, _) = archived();
    let history = project.paths.history.clone();
    let names = ["cal_memory_20261103_000000.json", "notes.json", "zz.json"];
    project.write(&history.join(names[0]), forged("cal_2026_11_02_0002"));
    project.write(&history.join(names[1]), "{}");
    project.write(&history.join(names[2]), forged("cal_2026_11_01_0001"));
    assert_eq!(summary(&project, "cal_2026_11_02_0002"), "summary 1");
    assert_eq!(project.reader().query(&Query::default()).unwrap().len(), 4);
    let stats = project.reader().stats().unwrap();
    assert_eq!((stats.archives, stats.entries), (1, 4));

    let ledger = project.open();
    let mut linked = project.entry(ledger.reserve(spawn()).unwrap(), "linked");
    linked.linked_tasks = vec![id("cal_2026_11_01_0001")];
    let error = ledger.commit(linked).unwrap_err();
    assert!(matches!(error, WriteError::UnknownLinks { .. }), "{error}");
    let own = project.entry(id("cal_2026_11_01_0001"), "its own");
    ledger.commit(own).unwrap();
    assert_eq!(
        Ledger::compress_archives(&project.disk, &project.paths).unwrap(),
        1
    );
    drop(ledger);

    let inserted = names.map(|name| (VerifyFinding::Inserted, name.to_owned()));
    let mut faults = faults(&project);
    faults.sort_by(|one, other| one.1.cmp(&other.1));
    assert_eq!(faults, inserted);
}

/// CAL-GOV-4: the names come from the journal where the watermark is lost, and where it is of an
/// earlier ledger.
#[test]
fn the_archives_are_known_without_a_watermark() {
    let (project, _) = Project::with_entries(3);
    let before = project.read(&project.paths.watermark());
    let ledger = project.open();
    ledger.rotate().unwrap();
    assert_eq!(summary(&project, "cal_2026_11_02_0002"), "summary 1");
    project.store(&ledger, "active");
    drop(ledger);
    project.write(&project.paths.watermark(), before);
    assert_eq!(summary(&project, "cal_2026_11_02_0002"), "summary 1");
    project
        .disk
        .remove_file(&project.paths.watermark())
        .unwrap();
    assert_eq!(summary(&project, "cal_2026_11_02_0002"), "summary 1");
    project.disk.remove_file(&project.paths.hashlog).unwrap();
    assert_eq!(summary(&project, "cal_2026_11_02_0002"), "summary 1");
}

/// CAL-SUM-2: an archive that is gone is not taken for one that never was; opening brings it back.
#[test]
fn an_archive_that_is_gone_is_missed_and_brought_back() {
    let (project, archive) = archived();
    let text = project.text(&archive);
    project.disk.remove_file(&archive).unwrap();
    let reader = project.reader();
    let gone = GoneArchive {
        path: archive.clone(),
        is_in_journal: true,
    };
    assert_eq!(reader.gone_archives().unwrap(), [gone]);
    let error = reader.find(&id("cal_2026_11_02_0002")).unwrap_err();
    assert!(
        matches!(
            error,
            ReadError::ArchiveGone {
                is_in_journal: true,
                ..
            }
        ),
        "{error}"
    );
    assert!(found(&project).not_in_journal.is_empty());
    assert_eq!(summary(&project, "cal_2026_11_02_0004"), "active");
    assert_eq!(project.open().repairs().len(), 1);
    assert_eq!(project.text(&archive), text);
    assert_eq!(project.reader().gone_archives().unwrap(), []);
    assert_eq!(found(&project).problems, []);
}

/// CAL-GOV-4: an archive is believed as far as its entries are those that were archived.
#[test]
fn an_archive_with_other_entries_is_not_believed() {
    let (project, archive) = archived();
    let source = Project::new();
    let ledger = source.open();
    for number in 0..3 {
        source.store(&ledger, &format!("another {number}"));
    }
    drop(ledger);
    project.write(&archive, source.text(&source.paths.ledger));
    let error = project
        .reader()
        .find(&id("cal_2026_11_02_0002"))
        .unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::ChecksumMismatch), "{error}");
    project.write(
        &archive.with_extension("hashlog"),
        source.text(&source.paths.hashlog),
    );
    let error = project
        .reader()
        .find(&id("cal_2026_11_02_0002"))
        .unwrap_err();
    assert!(matches!(error, ReadError::ArchiveChanged { .. }), "{error}");
    assert_eq!(summary(&project, "cal_2026_11_02_0004"), "active");
}

/// REQ-PERF-004: the hashlogs alone show that no archive has an id; the archives, which may be
/// compressed, are not read.
#[test]
fn an_unknown_id_is_looked_up_without_reading_archives() {
    let (project, archive) = archived();
    project.write(&archive, "no ledger at all");
    let reader = project.reader();
    for unknown in ["cal_2026_11_02_0099", "cal_2025_01_01_0001"] {
        assert!(reader.find(&id(unknown)).unwrap().is_none(), "{unknown}");
    }
    assert!(reader.find(&id("cal_2026_11_02_0002")).is_err());
    let ids = reader.ids_with_prefix("cal_2026_11_02_000", 9).unwrap();
    let ids: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
    let stored = [
        "cal_2026_11_02_0001",
        "cal_2026_11_02_0002",
        "cal_2026_11_02_0003",
        "cal_2026_11_02_0004",
    ];
    assert_eq!(ids, stored);
    assert_eq!(reader.ids_with_prefix("cal_2025", 9).unwrap(), []);
}

/// CAL-GOV-4: a hashlog whose end was cut off says nothing of the entries that it lacks.
#[test]
fn a_cut_hashlog_of_an_archive_is_not_believed() {
    let (project, archive) = archived();
    let path = archive.with_extension("hashlog");
    let whole = project.text(&path);
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    for cut in [
        lines[..2].concat(),
        lines[..2].concat() + "{\"seq\":3",
        String::new(),
    ] {
        project.write(&path, cut);
        assert_eq!(summary(&project, "cal_2026_11_02_0003"), "summary 2");
        assert_eq!(faults(&project), [(VerifyFinding::TailCut, name.clone())]);
    }
    project.disk.remove_file(&path).unwrap();
    assert_eq!(summary(&project, "cal_2026_11_02_0003"), "summary 2");
}

/// A project with an older program's archives: one that is right, one that is damaged.
fn older() -> (Project, [std::path::PathBuf; 2]) {
    let (source, _) = Project::with_entries(3);
    let ledger: Value = serde_json::from_str(&source.text(&source.paths.ledger)).unwrap();
    let pretty = serde_json::to_string_pretty(&ledger).unwrap();
    let project = Project::empty();
    let path = |name: &str| project.paths.history.join(name);
    let archives = [
        path("cal_memory_20261030_120000.json"),
        path("cal_memory_20261031_120000.json"),
    ];
    project.disk.create_dir_all(&project.paths.history).unwrap();
    project.write(&archives[0], &pretty);
    project.write(&archives[1], pretty.replace("summary 1", "SUMMARY 1"));
    project.write(&project.paths.ledger, "{\"version\":\"1.2\",\"tasks\":[]}");
    let adopted = project.create().adopted.unwrap();
    assert_eq!((adopted.archives, adopted.entries), (1, 0));
    assert_eq!(adopted.passed_over, [archives[1].clone()]);
    (project, archives)
}

/// CAL-SCH-1, REQ-LED-005: when an older program's ledger is taken over, the journal records its
/// archives, and their ids are never used again.
#[test]
fn archives_without_a_journal_are_taken_over() {
    let (project, archives) = older();
    assert_eq!(summary(&project, "cal_2026_11_02_0002"), "summary 1");
    assert_eq!(project.reader().query(&Query::default()).unwrap().len(), 3);
    let damaged = archives[1]
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    assert_eq!(faults(&project), [(VerifyFinding::Inserted, damaged)]);
    project.disk.remove_file(&archives[1]).unwrap();
    assert_eq!(found(&project).archived_entries, 3);
    let ledger = project.open();
    let next = project.store(&ledger, "next");
    assert_eq!(next.task_id, id("cal_2026_11_02_0004"));
    ledger.rotate().unwrap();
    drop(ledger);
    assert_eq!(found(&project).problems, []);
    assert_eq!(summary(&project, "cal_2026_11_02_0002"), "summary 1");
    assert_eq!(summary(&project, "cal_2026_11_02_0004"), "next");
}

/// CAL-GOV-4: an adopted archive is compared with the record of its adoption.
#[test]
fn an_archive_that_was_taken_over_is_proven() {
    let (project, archives) = older();
    project.disk.remove_file(&archives[1]).unwrap();
    let name = |path: &std::path::Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let hashlog = archives[0].with_extension("hashlog");
    let lines = project.text(&hashlog);
    project.disk.remove_file(&hashlog).unwrap();
    assert_eq!(summary(&project, "cal_2026_11_02_0003"), "summary 2");
    assert_eq!(faults(&project), [(VerifyFinding::Missing, name(&hashlog))]);
    project
        .disk
        .remove_file(&project.paths.watermark())
        .unwrap();
    assert_eq!(project.open().repairs().len(), 1);
    assert_eq!(project.text(&hashlog), lines);

    let forged: Value = serde_json::from_str(&forged("cal_2026_11_02_0002")).unwrap();
    let mut ledger: Value = serde_json::from_str(&project.text(&archives[0])).unwrap();
    ledger["tasks"][1] = forged["tasks"][0].clone();
    project.write(&archives[0], serde_json::to_string_pretty(&ledger).unwrap());
    let error = project
        .reader()
        .find(&id("cal_2026_11_02_0002"))
        .unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::ChecksumMismatch), "{error}");
    assert_eq!(
        faults(&project),
        [(VerifyFinding::Edited, name(&archives[0]))]
    );
}

/// CAL-LED-2, CAL-SUM-2: the journal has only the hash of an adopted archive. If it is lost, the
/// error does not promise that the journal brings it back, and a copy of it is accepted again.
#[test]
fn an_archive_that_was_taken_over_and_is_lost_only_comes_back_from_a_copy() {
    let (project, archives) = older();
    project.disk.remove_file(&archives[1]).unwrap();
    let path = archives[0].clone();
    let copy = project.read(&path);
    project.disk.remove_file(&path).unwrap();
    let recover = || {
        let from = RecoverFrom::Audit;
        let options = RecoverOptions::default();
        Ledger::recover(&project.disk, &project.paths, &project.clock, from, options).unwrap()
    };
    let recovered = recover();
    assert_eq!(recovered.repairs, []);
    assert_eq!(recovered.not_in_journal, std::slice::from_ref(&path));
    let gone = GoneArchive {
        path: path.clone(),
        is_in_journal: false,
    };
    assert_eq!(project.reader().gone_archives().unwrap(), [gone]);
    let error = project.reader().find(&id("cal_2026_11_02_0002"));
    assert!(
        matches!(
            error,
            Err(ReadError::ArchiveGone {
                is_in_journal: false,
                ..
            })
        ),
        "{error:?}"
    );
    assert_eq!(found(&project).not_in_journal, std::slice::from_ref(&path));

    project.write(&path, copy);
    assert_eq!(found(&project).problems, []);
    assert!(found(&project).not_in_journal.is_empty());
    assert_eq!(summary(&project, "cal_2026_11_02_0002"), "summary 1");
}

/// CAL-SCH-2, CAL-GOV-4: an id that has an entry is never used again, regardless of the watermark,
/// and a watermark that disagrees with the journal is reported.
#[test]
fn a_forged_watermark_has_no_id_given_out_twice() {
    for forged in ["[\"2026-11-02\",1]", "null"] {
        let (project, _) = archived();
        let path = project.paths.watermark();
        let before = project.text(&path);
        let text = before.replace(
            "\"last_id\":[\"2026-11-02\",3]",
            &format!("\"last_id\":{forged}"),
        );
        assert_ne!(text, before);
        let (head, rest) = text.split_once("\"position\":").unwrap();
        let (position, _) = rest.rsplit_once(",\"hash\":").unwrap();
        let hash = Checksum::of(position.as_bytes());
        project.write(
            &path,
            format!("{head}\"position\":{position},\"hash\":\"{hash}\"}}\n"),
        );
        assert_eq!(
            faults(&project),
            [(VerifyFinding::Edited, "watermark".to_owned())]
        );
        let ledger = project.open();
        let next = project.store(&ledger, "next");
        assert_eq!(next.task_id, id("cal_2026_11_02_0005"), "{forged}");
    }
}

/// CAL-SCH-2, CAL-SUM-2: a journal that is begun from scratch records the archives, and continues
/// the ids.
#[test]
fn a_new_journal_tells_of_the_archives_that_are_there() {
    let (project, archive) = archived();
    let hashlog = project.text(&archive.with_extension("hashlog"));
    project.disk.remove_file(&project.journal()).unwrap();
    let from = RecoverFrom::LedgerAlone;
    let options = RecoverOptions::default();
    Ledger::recover(&project.disk, &project.paths, &project.clock, from, options).unwrap();
    assert_eq!(found(&project).problems, []);
    assert_eq!(found(&project).archived_entries, 3);
    assert_eq!(project.text(&archive.with_extension("hashlog")), hashlog);
    assert_eq!(summary(&project, "cal_2026_11_02_0002"), "summary 1");
    let ledger = project.open();
    assert_eq!(ledger.reserve(spawn()).unwrap(), id("cal_2026_11_02_0005"));
}

/// Change to one form of an archive that exists in both.
type Unlike = fn(&[u8]) -> Vec<u8>;

/// Cut short, of the same size and other words, empty, and other bytes altogether.
const UNLIKE: [Unlike; 4] = [
    |right| right[..right.len() / 2].to_vec(),
    |right| {
        String::from_utf8_lossy(right)
            .replace("summary 1", "SUMMARY 1")
            .into_bytes()
    },
    |_| Vec::new(),
    |_| b"not a ledger".to_vec(),
];

fn compressed(path: &std::path::Path) -> std::path::PathBuf {
    path.with_extension("json.gz")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, bytes).unwrap();
    encoder.finish().unwrap()
}

fn compress(project: &Project) -> usize {
    Ledger::compress_archives(&project.disk, &project.paths).unwrap()
}

/// Lists the contents of the quarantine.
fn quarantined(project: &Project) -> Vec<Vec<u8>> {
    let folder = &project.paths.quarantine;
    let found = project.disk.list_dir(folder).unwrap();
    let kept = found
        .iter()
        .map(|entry| project.read(&folder.join(&entry.name)));
    kept.collect()
}

/// Returns an archive whose entries the journal has, and an adopted one, for which it has only the
/// hash.
fn archives() -> [(Project, std::path::PathBuf); 2] {
    let (taken_over, [archive, damaged]) = older();
    taken_over.disk.remove_file(&damaged).unwrap();
    [archived(), (taken_over, archive)]
}

/// CAL-LED-1, CAL-SUM-2: if an archive exists plain and compressed, the one that the journal lists
/// stays, for every reader. The other goes to the quarantine and is reported.
#[test]
fn the_right_one_of_two_forms_of_an_archive_stays() {
    for unlike in UNLIKE {
        for (project, plain) in archives() {
            let right = project.read(&plain);
            assert_eq!(compress(&project), 1);
            let gz = compressed(&plain);
            let packed = project.read(&gz);
            project.write(&plain, unlike(&right));
            assert!(!found(&project).is_sound());
            assert!(found(&project).not_in_journal.is_empty());
            let repairs = project.open().repairs();
            assert_eq!(repairs.len(), 1, "{repairs:?}");
            assert_eq!(repairs[0].path, plain);
            assert!(repairs[0].kept.is_some());
            assert_eq!(project.read(&gz), packed);
            assert_eq!(quarantined(&project), [unlike(&right)]);
            assert_eq!(found(&project).problems, []);
            assert_eq!(summary(&project, "cal_2026_11_02_0002"), "summary 1");
            assert!(project.text(&project.journal()).contains("\"set_aside\""));

            project.write(&plain, unlike(&right));
            assert_eq!(compress(&project), 0);
            assert_eq!(project.read(&gz), packed);
            assert!(!project.disk.exists(&plain).unwrap());

            let forged = gzip(&unlike(&right));
            project.write(&plain, &right);
            project.write(&gz, &forged);
            assert!(!found(&project).is_sound());
            let repairs = project.open().repairs();
            assert_eq!(repairs[0].path, gz, "{repairs:?}");
            assert!(quarantined(&project).contains(&forged));
            assert_eq!(project.read(&plain), right);
            project.write(&gz, &forged);
            assert_eq!(compress(&project), 1);
            assert_eq!(project.read(&gz), packed);
            assert_eq!(found(&project).problems, []);
        }
    }
}

/// CAL-LED-1: where neither form is what the journal tells of, both stay and are named.
#[test]
fn two_forms_of_an_archive_of_which_none_is_right_stay() {
    let (project, plain) = archives().into_iter().nth(1).unwrap();
    let right = project.read(&plain);
    let gz = compressed(&plain);
    let wrong = [UNLIKE[1](&right), gzip(&UNLIKE[0](&right))];
    project.write(&plain, &wrong[0]);
    project.write(&gz, &wrong[1]);
    assert_eq!(project.open().repairs(), []);
    assert_eq!(compress(&project), 0);
    let name = |path: &std::path::Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let named = [
        (VerifyFinding::Edited, name(&plain)),
        (VerifyFinding::Edited, name(&gz)),
    ];
    assert_eq!(faults(&project), named);
    assert_eq!(found(&project).not_in_journal, std::slice::from_ref(&plain));
    let from = RecoverFrom::Audit;
    let options = RecoverOptions::default();
    let recover =
        || Ledger::recover(&project.disk, &project.paths, &project.clock, from, options).unwrap();
    assert_eq!(recover().not_in_journal, std::slice::from_ref(&plain));
    assert_eq!([project.read(&plain), project.read(&gz)], wrong);

    // The copy of it, under either name, is enough.
    project.write(&gz, gzip(&right));
    assert_eq!(recover().not_in_journal, Vec::<std::path::PathBuf>::new());
    assert_eq!(found(&project).problems, []);
    assert!(!project.disk.exists(&plain).unwrap());
    assert_eq!(quarantined(&project), [wrong[0].clone()]);
}

/// CAL-LED-1: what compressing leaves that is broken off, two files that are alike, is no fault.
#[test]
fn two_forms_of_an_archive_that_are_alike_are_one() {
    let (project, plain) = archived();
    let right = project.read(&plain);
    assert_eq!(compress(&project), 1);
    project.write(&plain, &right);
    assert_eq!(found(&project).problems, []);
    assert_eq!(project.open().repairs(), []);
    assert!(!project.disk.exists(&compressed(&plain)).unwrap());
    assert_eq!(project.read(&plain), right);
    assert_eq!(compress(&project), 1);
    assert_eq!(found(&project).problems, []);
}
