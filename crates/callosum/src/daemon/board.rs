//! [`Changes`]: what happened on the board since the process began, and how it stands, in the text form of Prometheus.
//!
//! Counted from the events of the log, by whomever they were appended. What a hook handed over counts as much as
//! what was decided here.

use std::{cell::RefCell, collections::BTreeMap, fmt::Write as _};

use callosum_mesh::{
    agent::US,
    board::{Deed, Tally},
    event::Event,
};

use super::metrics::begin;

/// Most agents that are counted apart; others count as `other`.
const MOST_AGENTS: usize = 64;

/// What happened on the board.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// By the agent and the receipt.
    deliveries: RefCell<BTreeMap<(String, &'static str), u64>>,
    /// By what happened.
    tasks: RefCell<BTreeMap<&'static str, u64>>,
    leases: RefCell<BTreeMap<&'static str, u64>>,
}

impl Changes {
    /// An event of the log.
    pub(super) fn event(&self, event: &Event) {
        let count = |counts: &RefCell<BTreeMap<&'static str, u64>>, what| {
            *counts.borrow_mut().entry(what).or_default() += 1;
        };
        match Deed::of(event) {
            Some(Deed::MessageMoved { receipt, .. }) => {
                let mut deliveries = self.deliveries.borrow_mut();
                let key = (event.source.to_string(), receipt.as_str());
                let is_room = deliveries.len() < MOST_AGENTS || deliveries.contains_key(&key);
                let key = if is_room {
                    key
                } else {
                    ("other".to_owned(), key.1)
                };
                *deliveries.entry(key).or_default() += 1;
            }
            Some(Deed::TaskAdded { .. }) => count(&self.tasks, "added"),
            Some(Deed::TaskClaimed { .. }) => count(&self.tasks, "claimed"),
            Some(Deed::TaskReleased { .. }) => count(&self.tasks, "released"),
            Some(Deed::TaskCompleted { .. }) => count(&self.tasks, "completed"),
            Some(Deed::TaskCancelled { .. }) => count(&self.tasks, "cancelled"),
            // Nobody but the mesh itself hands a task that was not begun in time to the other agent.
            Some(Deed::TaskChanged { set, .. })
                if event.source.as_str() == US && set.contains_key("assigned_to") =>
            {
                count(&self.tasks, "overdue");
            }
            Some(Deed::LeaseTaken { .. }) => count(&self.leases, "taken"),
            Some(Deed::LeaseReleased { .. }) => count(&self.leases, "released"),
            Some(_) | None => {}
        }
    }

    /// All of it.
    pub(super) fn write(&self, text: &mut String) {
        let name = "mesh_deliveries_total";
        begin(
            text,
            name,
            "counter",
            "Steps of messages by agent and receipt",
        );
        for ((agent, receipt), count) in self.deliveries.borrow().iter() {
            let _ = writeln!(
                text,
                "{name}{{agent=\"{agent}\",receipt=\"{receipt}\"}} {count}"
            );
        }
        let tasks = [
            "added",
            "claimed",
            "released",
            "completed",
            "cancelled",
            "overdue",
        ];
        for (name, help, counts, changes) in [
            (
                "mesh_task_changes_total",
                "What happened to tasks",
                &self.tasks,
                &tasks[..],
            ),
            (
                "mesh_lease_changes_total",
                "What happened to leases",
                &self.leases,
                &["taken", "released"],
            ),
        ] {
            begin(text, name, "counter", help);
            for change in changes {
                let count = counts.borrow().get(change).copied().unwrap_or(0);
                let _ = writeln!(text, "{name}{{change=\"{change}\"}} {count}");
            }
        }
    }
}

/// How the board stands.
pub(super) fn write_tally(tally: &Tally, text: &mut String) {
    let Tally {
        waiting,
        oldest_waits,
        unseen,
        dead,
        pending,
        in_progress,
        leases,
    } = *tally;
    let name = "mesh_messages";
    begin(
        text,
        name,
        "gauge",
        "Messages that are not at their end, by how far they are",
    );
    for (state, count) in [("queued", waiting), ("delivered", unseen)] {
        let _ = writeln!(text, "{name}{{state=\"{state}\"}} {count}");
    }
    let name = "mesh_tasks";
    begin(text, name, "gauge", "Tasks that are to be done");
    for (status, count) in [("pending", pending), ("in_progress", in_progress)] {
        let _ = writeln!(text, "{name}{{status=\"{status}\"}} {count}");
    }
    for (name, help, value) in [
        ("mesh_leases", "Leases that hold", leases as f64),
        (
            "mesh_dead_letters",
            "Messages that could not be handed over, and are not dropped",
            dead as f64,
        ),
        (
            "mesh_undelivered_age_seconds",
            "How long the oldest message has waited that nobody was handed",
            oldest_waits.as_secs_f64(),
        ),
    ] {
        begin(text, name, "gauge", help);
        let _ = writeln!(text, "{name} {value}");
    }
}
