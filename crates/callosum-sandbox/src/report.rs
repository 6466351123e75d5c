//! [`Report`]: report of the process that was to confine itself.

use std::{
    io::{self, Write},
    os::unix::net::UnixStream,
};

/// Result of an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The version of Landlock that is in force, if any.
    pub landlock: Option<u32>,
    /// The process that ends all that was started when it is ended, once it is there.
    pub guard: Option<i32>,
    /// The program, which leads a group of its own, if its number is valid for the controller.
    pub(super) program: Option<i32>,
    /// Outcome of the program; `None` if it was ended before its end.
    pub outcome: Option<Outcome>,
    /// Whether the guard, asked to end what was started, has done so.
    pub(super) swept: bool,
    /// Whether the guard has ended all that was started, and waits for another order.
    pub(super) ready: bool,
}

/// Outcome of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The program exited with this code.
    Exited(i32),
    /// This signal ended the program.
    Signalled(i32),
    /// The program could not be started, for this reason of the system's.
    Unstarted(i32),
    /// A restriction could not be applied: the step and the system's reason. Nothing was started.
    Failed(Step, i32),
}

/// Step at which confinement can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The order cannot be read, or no process can be made to carry it out.
    Order,
    /// New namespaces.
    Namespaces,
    /// The mapping of the user into the new user namespace.
    Users,
    /// The new file system.
    Mounts,
    /// The inner loopback.
    Network,
    /// Landlock.
    Landlock,
    /// The rights of root.
    Capabilities,
    /// Limits of resources.
    Limits,
    /// The filter of system calls.
    SystemCalls,
}

const STEPS: [(Step, &str); 9] = [
    (Step::Order, "order"),
    (Step::Namespaces, "namespaces"),
    (Step::Users, "users"),
    (Step::Mounts, "mounts"),
    (Step::Network, "network"),
    (Step::Landlock, "landlock"),
    (Step::Capabilities, "capabilities"),
    (Step::Limits, "limits"),
    (Step::SystemCalls, "system-calls"),
];

impl Step {
    /// Its name in reports.
    pub fn as_str(self) -> &'static str {
        STEPS
            .iter()
            .find(|(step, _)| *step == self)
            .map_or("order", |(_, name)| name)
    }
}

impl Report {
    /// Reads the part written so far; a missing part means nothing.
    pub(super) fn read(text: &str) -> Self {
        let mut report = Self::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |word: &str| word.parse::<i32>().ok();
            report.outcome = match words[..] {
                ["landlock", version] => {
                    report.landlock = version.parse().ok();
                    continue;
                }
                ["guard", pid] => {
                    report.guard = number(pid);
                    continue;
                }
                ["program", pid] => {
                    report.program = number(pid);
                    continue;
                }
                ["swept"] => {
                    report.swept = true;
                    continue;
                }
                ["ready"] => {
                    report.ready = true;
                    continue;
                }
                ["exited", code] => number(code).map(Outcome::Exited),
                ["signalled", signal] => number(signal).map(Outcome::Signalled),
                ["unstarted", reason] => number(reason).map(Outcome::Unstarted),
                ["failed", step, reason] => STEPS
                    .iter()
                    .find(|(_, name)| *name == step)
                    .and_then(|(step, _)| Some(Outcome::Failed(*step, number(reason)?))),
                _ => continue,
            };
        }
        report
    }
}

impl Outcome {
    fn line(self) -> String {
        match self {
            Self::Exited(code) => format!("exited {code}\n"),
            Self::Signalled(signal) => format!("signalled {signal}\n"),
            Self::Unstarted(reason) => format!("unstarted {reason}\n"),
            Self::Failed(step, reason) => format!("failed {} {reason}\n", step.as_str()),
        }
    }
}

/// The guard's end of the line to the controller, which hears the report by it.
///
/// The controller wants the guard to end when it closes its own end, or is gone.
pub(super) struct Line(pub(super) UnixStream);

impl Line {
    pub(super) fn guard(&self, pid: i32) -> io::Result<()> {
        self.write(&format!("guard {pid}\n"))
    }

    pub(super) fn program(&self, pid: i32) -> io::Result<()> {
        self.write(&format!("program {pid}\n"))
    }

    pub(super) fn landlock(&self, version: u32) -> io::Result<()> {
        self.write(&format!("landlock {version}\n"))
    }

    pub(super) fn outcome(&self, outcome: Outcome) -> io::Result<()> {
        self.write(&outcome.line())
    }

    pub(super) fn swept(&self) -> io::Result<()> {
        self.write("swept\n")
    }

    pub(super) fn ready(&self) -> io::Result<()> {
        self.write("ready\n")
    }

    fn write(&self, line: &str) -> io::Result<()> {
        (&self.0).write_all(line.as_bytes())
    }
}

/// A step that failed.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) step: Step,
    pub(super) source: io::Error,
}

impl Failed {
    pub(super) fn at<E: Into<io::Error>>(step: Step) -> impl FnOnce(E) -> Self {
        move |source| Self {
            step,
            source: source.into(),
        }
    }

    pub(super) fn outcome(&self) -> Outcome {
        Outcome::Failed(self.step, self.source.raw_os_error().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        let mut all = vec![
            Outcome::Exited(7),
            Outcome::Signalled(6),
            Outcome::Unstarted(2),
        ];
        all.extend(STEPS.map(|(step, _)| Outcome::Failed(step, 1)));
        for outcome in all {
            let report = Report::read(&format!("guard 12\nlandlock 7\n{}", outcome.line()));
            assert_eq!(report.landlock, Some(7));
            assert_eq!(report.guard, Some(12));
            assert_eq!(report.outcome, Some(outcome));
        }
        assert!(Report::read("exited 0\nready\n").ready);
        let ended = Report::read("guard 12\nprogram 13\nswept\n");
        assert_eq!((ended.program, ended.swept), (Some(13), true));
        assert_eq!(Report::read(""), Report::default());
        assert_eq!(Report::read("exited x\nnonsense\n").outcome, None);
    }
}
