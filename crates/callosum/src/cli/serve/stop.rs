//! Arguments and output of `callosum serve stop`.
//!
//! The use case is [`callosum_app::serve::stop`].

use std::thread;
use std::time::Instant;

use callosum_app::serve::stop::{PATIENCE, PAUSE};
use callosum_app::{CommandError, Exit, disk_errors};
use callosum_daemon::Instance;

use super::{Ground, asked, silent};

pub(super) fn run(ground: &Ground) -> Result<(), CommandError> {
    let folder = ground.folder();
    let Ok(answer) = asked(ground, "POST", "/stop") else {
        if let Some(silent) = silent(ground)? {
            return Err(silent.explained());
        }
        if ground.ui.json {
            return Err(CommandError::new(Exit::No, "no daemon is running").hint("callosum serve"));
        }
        ground.ui.say("no daemon is running");
        return Err(CommandError::told(Exit::No));
    };
    let pid = answer["serving"]["pid"].as_u64().unwrap_or_default();
    let began = Instant::now();
    // It is over when its lock is free.
    loop {
        let ended = Instance::begin(&ground.disk, &folder);
        if ended
            .map_err(|error| disk_errors::disk_failed(&error))?
            .is_some()
        {
            ground.ui.say(&format!("stopped the daemon (pid {pid})"));
            return Ok(());
        }
        if began.elapsed() >= PATIENCE {
            let what = format!("the daemon did not stop when asked (pid {pid})");
            return Err(CommandError::new(Exit::Environment, what).hint(format!("kill {pid}")));
        }
        thread::sleep(PAUSE);
    }
}
