//! [`Signals`]: what is sent to this process during a run, as values; after the run, signals do what they did before.

use std::{
    io,
    os::{fd::AsFd, fd::BorrowedFd, unix::net::UnixStream},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::process::Signal;
use signal_hook::{
    flag::register_conditional_default,
    iterator::{backend::SignalDelivery, exfiltrator::WithRawSiginfo},
};

use crate::caller::Mode;

/// Signals that a run passes on to the program. Each would end this process and leave the terminal raw.
const PASSED_ON: [Signal; 6] = [
    Signal::TERM,
    Signal::INT,
    Signal::HUP,
    Signal::QUIT,
    Signal::USR1,
    Signal::USR2,
];

/// Signals about a terminal that this process has between the caller and the program.
const OF_TERMINAL: [Signal; 3] = [Signal::WINCH, Signal::TSTP, Signal::CONT];

/// One signal that was sent to this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignalNotice {
    pub(crate) signal: Signal,
    /// The terminal sent it, to the whole foreground group.
    pub(crate) is_from_keyboard: bool,
}

impl SignalNotice {
    /// Returns whether it asks this process to end.
    pub(crate) fn is_request_to_end(self) -> bool {
        let requests = [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT];
        requests.contains(&self.signal)
    }

    /// Returns whether it is one to pass on to the program.
    pub(crate) fn is_passed_on(self) -> bool {
        PASSED_ON.contains(&self.signal)
    }
}

/// The signals of this process, while a run holds them.
#[derive(Debug)]
pub(crate) struct Signals {
    delivery: SignalDelivery<UnixStream, WithRawSiginfo>,
    is_idle: Arc<AtomicBool>,
}

impl Signals {
    /// Takes the signals that a run in `mode` needs. What this process ignores (`nohup`), it ignores on, and so does the
    /// program.
    pub(crate) fn take(mode: Mode) -> io::Result<Self> {
        let ignored = ignored_signals();
        let is_heeded = |signal: &Signal| ignored & (1 << (signal.as_raw() - 1)) == 0;
        let mut numbers = vec![Signal::CHILD.as_raw()];
        numbers.extend(
            PASSED_ON
                .iter()
                .filter(|signal| is_heeded(signal))
                .map(|signal| signal.as_raw()),
        );
        if mode == Mode::Pty {
            numbers.extend(
                OF_TERMINAL
                    .iter()
                    .filter(|signal| is_heeded(signal))
                    .map(|signal| signal.as_raw()),
            );
        }
        let is_idle = default_when_idle(&numbers)?;
        is_idle.store(false, Ordering::SeqCst);
        let (read_end, write_end) = UnixStream::pair()?;
        let delivery = SignalDelivery::with_pipe(read_end, write_end, WithRawSiginfo, &numbers)?;
        Ok(Self { delivery, is_idle })
    }

    /// Returns what was sent since the last call.
    pub(crate) fn pending(&mut self) -> Vec<SignalNotice> {
        let infos = self.delivery.pending();
        let notices = infos.filter_map(|info| {
            Some(SignalNotice {
                signal: Signal::from_named_raw(info.si_signo)?,
                is_from_keyboard: is_from_system(info.si_code),
            })
        });
        notices.collect()
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.delivery.get_read().as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.is_idle.store(true, Ordering::SeqCst);
    }
}

/// Lets signals do what they do by default while no run holds them. A handler cannot be removed: without this, the
/// process would ignore them from its first run on.
fn default_when_idle(numbers: &[i32]) -> io::Result<Arc<AtomicBool>> {
    static IS_IDLE: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
    for number in numbers {
        register_conditional_default(*number, Arc::clone(&IS_IDLE))?;
    }
    Ok(Arc::clone(&IS_IDLE))
}

/// Returns whether the system itself sent a signal, not a process by `kill`.
fn is_from_system(code: i32) -> bool {
    /// `SI_USER` of macOS, whose signals from a terminal have the code 0.
    const USER_CODE: i32 = 0x1_0001;
    if cfg!(target_os = "linux") {
        code > 0
    } else {
        code != USER_CODE
    }
}

/// Returns the signals that this process ignores, as a mask with bit 0 for signal 1. Systems without `/proc` do not say.
fn ignored_signals() -> u64 {
    let status = callosum_host::Disk::real().read("/proc/self/status".as_ref());
    status.map_or(0, |text| mask_of(&text))
}

fn mask_of(status: &[u8]) -> u64 {
    let status = String::from_utf8_lossy(status);
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_ignored_signals_is_read_from_the_status() {
        let status =
            b"Name:\tx\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\nSigCgt:\t1\n";
        assert_eq!(mask_of(status), 0x1001);
        assert_eq!(mask_of(b"Name:\tx\n"), 0);
        assert_eq!(mask_of(b"SigIgn:\tnone\n"), 0);
    }
}
