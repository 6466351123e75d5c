//! [`Trail`]: records of the journal about goals: proposals, loans of intents, and outcomes.
//!
//! A record is a `decision` with the word of its kind as status and the rest under `goal`. Start
//! with [`record`] and [`Trail::read`]. Format: `docs/reference/delegation-engine.md`.

use std::collections::BTreeMap;

use callosum_intent::delegation::Proposal;
use callosum_ledger::{AuditEvent, AuditReader, AuditRecord, Event};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::{CommandError, Exit, open_ledger};

/// Format of the records. A reader passes over records of another.
const FORMAT: u64 = 1;

/// Name of the detail that has the record.
const DETAIL: &str = "goal";

/// A record about a goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "record")]
pub enum GoalRecord {
    /// The arbiter proposes a delegation.
    Proposed {
        /// The run that it is for: of the deliberation, or of a stored plan.
        run: String,
        /// The proposal.
        proposal: Box<Proposal>,
    },
    /// An intent is lent.
    Lent {
        /// The intent.
        intent: String,
        /// The capability that works on it.
        holder: String,
        /// The run in which it does.
        run: String,
    },
    /// A lent intent is returned.
    Returned {
        /// The intent.
        intent: String,
        /// The capability that had it.
        holder: String,
        /// The reason for the return.
        reason: String,
    },
    /// A plan of a capability came to an end.
    Outcome {
        /// The deliberation. A later outcome of the same one replaces the earlier.
        run: String,
        /// The model that proposed the plan.
        model: String,
        /// The end.
        outcome: Outcome,
    },
}

/// The end of a model's plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Its run was completed.
    Completed,
    /// Its run failed.
    Failed,
    /// The reviewers rejected it.
    Rejected,
    /// A person declined it.
    Declined,
    /// There was none that could run.
    NoPlan,
}

/// An intent that is lent and was not returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenLoan {
    /// The capability that has it.
    pub holder: String,
    /// The run in which it works.
    pub run: String,
    /// The time of the loan.
    pub since: Timestamp,
}

/// All records about goals, folded.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    /// The proposal of each run.
    pub proposals: BTreeMap<String, Proposal>,
    /// The open loans by intent.
    pub loans: BTreeMap<String, OpenLoan>,
    /// The last outcome of each deliberation and model, with its number in the journal.
    outcomes: BTreeMap<(String, String), (u64, Outcome)>,
}

impl GoalRecord {
    /// Returns the word of its kind.
    fn kind(&self) -> &'static str {
        match self {
            Self::Proposed { .. } => "proposed",
            Self::Lent { .. } => "lent",
            Self::Returned { .. } => "returned",
            Self::Outcome { .. } => "outcome",
        }
    }

    fn event(&self) -> Result<AuditEvent, CommandError> {
        let mut detail = serde_json::to_value(self).map_err(CommandError::internal)?;
        detail["format"] = FORMAT.into();
        let event = AuditEvent {
            status: Some(self.kind().to_owned()),
            ..AuditEvent::new(Event::Decision)
        };
        Ok(event.with(DETAIL, detail))
    }
}

/// Records it. It is on disk when this returns.
pub fn record(context: &Context, record: &GoalRecord) -> Result<(), CommandError> {
    let event = record.event()?;
    open_ledger::record(&open_ledger::open(context)?, event)
}

impl Trail {
    /// Reads the journal. Records that are not readable count for nothing. Costs one search through the journal.
    pub fn read(context: &Context) -> Result<Self, CommandError> {
        let reader = AuditReader::new(context.disk.clone(), context.ledger_paths());
        let mut trail = Self::default();
        let read = reader.of_event(Event::Decision, |record| trail.take(record));
        read.map_err(|error| {
            CommandError::because(Exit::Environment, "cannot read the journal", &error)
                .hint("callosum audit verify")
        })?;
        Ok(trail)
    }

    /// Returns the outcomes of models, the oldest first.
    pub fn outcomes(&self) -> Vec<(&str, Outcome)> {
        let mut outcomes: Vec<_> = self.outcomes.iter().collect();
        outcomes.sort_by_key(|(_, (seq, _))| *seq);
        let outcomes = outcomes.into_iter();
        outcomes
            .map(|((_, model), (_, outcome))| (model.as_str(), *outcome))
            .collect()
    }

