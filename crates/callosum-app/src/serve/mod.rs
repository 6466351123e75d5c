//! `callosum serve`: the daemon, and who asks after it.

pub mod detached;
pub mod status;
pub mod stop;

pub use self::status::ServeStatusOutput;

use std::fmt::Write as _;
use std::time::Duration;

use callosum_daemon::{ServeError, Serving, Unserved};

use crate::{CommandError, Exit};

/// Hint if all addresses are taken.
const ELSEWHERE: &str = "callosum serve --events 127.0.0.1:0 --bus 127.0.0.1:0 --metrics off";

/// Time to wait for a daemon whose folder may just have been removed.
pub const MENDING: Duration = Duration::from_secs(1);

/// Time that a killed daemon may hold its lock: it is released with the last thread.
pub const LETS_GO: Duration = Duration::from_millis(500);

/// A daemon that does not answer.
pub struct Silent {
    /// Its process, if it reported one.
    pub pid: Option<u32>,
}

impl Silent {
    /// Explains the failure.
    pub fn explained(&self) -> CommandError {
        let who = self.pid.map(|pid| format!(" (pid {pid})"));
        let what = format!(
            "a daemon is running but does not answer{}",
            who.unwrap_or_default()
        );
        let error = CommandError::new(Exit::Environment, what);
        match self.pid {
            Some(pid) => error.hint(format!("kill -9 {pid}")),
            None => error.hint("callosum doctor"),
        }
    }
}

/// The command by which a daemon that serves the rest comes to serve this as well.
pub fn elsewhere(what: &str) -> String {
    format!("callosum serve stop && callosum serve --detach --{what} 127.0.0.1:0")
}

/// Returns the lines about what is served.
pub fn lines(serving: &Serving) -> String {
    let mut lines = format!("serving as pid {}, log {}\n", serving.pid, serving.origin);
    let places = [
        ("events", &serving.events, "http://", "/events"),
        ("bus", &serving.bus, "ws://", ""),
        ("metrics", &serving.metrics, "http://", "/metrics"),
        ("page", &serving.page, "http://", "/"),
        ("memory", &serving.memory, "http://", "/query"),
    ];
    for (what, address, before, after) in places {
        let is_unserved = serving.unserved.iter().any(|one| one.what == what);
        // Off unless the person asks for it.
        if what == "memory" && address.is_none() && !is_unserved {
            continue;
        }
        let place = match address {
            Some(address) => format!("{before}{address}{after}"),
            None => match serving.unserved.iter().find(|one| one.what == what) {
                Some(Unserved {
                    address, reason, ..
                }) => {
                    format!("not at {address}: when the daemon started: {reason}")
                }
                None => "-".to_owned(),
            },
        };
        let _ = writeln!(lines, "{what:<8} {place}");
    }
    lines
}

/// Explains why the daemon cannot serve.
pub fn failed(error: &ServeError) -> CommandError {
    let failed = CommandError::from_error(Exit::Environment, error);
    match error {
        ServeError::Nothing(_) => failed.hint(ELSEWHERE),
        _ => failed,
    }
}
