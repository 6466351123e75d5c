//! `callosum mesh subscribe`: events from now on, or from a saved position, with or without a
//! daemon.

use std::time::Duration;

use callosum_mesh::journal::Notice;
use callosum_redact::terminal_escape::on_one_line;
use serde_json::Value;

use crate::mesh::subscription::SubscriptionError;
use crate::{CommandError, Exit};

/// The first pause between two tries to reach the daemon; each that follows doubles it.
pub const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// The longest of them.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The pause between two looks at the files.
pub const LOOK: Duration = Duration::from_millis(50);

/// Events that are read at once.
pub const BATCH: usize = 64;

/// Interval at which the state is saved while new events keep coming.
pub const KEEP: Duration = Duration::from_millis(100);

/// Lines that are read ahead.
pub const LINES: usize = 64;

/// Returns the notice about missing events that the daemon sent. Its message that it can send
/// nothing more is the last one before it goes, and has no notice.
pub fn notice(kind: &str, data: &Value) -> Option<Notice> {
    let text = |key: &str| data[key].as_str().unwrap_or_default().to_owned();
    let count = data["count"].as_u64().unwrap_or_default();
    match kind {
        "reset" => Some(Notice::Reset {
            origin: text("origin"),
        }),
        "dropped" => Some(Notice::Dropped { count }),
        "damaged" => Some(Notice::Damaged {
            count,
            path: text("path").into(),
        }),
        _ => None,
    }
}

/// Whether an event was taken.
pub enum Acceptance {
    /// It is complete.
    Yes,
    /// It never will be, for this reason.
    Never(String),
    /// More follows.
    Later,
}

/// Explains why the state of a subscription cannot be used.
pub fn state_failed(error: &SubscriptionError) -> CommandError {
    let failure = CommandError::because(Exit::Environment, "cannot use the state file", error);
    match error {
        SubscriptionError::Form { path, .. } | SubscriptionError::Newer { path, .. } => {
            let path = on_one_line(&path.display().to_string());
            failure.hint(format!("mv {path} {path}.other"))
        }
        SubscriptionError::Taken(path) => {
            let path = on_one_line(&path.display().to_string());
            failure.hint(format!("callosum mesh subscribe --state {path}.2"))
        }
        SubscriptionError::Disk(error) => {
            let folder = error.path.parent().unwrap_or(&error.path);
            let folder = on_one_line(&folder.display().to_string());
            let way = if error.is_absent() {
                "mkdir -p"
            } else {
                "ls -ld"
            };
            failure.hint(format!("{way} {folder}"))
        }
    }
}