    fn take(&mut self, record: AuditRecord) {
        let AuditRecord {
            seq,
            timestamp,
            mut details,
            ..
        } = record;
        let Some(detail) = details.remove(DETAIL) else {
            return;
        };
        let is_known = detail.get("format").and_then(serde_json::Value::as_u64) == Some(FORMAT);
        let read = is_known.then(|| serde_json::from_value(detail).ok());
        match read.flatten() {
            Some(GoalRecord::Proposed { run, proposal }) => {
                self.proposals.insert(run, *proposal);
            }
            Some(GoalRecord::Lent {
                intent,
                holder,
                run,
            }) => {
                let since = timestamp;
                self.loans.insert(intent, OpenLoan { holder, run, since });
            }
            Some(GoalRecord::Returned { intent, .. }) => {
                self.loans.remove(&intent);
            }
            Some(GoalRecord::Outcome {
                run,
                model,
                outcome,
            }) => {
                self.outcomes.insert((run, model), (seq, outcome));
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn taken(records: &[GoalRecord]) -> Trail {
        let mut trail = Trail::default();
        for (seq, record) in records.iter().enumerate() {
            let event = record.event().unwrap();
            let record = json!({
                "timestamp": "2026-01-02T03:04:05Z", "task_id": null, "executor": null, "hash": null,
                "status": event.status, "seq": seq, "event": "decision", "synced": 0, "details": event.details,
                "prev": "0".repeat(64), "record": "0".repeat(64),
            });
            trail.take(serde_json::from_value(record).unwrap());
        }
        trail
    }

    fn lent(intent: &str, holder: &str) -> GoalRecord {
        GoalRecord::Lent {
            intent: intent.to_owned(),
            holder: holder.to_owned(),
            run: "r".to_owned(),
        }
    }

    fn outcome(run: &str, model: &str, outcome: Outcome) -> GoalRecord {
        GoalRecord::Outcome {
            run: run.to_owned(),
            model: model.to_owned(),
            outcome,
        }
    }

    /// CCOS-DEL-4: a loan is open until it is returned, each intent for itself.
    #[test]
    fn a_loan_is_open_until_it_is_returned() {
        let returned = GoalRecord::Returned {
            intent: "int-1".to_owned(),
            holder: "a".to_owned(),
            reason: "done".to_owned(),
        };
        let trail = taken(&[lent("int-1", "a"), lent("int-2", "b"), returned.clone()]);
        assert_eq!(trail.loans.len(), 1);
        assert_eq!(trail.loans["int-2"].holder, "b");
        let again = taken(&[lent("int-1", "a"), returned, lent("int-1", "c")]);
        assert_eq!(again.loans["int-1"].holder, "c");
    }

    /// CCOS-DEL-2: a plan that was declined and later completed counts once, as completed.
    #[test]
    fn the_last_outcome_of_a_deliberation_counts() {
        let trail = taken(&[
            outcome("1", "a", Outcome::Declined),
            outcome("2", "b", Outcome::NoPlan),
            outcome("1", "a", Outcome::Completed),
        ]);
        let expected = [("b", Outcome::NoPlan), ("a", Outcome::Completed)];
        assert_eq!(trail.outcomes(), expected);
    }

    #[test]
    fn a_record_of_another_form_counts_for_nothing() {
        let mut trail = Trail::default();
        for goal in [
            json!({"format": 2, "record": "lent", "intent": "i", "holder": "a", "run": "r"}),
            json!({"format": 1, "record": "sold", "intent": "i"}),
            json!("lent"),
        ] {
            let record = json!({
                "timestamp": "2026-01-02T03:04:05Z", "task_id": null, "executor": null, "hash": null,
                "status": "lent", "seq": 1, "event": "decision", "synced": 0, "details": {"goal": goal},
                "prev": "0".repeat(64), "record": "0".repeat(64),
            });
            trail.take(serde_json::from_value(record).unwrap());
        }
        assert!(trail.loans.is_empty());
    }
}
