//! [`end_with_parent`]: a child's own wish to end with the process that started it.

use std::io;

/// Asks the system to kill this process as soon as the thread that started it ends, even if that
/// was killed and could end no child.
///
/// Does nothing on a system without this feature (macOS), and comes too late if the parent has
/// ended before.
#[cfg(target_os = "linux")]
pub fn end_with_parent() -> io::Result<()> {
    use rustix::process::{Signal, set_parent_process_death_signal};

    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// See above; this system knows no such wish.
#[cfg(not(target_os = "linux"))]
pub fn end_with_parent() -> io::Result<()> {
    Ok(())
}
