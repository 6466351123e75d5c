//! [`end_all_with`]: ends processes of an order that have lost their parents.
//!
//! For when a guard and its fork server were both ended or held up, so that no process adopts those
//! that the program started: then only their environment identifies them.

use std::ffi::OsStr;

/// Ends every process that was started with this variable in its environment, and those that they
/// start in between.
#[cfg(target_os = "linux")]
pub(super) fn end_all_with(name: &OsStr, value: &OsStr) {
    /// Rounds after which a program that starts processes as fast as they are ended is left alone.
    const MOST_TIMES: usize = 16;

    for _ in 0..MOST_TIMES {
        if end_those_there(name, value) == 0 {
            break;
        }
    }
}

#[cfg(target_os = "linux")]
fn end_those_there(name: &OsStr, value: &OsStr) -> usize {
    use std::{os::unix::ffi::OsStrExt, path::Path};

    use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

    use callosum_host::disk::Disk;

    let disk = Disk::real();
    let variable = [name.as_bytes(), b"=", value.as_bytes()].concat();
    // Where the system tells nothing of its processes, there is nothing to be found.
    let listed = disk.list_dir(Path::new("/proc")).unwrap_or_default();
    let pids = listed
        .iter()
        .filter_map(|entry| Pid::from_raw(entry.name.to_str()?.parse().ok()?));
    let mut ended = 0;
    for pid in pids.filter(|pid| *pid != getpid()) {
        // Opened before it is examined, so that the examined process is the one that is ended.
        let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
            continue;
        };
        let environment = Path::new("/proc").join(pid.to_string()).join("environ");
        let has_it = disk
            .read(&environment)
            .is_ok_and(|all| all.split(|byte| *byte == 0).any(|one| one == variable));
        if has_it && pidfd_send_signal(&process, Signal::KILL).is_ok() {
            ended += 1;
        }
    }
    ended
}

/// This system does not show what a process was started with.
#[cfg(not(target_os = "linux"))]
pub(super) fn end_all_with(_name: &OsStr, _value: &OsStr) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "a test starts processes to see them end"
    )]
    fn only_those_that_were_given_it_are_ended() {
        let given = tempfile::tempdir().unwrap();
        let asleep = |value: &OsStr| {
            std::process::Command::new("sleep")
                .arg("600")
                .env("A_FOLDER", value)
                .spawn()
                .unwrap()
        };
        let mut longer = given.path().as_os_str().to_owned();
        longer.push("x");
        let (mut meant, mut other) = (asleep(given.path().as_os_str()), asleep(&longer));
        end_all_with("A_FOLDER".as_ref(), given.path().as_os_str());
        assert_eq!(meant.wait().unwrap().signal(), Some(9));
        assert_eq!(other.try_wait().unwrap(), None);
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
