//! Leases on files.

use callosum_mesh::board::{BoardError, Command};

use crate::place::{Place, refused, voice};

/// CALC-FUT-1: a second agent that is about to edit a file gets the name of the one that works on
/// it.
#[test]
fn a_lease_keeps_others_out_until_it_ends() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let lease = |anyway| Command::Lease {
        path: "/project/a.rs".to_owned(),
        why: Some("renaming".to_owned()),
        anyway,
    };
    mesh.give(lease(false), &voice("claude")).unwrap();
    mesh.give(lease(false), &voice("claude")).unwrap();
    let held = refused(mesh.give(lease(false), &voice("codex")));
    assert!(
        held.to_string()
            .starts_with("claude-code works on /project/a.rs until "),
        "{held}"
    );
    assert!(held.to_string().ends_with(": \"renaming\""), "{held}");
    let first = mesh.board().unwrap().leases[0].token;
    mesh.give(lease(true), &voice("codex")).unwrap();
    let board = mesh.board().unwrap();
    assert_eq!(board.leases.len(), 1);
    assert!(board.leases[0].token > first);
    let end = board.leases[0].until;
    let claude = "claude-code".parse().unwrap();
    assert!(board.holder("/project/a.rs", &claude, None, end).is_none());
    let relative = Command::Lease {
        path: "a.rs".to_owned(),
        why: None,
        anyway: false,
    };
    assert!(matches!(
        refused(mesh.give(relative, &voice("codex"))),
        BoardError::NoPath { .. }
    ));
}

/// CALC-FUT-1: a lease on a folder would hold no file in it, and is refused.
#[test]
fn a_folder_is_not_leased() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let order = Command::Lease {
        path: "/".to_owned(),
        why: None,
        anyway: false,
    };
    let refusal = refused(mesh.give(order, &voice("codex")));
    assert_eq!(
        refusal,
        BoardError::Folder {
            path: "/".to_owned()
        }
    );
}
