//! Ctrl-C: asks everything that runs to end, and lets the command finish its own way.

use std::thread;

use callosum_app::{CommandError, Exit};
use callosum_host::process::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// A request to stop that is made by the first Ctrl-C, hang-up or polite kill.
pub(super) fn watch() -> Result<Cancel, CommandError> {
    let failed = |error: std::io::Error| {
        CommandError::because(Exit::Environment, "cannot watch for Ctrl-C", &error)
    };
    let cancel = Cancel::new().map_err(failed)?;
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?;
    let asked = cancel.clone();
    thread::Builder::new()
        .spawn(move || {
            for _ in signals.forever() {
                asked.cancel();
            }
        })
        .map_err(failed)?;
    Ok(cancel)
}
