//! [`until_in_vain`]: has a client heard out until it ends, or goes on in vain.
//!
//! Codex waits for a network for as long as there is none, and asks a server again that refuses its login. Each time it
//! says so, which is a sign of life, so no quiet time would end it. opencode asks its model on and on where each answer
//! breaks off.

use std::{io, thread};

use callosum_host::process::Cancel;

use crate::runner::{ExecutionEnvironment, RunError};

/// How often a client may say in a row that it does not reach its server, before it is ended.
pub(super) const OFTEN: u32 = 4;

/// Runs something within surroundings whose cancellation is the one that it is handed as well: whoever hears that a
/// client goes on in vain ends it by that. A cancellation of the given ones is passed on.
///
/// Fails if the system gives no thread for it: a client that no one can end must not be started.
pub(super) fn until_in_vain<T>(
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
            // Where nobody can wait for it, the deadlines hold all the same.
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
