//! [`choose_mode`]: the mode of a task, and the reason for it.
//!
//! The order is that of the algorithm in Seed CAL §4.2, not of the tree in §4.1: the tree asks for
//! independence before I/O load and ledger conflicts, and so would never reach them.

use std::fmt;

use crate::task::Scope;

/// The share of time in which a disk is busy above which it counts as loaded (Seed CAL §4.2).
const BUSY_DISK: f64 = 0.8;

/// File reads above which a task counts as a load by itself, unless configured (CAL-ARB-2).
pub const DEFAULT_IO_THRESHOLD: u64 = 10_000;

/// Concurrency of a task with others (Seed CAL §4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// After the tasks that it builds on; where asked for without any, one at a time.
    Sequential,
    /// At once, next to others.
    Concurrent,
    /// With a pause since the start of the last such task.
    Staggered,
    /// Once no other process writes the ledger.
    Queued,
}

impl Mode {
    /// All four, in the seed's order.
    pub const ALL: [Self; 4] = [
        Self::Sequential,
        Self::Concurrent,
        Self::Staggered,
        Self::Queued,
    ];

    /// The name in the ledger and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Concurrent => "concurrent",
            Self::Staggered => "staggered",
            Self::Queued => "queued",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Reason that a mode was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It builds on tasks that were not committed at its submission.
    ContextDependency,
    /// The caller insisted on it.
    Asked,
    /// Another process was writing the ledger.
    LedgerConflict,
    /// It is expected to read more files than the threshold.
    HeavyTask,
    /// The disk was busy.
    BusyDisk,
    /// It concerns an independent part.
    IndependentScope,
    /// Nothing spoke against it.
    Default,
}

impl Reason {
    /// The name in the audit journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ContextDependency => "context_dependency",
            Self::Asked => "asked",
            Self::LedgerConflict => "ledger_conflict",
            Self::HeavyTask => "heavy_task",
            Self::BusyDisk => "busy_disk",
            Self::IndependentScope => "independent_scope",
            Self::Default => "default",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Decision about a task, to be written into the audit journal (REQ-ARB-005).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Mode in which it runs.
    pub mode: Mode,
    /// Reason for the mode.
    pub reason: Reason,
}

/// Facts about the task that the decision needs.
#[derive(Clone, Copy, Debug)]
pub struct TaskFacts {
    /// Number of its links that are not committed.
    pub unmet_links: usize,
    /// The mode that the caller insists on.
    pub asked: Option<Mode>,
    /// File reads that it is expected to cost.
    pub estimated_io_ops: Option<u64>,
    /// Part of the tree that it concerns.
    pub scope: Scope,
}

/// Facts about the machine that the decision needs, gathered by the caller beforehand.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Whether another process holds the ledger; our own writes do not count (CAL-ARB-2).
    pub ledger_busy: bool,
    /// The share of time (0 to 1) in which the disk was busy; `None` until it is measured.
    pub disk_utilisation: Option<f64>,
    /// File reads above which a task counts as a load by itself.
    pub io_threshold: u64,
    /// Whether this program holds more memory than it may.
    pub memory_short: bool,
}

impl Facts {
    /// A machine with nothing to do and the default threshold.
    pub const IDLE: Self = Self {
        ledger_busy: false,
        disk_utilisation: None,
        io_threshold: DEFAULT_IO_THRESHOLD,
        memory_short: false,
    };
}

