//! Texts about a conflict for its two agents, and the prompt of the task that one of them gets.

use std::path::Path;

use callosum_mesh::{
    conflict::{Conflict, ConflictSide},
    quoted,
};

/// The path of a file for a text: from the top of its work tree, if it is in one.
pub(super) fn shown_path(conflict: &Conflict) -> String {
    let path = Path::new(&conflict.path);
    let tree = conflict.tree.as_deref().map(Path::new);
    let inner = tree.and_then(|tree| path.strip_prefix(tree).ok());
    quoted(&inner.unwrap_or(path).to_string_lossy())
}

/// Returns the text for the agent that has just edited the file. `hunks` show the other agent's change; empty if they are not
/// known. `is_lost` says whether the edit dropped that change.
pub(super) fn for_editor(
    conflict: &Conflict,
    editor: ConflictSide,
    hunks: &str,
    is_lost: Option<bool>,
) -> String {
    let (other, path) = (conflict.name(editor.other()), shown_path(conflict));
    let head = match &conflict.first_path {
        Some(elsewhere) => format!(
            "{other} edits the same file in another work tree, {}. Both changes meet when the branches are merged. ",
            quoted(elsewhere)
        ),
        None => format!("{other} edits {path} too. "),
    };
    format!(
        "{head}{}{}",
        change_of(&other, hunks),
        advice(conflict, editor, is_lost)
    )
}

/// Returns the text for the agent that edited the file before. `hunks` show what the editor changed; empty if they are not
/// known. `is_lost` says whether the edit dropped this agent's change.
pub(super) fn for_other(
    conflict: &Conflict,
    editor: ConflictSide,
    hunks: &str,
    is_lost: Option<bool>,
) -> String {
    let (name, path) = (conflict.name(editor), shown_path(conflict));
    let head = if conflict.first_path.is_some() {
        format!("{name} edited {path} in another work tree; you edit that file too. ")
    } else {
        format!("{name} edited {path}, which you edit too. ")
    };
    format!(
        "{head}{}{}",
        change_of(&name, hunks),
        advice(conflict, editor.other(), is_lost)
    )
}

fn change_of(name: &str, hunks: &str) -> String {
    if hunks.is_empty() {
        format!("The change of {name} was not recorded: read the file again.\n")
    } else {
        format!("The change of {name}:\n{hunks}")
    }
}

fn advice(conflict: &Conflict, reader: ConflictSide, is_lost: Option<bool>) -> String {
    let id = &conflict.id;
    let owner = conflict.proposal.owner;
    let owner = if owner == reader {
        "you are".to_owned()
    } else {
        format!("{} is", conflict.name(owner))
    };
    let lost = match is_lost {
        Some(true) => {
            "The last edit started from an older version of the file, so a change is missing from it. "
        }
        _ => "",
    };
    format!(
        "Conflict {id}: {owner} the proposed owner ({}). {lost}Both versions are kept: `callosum mesh conflicts show {id}`. \
         When the file has both changes: `callosum mesh conflicts resolve {id}`.\n",
        conflict.proposal.reason
    )
}

/// Returns the prompt of the task for the side that is not the proposed owner.
pub(super) fn task(conflict: &Conflict) -> String {
    let owner = conflict.proposal.owner;
    let (id, path) = (&conflict.id, shown_path(conflict));
    format!(
        "{} and {} edited {path} at the same time. {} is the proposed owner ({}). Read both versions with \
         `callosum mesh conflicts show {id}`, make sure that the file has what you need of your change, and then run \
         `callosum mesh conflicts resolve {id}`.",
        conflict.name(ConflictSide::First),
        conflict.name(ConflictSide::Second),
        conflict.name(owner),
        conflict.proposal.reason
    )
}
