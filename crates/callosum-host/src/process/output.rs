//! Whether what this process prints goes anywhere.

use rustix::fs::{FileType, fstat, stat};

/// Whether standard output is closed or discarded.
///
/// A process that is started with it closed finds `/dev/null` in its place: writing succeeds, but
/// has no reader.
pub fn output_is_thrown_away() -> bool {
    let (Ok(output), Ok(nowhere)) = (fstat(rustix::stdio::stdout()), stat("/dev/null")) else {
        return true;
    };
    let is_device = FileType::from_raw_mode(output.st_mode) == FileType::CharacterDevice;
    is_device && output.st_rdev == nowhere.st_rdev
}
