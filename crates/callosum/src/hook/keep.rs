//! A snapshot of the tree, taken while a person is being asked.
//!
//! What they may allow cannot be undone otherwise. The hook does not wait for it: a child of our
//! own takes it, and has more time than anybody needs to read a question.

use callosum_guard::Decision;
use callosum_host::process::{Launch, Limits, leave};

use super::{event::Action, judge::Judged, place::Place};

/// Most characters of a command that name its snapshot.
const LONGEST: usize = 60;

/// Has a snapshot taken, where a person is asked about a command in a repository.
///
/// Where it cannot be, the question stands all the same.
pub(super) fn begin(action: &Action, judged: &Judged, place: &Place) {
    let is_asked = judged.verdict.decision == Decision::Ask;
    let (Some(root), true) = (&place.facts.root, is_asked && place.facts.git_dir.is_some()) else {
        return;
    };
    let about = match action {
        Action::Shell(command) => super::record::masked(command),
        Action::Write(paths) => paths.join(" "),
        Action::Other => return,
    };
    let words: String = about.split_whitespace().collect::<Vec<_>>().join(" ");
    let label: String = words.chars().take(LONGEST).collect();
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let arguments = [
        "-C",
        root,
        "--no-progress",
        "snapshot",
        "create",
        "--",
        &format!("before: {label}"),
    ];
    let variables = place.environment.iter();
    let launch = Launch {
        program,
        arguments: arguments.map(Into::into).into(),
        folder: root.into(),
        environment: variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        input: Vec::new(),
        limits: Limits {
            quiet: None,
            total: None,
            output_bytes: 0,
            error_bytes: 0,
        },
    };
    drop(leave(&launch));
}
