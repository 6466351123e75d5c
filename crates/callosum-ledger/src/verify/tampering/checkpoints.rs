//! Tampering with the checkpoints, and with the key that signed them.

use super::*;
use crate::signed_note::{SignedNote, SigningKey};

/// Changes the checkpoints and returns the finding for their file.
fn checkpoints(change: impl FnOnce(&mut Vec<String>)) -> Option<(VerifyFinding, u64)> {
    let project = Project::new();
    let mut notes = project.notes();
    assert_eq!(notes.len(), ENTRIES);
    change(&mut notes);
    project.write_notes(&notes);
    project.found(&project.witness.path())
}

/// CAL-GOV-4: a checkpoint that the journal records and that is not kept.
#[test]
fn a_missing_checkpoint_is_named() {
    for at in [0, ENTRIES / 2, ENTRIES - 1] {
        let found = checkpoints(|notes| drop(notes.remove(at)));
        let expected = Some((VerifyFinding::CheckpointMissing, number(at)));
        assert_eq!(found, expected, "without {at}");
    }
    let missing = Some((VerifyFinding::CheckpointMissing, 0));
    assert_eq!(checkpoints(Vec::clear), missing);
    let project = Project::new();
    project.disk.remove_file(&project.witness.path()).unwrap();
    assert_eq!(project.found(&project.witness.path()), missing);
}

/// CAL-GOV-4: a checkpoint that another key signed, one that was changed, and one that is invalid.
#[test]
fn a_checkpoint_that_is_not_ours_is_named() {
    let key = |name: &str| SigningKey::from_seed(name, &[9; 32]).unwrap();
    for at in [0, ENTRIES / 2, ENTRIES - 1] {
        let found = checkpoints(|notes| {
            let note = SignedNote::parse(&notes[at]).unwrap();
            let text = note.text().to_owned();
            let name = note.signatures()[0].name.clone();
            let signature = key(&name).sign(&text);
            notes[at] = SignedNote::new(text, vec![signature]).unwrap().to_string();
        });
        assert_eq!(
            found,
            Some((VerifyFinding::OtherKey, number(at))),
            "signed {at}"
        );
        let found = checkpoints(|notes| {
            let mut lines: Vec<_> = notes[at].lines().map(str::to_owned).collect();
            lines[1] = "1".to_owned();
            notes[at] = lines.join("\n") + "\n";
        });
        assert_eq!(
            found,
            Some((VerifyFinding::Edited, number(at))),
            "changed {at}"
        );
        let found = checkpoints(|notes| notes[at] = notes[at].replace('\u{2014}', "-"));
        assert_eq!(
            found,
            Some((VerifyFinding::Unreadable, number(at))),
            "damaged {at}"
        );
    }
    for at in [0, ENTRIES / 2, ENTRIES - 2] {
        let found = checkpoints(|notes| notes.swap(at, at + 1));
        assert_eq!(
            found,
            Some((VerifyFinding::Reordered, number(at + 1))),
            "moved {at}"
        );
        let found = checkpoints(|notes| notes.insert(at, notes[at].clone()));
        assert_eq!(
            found,
            Some((VerifyFinding::Duplicated, number(at + 1))),
            "doubled {at}"
        );
    }
}

/// CAL-GOV-4: without its key, all signatures count as another's; the key identifies the signer.
#[test]
fn a_lost_key_is_named() {
    let project = Project::new();
    let key = project.folder.path().join("home/keys/ledger-ed25519");
    project.disk.remove_file(&key).unwrap();
    let public = key.with_extension("pub");
    project.disk.remove_file(&public).unwrap();
    let found = project.found(&project.witness.path());
    assert_eq!(found, Some((VerifyFinding::OtherKey, 1)));
}

/// CAL-GOV-4: a checkpoint of another project, which the same key signed; the journal, which is not
/// the one that it is of, is not accused.
#[test]
fn a_checkpoint_of_another_log_is_named() {
    for at in [0, ENTRIES / 2, ENTRIES - 1] {
        let project = Project::new();
        let others = project.sibling().notes();
        let mut notes = project.notes();
        notes[at].clone_from(&others[at]);
        project.write_notes(&notes);
        let found = project.verify().problems;
        let [problem] = &found[..] else {
            panic!("{at}: {found:?}");
        };
        let found = (problem.fault, problem.number);
        assert_eq!(
            found,
            (VerifyFinding::Spliced, number(at)),
            "instead of {at}"
        );
        assert_eq!(problem.path, project.witness.path());

        let mut notes = project.notes();
        notes.insert(at, others[at].clone());
        project.write_notes(&notes);
        let found = project.found(&project.witness.path());
        assert_eq!(
            found,
            Some((VerifyFinding::Spliced, number(at))),
            "before {at}"
        );
    }
}
