//! Survives a limit on the size of files.

use std::{
    io,
    sync::{Arc, atomic::AtomicBool},
};

use signal_hook::consts::SIGXFSZ;

/// Has a write past the limit on the size of files (`ulimit -f`) fail with an error.
///
/// By default the kernel ends the process with `SIGXFSZ`, before it can answer or report anything. The signal is handled
/// and not ignored, so that programs which this process starts keep the default.
pub fn survive_file_size_limit() -> io::Result<()> {
    let is_reached = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGXFSZ, is_reached).map(drop)
}
