//! [`run`]: what this program does when it was started to confine itself.

use std::{
    ffi::OsString,
    process::{Child, Command, ExitStatus},
};

use super::{
    guard,
    order::{DOOR, KEEPER, Layers, Order},
    report::{Failed, Outcome, Step, Writer},
};

/// The exit code where no program was started, or how it ended is only in the report.
pub(super) const NOT_ITS_OWN: u8 = 125;

/// The command line of a program that does nothing, to try an order with.
const NOTHING: &str = "confined-nothing";

/// Carries out the order on the command line `words`, this program's name first, where it is one.
///
/// Returns the code to exit with, or `None` where the command line is not an order.
pub fn run(words: &[OsString]) -> Option<u8> {
    let first = words.get(1)?.to_str()?;
    match first {
        NOTHING if words.len() == 2 => Some(0),
        DOOR | KEEPER => {
            let Some(order) = Order::read(words[2..].iter().cloned()) else {
                return Some(2);
            };
            Some(carry_out(&order, first == KEEPER))
        }
        _ => None,
    }
}

impl Order {
    /// Words for [`Order::program`] set to this program, which then does nothing and ends well.
    pub fn nothing() -> Vec<OsString> {
        vec![NOTHING.into()]
    }
}

fn carry_out(order: &Order, is_keeper: bool) -> u8 {
    let Ok(report) = Writer::open(&order.report) else {
        return NOT_ITS_OWN;
    };
    let done = if is_keeper {
        keep(order, &report)
    } else if order.layers.namespaces {
        enter(order, &report).map(Some)
    } else {
        guard::run(order, &report)
    };
    match done {
        Ok(None) => NOT_ITS_OWN,
        Ok(Some(outcome)) => {
            // The keeper has reported already where the door only passes its code on.
            match outcome {
                Outcome::Exited(code) => u8::try_from(code).unwrap_or(NOT_ITS_OWN),
                _ => NOT_ITS_OWN,
            }
        }
        Err(failed) => {
            // Without a report the controller sees the exit code and that nothing was said.
            drop(report.outcome(failed.outcome()));
            NOT_ITS_OWN
        }
    }
}

#[cfg(target_os = "linux")]
use super::linux::{enter, keep, restrict};

#[cfg(not(target_os = "linux"))]
fn enter(_order: &Order, _report: &Writer) -> Result<Outcome, Failed> {
    Err(unsupported(Step::Namespaces))
}

#[cfg(not(target_os = "linux"))]
fn keep(_order: &Order, _report: &Writer) -> Result<Option<Outcome>, Failed> {
    Err(unsupported(Step::Namespaces))
}

/// Gives away what this system can without namespaces: limits.
#[cfg(not(target_os = "linux"))]
fn restrict(order: &Order, _report: &Writer) -> Result<(), Failed> {
    if order.layers != Layers::default() {
        return Err(unsupported(Step::Landlock));
    }
    super::start::limit()
}

#[cfg(not(target_os = "linux"))]
fn unsupported(step: Step) -> Failed {
    Failed {
        step,
        source: std::io::Error::from_raw_os_error(rustix::io::Errno::NOSYS.raw_os_error()),
    }
}

/// Gives away what an order without namespaces names; without any layer, nothing but core files.
pub(super) fn restrict_without_namespaces(order: &Order, report: &Writer) -> Result<(), Failed> {
    if order.layers == Layers::default() {
        return limit();
    }
    restrict(order, report)
}

/// A crash leaves no copy of the executor's memory behind.
pub(super) fn limit() -> Result<(), Failed> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    setrlimit(Resource::Core, none).map_err(Failed::at(Step::Limits))
}

/// Starts the program; what it is given beside its arguments is what this process has.
#[expect(
    clippy::disallowed_methods,
    reason = "environment and pipes are those that the controller gave this process for it"
)]
pub(super) fn start(order: &Order) -> std::io::Result<Child> {
    Command::new(&order.program)
        .args(&order.arguments)
        .current_dir(&order.folder)
        .spawn()
}

pub(super) fn outcome_of(status: ExitStatus) -> Outcome {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => Outcome::Exited(code),
        (None, Some(signal)) => Outcome::Signalled(signal),
        (None, None) => Outcome::Exited(-1),
    }
}

/// The reason of a program that did not start.
pub(super) fn unstarted(error: &std::io::Error) -> Outcome {
    Outcome::Unstarted(error.raw_os_error().unwrap_or(0))
}