/// Chooses the mode of a task. Pure: the caller gathers the facts.
///
/// Links come first, before what the caller asks for: a task never starts before what it builds on
/// is committed (REQ-ARB-003). A mode that was asked for comes before the machine's state, which
/// the locks guard in any case. What was not measured or estimated does not count as load.
pub fn choose_mode(task: &TaskFacts, facts: &Facts) -> Decision {
    let (mode, reason) = if task.unmet_links > 0 {
        (Mode::Sequential, Reason::ContextDependency)
    } else if let Some(mode) = task.asked {
        (mode, Reason::Asked)
    } else if facts.ledger_busy {
        (Mode::Queued, Reason::LedgerConflict)
    } else if task
        .estimated_io_ops
        .is_some_and(|reads| reads > facts.io_threshold)
    {
        (Mode::Staggered, Reason::HeavyTask)
    } else if facts
        .disk_utilisation
        .is_some_and(|share| share > BUSY_DISK)
    {
        (Mode::Staggered, Reason::BusyDisk)
    } else if task.scope == Scope::Module {
        (Mode::Concurrent, Reason::IndependentScope)
    } else {
        (Mode::Concurrent, Reason::Default)
    };
    Decision { mode, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: TaskFacts = TaskFacts {
        unmet_links: 0,
        asked: None,
        estimated_io_ops: None,
        scope: Scope::Repo,
    };

    #[track_caller]
    fn check(task: TaskFacts, facts: Facts, mode: Mode, reason: Reason) {
        assert_eq!(choose_mode(&task, &facts), Decision { mode, reason });
    }

    /// CAL-ARB-1, REQ-ARB-003, REQ-ARB-004: each condition outweighs all those after it.
    #[test]
    fn conditions_are_asked_in_the_order_of_the_algorithm() {
        let loaded = Facts {
            ledger_busy: true,
            disk_utilisation: Some(0.9),
            io_threshold: 10,
            memory_short: false,
        };
        let free = Facts {
            ledger_busy: false,
            ..loaded
        };
        let quiet = Facts {
            disk_utilisation: Some(0.1),
            ..free
        };
        let mut task = TaskFacts {
            unmet_links: 1,
            asked: Some(Mode::Concurrent),
            estimated_io_ops: Some(11),
            scope: Scope::Module,
        };
        check(task, loaded, Mode::Sequential, Reason::ContextDependency);
        task.unmet_links = 0;
        check(task, loaded, Mode::Concurrent, Reason::Asked);
        task.asked = None;
        check(task, loaded, Mode::Queued, Reason::LedgerConflict);
        check(task, free, Mode::Staggered, Reason::HeavyTask);
        task.estimated_io_ops = Some(10);
        check(task, free, Mode::Staggered, Reason::BusyDisk);
        check(task, quiet, Mode::Concurrent, Reason::IndependentScope);
        task.scope = Scope::Repo;
        check(task, quiet, Mode::Concurrent, Reason::Default);
    }

    /// CAL-ARB-2: "more than" the threshold, and more than 0.8.
    #[test]
    fn load_begins_above_the_bounds_not_at_them() {
        let at = TaskFacts {
            estimated_io_ops: Some(DEFAULT_IO_THRESHOLD),
            ..PLAIN
        };
        check(at, Facts::IDLE, Mode::Concurrent, Reason::Default);
        let above = TaskFacts {
            estimated_io_ops: Some(DEFAULT_IO_THRESHOLD + 1),
            ..PLAIN
        };
        check(above, Facts::IDLE, Mode::Staggered, Reason::HeavyTask);
        for (share, mode) in [
            (0.8, Mode::Concurrent),
            (0.81, Mode::Staggered),
            (f64::NAN, Mode::Concurrent),
        ] {
            let facts = Facts {
                disk_utilisation: Some(share),
                ..Facts::IDLE
            };
            assert_eq!(choose_mode(&PLAIN, &facts).mode, mode, "{share}");
        }
    }

    /// CAL-ARB-1, CAL-TEST-1, REQ-TEST-001: the ledger and the journal name each mode and each reason differently.
    #[test]
    fn each_mode_and_reason_has_a_name_of_its_own() {
        let modes = Mode::ALL.map(|mode| mode.to_string());
        assert_eq!(modes, ["sequential", "concurrent", "staggered", "queued"]);
        let reasons = [
            Reason::ContextDependency,
            Reason::Asked,
            Reason::LedgerConflict,
            Reason::HeavyTask,
            Reason::BusyDisk,
            Reason::IndependentScope,
            Reason::Default,
        ];
        let names = [
            "context_dependency",
            "asked",
            "ledger_conflict",
            "heavy_task",
            "busy_disk",
            "independent_scope",
            "default",
        ];
        assert_eq!(reasons.map(|reason| reason.to_string()), names);
    }
}
