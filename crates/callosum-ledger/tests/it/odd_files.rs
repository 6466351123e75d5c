//! Ledgers of other versions, and files that a person removed: opening damages nothing.

use callosum_host::Disk;
use callosum_ledger::{
    CreateError, Ledger, OpenError, ReadError, Reader, RepairKind,
    checkpoint::{Begin, TrustStore},
    verify,
    verify::VerifyError,
};

use crate::project::Project;

/// Reading of a `version`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Taken {
    Newer,
    NoVersion,
}

fn of_open(error: &OpenError) -> Option<Taken> {
    match error {
        OpenError::Newer { .. } => Some(Taken::Newer),
        OpenError::NotALedger { .. } => Some(Taken::NoVersion),
        _ => None,
    }
}

/// CAL-SCH-1: for any version, a ledger that is not ours is neither written nor set
/// aside, with a watermark or without, and verification agrees.
#[test]
fn a_ledger_of_a_later_version_or_of_none_is_refused_and_stays_as_it_is() {
    let (project, _) = Project::with_entries(2);
    let right = project.text(&project.paths.ledger);
    for (version, expected) in [
        ("\"1.3\"", Taken::Newer),
        ("\"2\"", Taken::Newer),
        ("\"2.0\"", Taken::Newer),
        ("\"99999999999.0\"", Taken::Newer),
        ("2", Taken::NoVersion),
        ("1.2", Taken::NoVersion),
        ("\"abc\"", Taken::NoVersion),
        ("\"1.2.3\"", Taken::NoVersion),
        ("null", Taken::NoVersion),
        ("{\"major\":2}", Taken::NoVersion),
    ] {
        let odd = right.replace("\"1.2\"", version);
        // A later version may have other fields than `tasks`.
        let other_fields = odd.replace("\"tasks\"", "\"entries\"");
        for text in [&odd, &other_fields] {
            project.write(&project.paths.ledger, text);
            for with_watermark in [true, false] {
                if !with_watermark {
                    project
                        .disk
                        .remove_file(&project.paths.watermark())
                        .unwrap();
                }
                let error = project.try_open().unwrap_err();
                assert_eq!(of_open(&error), Some(expected), "{version}: {error}");
                let created = Ledger::create(&project.disk, &project.paths, &project.clock);
                let Err(CreateError::Open(error)) = created else {
                    panic!("{version}: {created:?}");
                };
                assert_eq!(of_open(&error), Some(expected), "{version}: {error}");
                let Err(VerifyError::Version(error)) = verify(&project.disk, &project.paths) else {
                    panic!("{version} was verified");
                };
                assert_eq!(of_open(&error), Some(expected), "{version}: {error}");
            }
            assert_eq!(&project.text(&project.paths.ledger), text);
            assert!(!project.disk.exists(&project.paths.quarantine).unwrap());
        }
        project.write(&project.paths.ledger, &right);
        assert_eq!(project.open().repairs(), []);
    }
}

