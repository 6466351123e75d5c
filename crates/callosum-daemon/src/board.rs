//! [`Changes`]: metrics of the board's changes since the process began.
//!
//! Counted from the events of the log, no matter which process appended them: those of a hook count
//! as much as those of the daemon.

use std::{cell::RefCell, collections::BTreeMap};

use callosum_mesh::{
    agent::US,
    board::{Effect, Tally},
    event::Event,
};

use callosum_metrics::{Family, Value};

/// Most agents that are counted apart; others count as `other`.
const MOST_AGENTS: usize = 64;

/// Changes of the board.
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
        match Effect::of(event) {
            Some(Effect::MessageMoved { receipt, .. }) => {
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
            Some(Effect::TaskAdded { .. }) => count(&self.tasks, "added"),
            Some(Effect::TaskClaimed { .. }) => count(&self.tasks, "claimed"),
            Some(Effect::TaskReleased { .. }) => count(&self.tasks, "released"),
            Some(Effect::TaskCompleted { .. }) => count(&self.tasks, "completed"),
            Some(Effect::TaskCancelled { .. }) => count(&self.tasks, "cancelled"),
            // Only the mesh itself assigns a task that was not begun in time to the other agent.
            Some(Effect::TaskChanged { set, .. })
                if event.source.as_str() == US && set.contains_key("assigned_to") =>
            {
                count(&self.tasks, "overdue");
            }
            Some(Effect::LeaseTaken { .. }) => count(&self.leases, "taken"),
            Some(Effect::LeaseReleased { .. }) => count(&self.leases, "released"),
            Some(_) | None => {}
        }
    }

    /// Returns all of them.
    pub(super) fn families(&self) -> Vec<Family> {
        let mut deliveries = Family::counter(
            "mesh_deliveries_total",
            "Steps of messages by agent and receipt",
        );
        for ((agent, receipt), count) in self.deliveries.borrow().iter() {
            let labels = [("agent", &**agent), ("receipt", *receipt)];
            deliveries.add(labels, Value::Integer(*count));
        }
        let mut families = vec![deliveries];
        for (mut family, counts, changes) in [
            (
                Family::counter("mesh_task_changes_total", "Changes of tasks"),
                &self.tasks,
                &[
                    "added",
                    "claimed",
                    "released",
                    "completed",
                    "cancelled",
                    "overdue",
                ][..],
            ),
            (
                Family::counter("mesh_lease_changes_total", "Changes of leases"),
                &self.leases,
                &["taken", "released"],
            ),
        ] {
            for change in changes {
                let count = counts.borrow().get(change).copied().unwrap_or(0);
                family.add([("change", change)], Value::Integer(count));
            }
            families.push(family);
        }
        families
    }
}

/// Returns the state of the board.
pub(super) fn tally_families(tally: &Tally) -> Vec<Family> {
    let Tally {
        waiting,
        oldest_waits,
        unseen,
        dead,
        pending,
        in_progress,
        leases,
    } = *tally;
    let count = Value::Integer;
    vec![
        Family::gauge("mesh_messages", "Messages that are not done, by state")
            .with([("state", "queued")], count(waiting))
            .with([("state", "delivered")], count(unseen)),
        Family::gauge("mesh_tasks", "Tasks that are not done, by status")
            .with([("status", "pending")], count(pending))
            .with([("status", "in_progress")], count(in_progress)),
        Family::gauge("mesh_leases", "Active leases").of(count(leases)),
        Family::gauge(
            "mesh_dead_letters",
            "Undeliverable messages that are not dropped",
        )
        .of(count(dead)),
        Family::gauge(
            "mesh_undelivered_age_seconds",
            "Age of the oldest message that no agent received",
        )
        .of(Value::Decimal(oldest_waits.as_secs_f64())),
    ]
}
