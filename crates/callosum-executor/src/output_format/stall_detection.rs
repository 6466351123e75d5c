//! [`until_stalled`]: runs a client until it ends, or until it makes no progress.
//!
//! Codex waits for a network as long as there is none, and retries a server that refuses its login.
//! Each time it prints a message, which is a sign of life, so no quiet time would end it. opencode
//! asks its model on and on if each answer breaks off.

use std::{io, thread};

use callosum_host::process::Cancel;

use crate::runner::{ExecutionEnvironment, RunError};

/// Most messages in a row that a client does not reach its server, before it is ended.
pub(super) const OFTEN: u32 = 4;

/// Runs something in surroundings with a cancellation of its own, which it also gets as an
/// argument, to end a client that makes no progress. A cancellation of the given surroundings is
/// passed on.
///
/// Fails if the system gives no thread for it: a client that no one can end must not be started.
pub(super) fn until_stalled<T>(
    surroundings: &ExecutionEnvironment,
    no_thread: impl FnOnce(io::Error) -> RunError,
    run: impl FnOnce(&ExecutionEnvironment, Cancel) -> Result<T, RunError>,
) -> Result<T, RunError> {
    let (Ok(end), Ok(over)) = (Cancel::new(), Cancel::new()) else {
        return run(surroundings, surroundings.cancel.clone());
    };
    let held = ExecutionEnvironment {
        cancel: end.clone(),
        ..surroundings.clone()
    };
    thread::scope(|scope| {
        let (end, over, asked) = (&end, &over, &surroundings.cancel);
        let watching = thread::Builder::new().spawn_scoped(scope, move || {
            // If this wait fails, the deadlines still apply.
            if asked.wait_here_or(over).is_ok() && asked.is_cancelled() {
                end.cancel();
            }
        });
        if let Err(error) = watching {
            return Err(no_thread(error));
        }
        let ran = run(&held, end.clone());
        over.cancel();
        ran
    })
}