/// CAL-SCH-1: the reason names the key, its value and the allowed values.
#[test]
fn a_version_that_is_none_is_named_with_what_is_allowed() {
    let (project, _) = Project::with_entries(1);
    let odd = project
        .text(&project.paths.ledger)
        .replace("\"1.2\"", "\"abc\"");
    project.write(&project.paths.ledger, odd);
    let error = project.try_open().unwrap_err();
    assert!(error.to_string().contains(".cal_memory.json"), "{error}");
    let OpenError::NotALedger { source, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(
        source.to_string(),
        "not a ledger: `version` is `\"abc\"`, but must be text such as `\"1.2\"`"
    );
}

/// CAL-GOV-1: JSON that is whole and not a ledger counts as tampering; a file that is not JSON
/// counts as crash damage.
#[test]
fn json_that_is_no_ledger_is_refused_and_other_bytes_are_rebuilt() {
    let (project, _) = Project::with_entries(1);
    let right = project.text(&project.paths.ledger);
    for whole in ["{}", "[]", "null", "7", "{\"version\":\"1.2\"}"] {
        project.write(&project.paths.ledger, whole);
        let error = project.try_open().unwrap_err();
        assert!(matches!(error, OpenError::NotALedger { .. }), "{whole}");
        assert_eq!(project.text(&project.paths.ledger), whole);
    }
    for torn in ["", "{\"version\":", "\0\0\0"] {
        project.write(&project.paths.ledger, torn);
        assert_eq!(project.open().repairs()[0].what, RepairKind::Rewritten);
        assert_eq!(project.text(&project.paths.ledger), right);
    }
}

/// CAL-GOV-1: a ledger whose journal was removed is not taken over as if it had never had one.
#[test]
fn a_removed_journal_is_named_and_no_new_one_is_begun() {
    let (project, _) = Project::with_entries(2);
    let views = project.views();
    for with_folder in [true, false] {
        project.disk.remove_file(&project.journal()).ok();
        if !with_folder {
            project.disk.remove_dir(&project.paths.audit).unwrap();
        }
        let error = project.try_open().unwrap_err();
        assert!(matches!(error, OpenError::JournalGone { .. }), "{error}");
        let created = Ledger::create(&project.disk, &project.paths, &project.clock);
        assert!(
            matches!(
                created,
                Err(CreateError::Open(OpenError::JournalGone { .. }))
            ),
            "{created:?}"
        );
        assert_eq!(project.disk.list_dir(&project.paths.audit).unwrap(), []);
        assert_eq!(project.views(), views);
    }
    // Without the hashlog it is the ledger of another program, or meant to be taken for one.
    project.disk.remove_file(&project.paths.hashlog).unwrap();
    assert_eq!(project.create().adopted.unwrap().entries, 2);
}

/// CAL-GOV-1: nor where the entries are in an archive, and the ledger has none yet.
#[test]
fn a_journal_that_is_removed_after_a_rotation_is_named() {
    let (project, _) = Project::with_entries(2);
    project.open().rotate().unwrap().unwrap();
    project.disk.remove_file(&project.journal()).unwrap();
    let error = project.try_open().unwrap_err();
    assert!(matches!(error, OpenError::JournalGone { .. }), "{error}");
    let created = Ledger::create(&project.disk, &project.paths, &project.clock).unwrap_err();
    assert!(
        matches!(created, CreateError::Open(OpenError::JournalGone { .. })),
        "{created}"
    );
}

/// CAL-GOV-2: a removed ledger file does not read as an empty ledger, and opening rebuilds it.
#[test]
fn a_removed_ledger_file_is_reported_to_readers_and_rebuilt_by_opening() {
    let (project, ids) = Project::with_entries(2);
    let views = project.views();
    project.disk.remove_file(&project.paths.ledger).unwrap();
    let error = Reader::open(Disk::real(), project.paths.clone()).unwrap_err();
    assert!(matches!(error, ReadError::LedgerGone { .. }), "{error}");
    assert_eq!(project.open().repairs()[0].what, RepairKind::Rewritten);
    assert_eq!(project.views(), views);
    assert!(project.reader().find(&ids[0]).unwrap().is_some());
}

/// CAL-GOV-4: a journal that is shorter than its signed part is not written to, until a person
/// confirms it.
#[test]
fn a_journal_that_was_put_back_to_an_earlier_state_is_not_opened() {
    let (mut project, _) = Project::with_entries(1);
    let home = tempfile::tempdir().unwrap();
    let witness = TrustStore::in_home(home.path(), &project.paths.root);
    let sign = |project: &Project, begin| {
        let made = witness.make(&project.disk, &project.paths, begin, &[7; 32]);
        made.unwrap();
    };
    let (disk, paths) = (project.disk.clone(), project.paths.clone());
    let signed = || witness.signed_records(&disk, &paths).unwrap();
    assert_eq!(signed(), 0);
    let (views, journal) = (project.views(), project.read(&project.journal()));
    project.store(&project.open(), "signed, and taken away");
    sign(&project, Begin::GoOn);
    project.options.signed = signed();
    assert_eq!(project.open().repairs(), []);
    project.write(&project.paths.ledger, &views.0);
    project.write(&project.paths.hashlog, &views.1);
    project.write(&project.journal(), &journal);
    project.options.signed = signed();
    let refused = project.try_open().unwrap_err();
    assert!(
        matches!(
            refused,
            OpenError::Cut {
                records: 3,
                signed: 5,
                ..
            }
        ),
        "{refused}"
    );
    assert_eq!(project.read(&project.journal()), journal);
    sign(&project, Begin::Anew);
    project.options.signed = signed();
    project.store(&project.open(), "goes on");
}
