//! `callosum snapshot diff` and `callosum snapshot restore`: what going back would change, and going back.
//!
//! What is changed is shown first, and a person is asked where there is one.

use std::fmt::Write as _;

use callosum_redact::terminal_escape::on_one_line;
use callosum_snapshot::Changes;

use crate::context::Context;
use crate::{CommandError, Exit, many};

/// Names what was not put back, which is a no.
pub fn refused(context: &Context, changes: &Changes) -> Result<(), CommandError> {
    let mut refused = changes.refused().peekable();
    if refused.peek().is_none() {
        return Ok(());
    }
    for change in refused {
        let what = format!(
            "`{}` was not restored: its current content is in no snapshot",
            change.path.display()
        );
        context
            .report
            .warn(&what, Some("move it away, then restore again"));
    }
    Err(CommandError::told(Exit::No))
}

/// Returns a description of the changes.
pub fn done(changes: &Changes) -> String {
    let written = many(changes.written().count() as u64, "file");
    match changes.removed().count() as u64 {
        0 => format!("restored {written}"),
        removed => format!("restored {written}, removed {removed} that restoring had created"),
    }
}

/// Returns the changes as text.
pub fn as_text(changes: &Changes) -> String {
    let mut text = String::new();
    for change in &changes.0 {
        let path = on_one_line(&change.path.to_string_lossy());
        let _ = writeln!(text, "{:8} {path}", change.kind.as_str());
    }
    if text.is_empty() {
        text.push_str("all files match the snapshot\n");
    }
    text
}
