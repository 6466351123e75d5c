//! The entry that is made of a judged answer: metadata about the task, and about how it was done.

use callosum_ledger::{NewEntry, TaskId};
use serde_json::Value;

use super::{
    attempt::{AttemptRunner, Job},
    record::{self, KeptPrompt},
    reuse::{REQUEST_KEY, TREE_KEY},
    validate::Judged,
};
use crate::task::kind_name;

impl AttemptRunner<'_> {
    /// The entry, ready to be committed.
    pub(super) fn entry(&self, job: &Job<'_>, id: &TaskId, judged: &Judged) -> NewEntry {
        let mut metadata = judged.metadata.clone();
        KeptPrompt::of(&job.task.prompt).put_into(&mut metadata);
        let mut put = |key: &str, value: Value| metadata.insert(key.to_owned(), value);
        let kind = job.task.kind_for(&job.executor.id);
        put("kind", kind_name(kind).into());
        put("mode", job.decision.mode.as_str().into());
        put("priority", job.task.priority.as_str().into());
        if !job.task.paths.is_empty() {
            put("paths", job.task.paths.clone().into());
        }
        if let Some(key) = &job.task.plan_call {
            put(record::PLAN_CALL, key.as_str().into());
        }
        if let Some(reached) = self.means.surroundings.reach(job.executor) {
            put("confinement", reached.to_json());
        }
        let provenance = &self.means.provenance;
        for (key, value) in [
            ("repo", &provenance.repo),
            ("branch", &provenance.branch),
            ("asked_by", &provenance.asked_by),
            ("asked_in", &provenance.asked_in),
        ] {
            if let Some(value) = value {
                put(key, value.as_str().into());
            }
        }
        if let Some(reuse) = &self.means.reuse
            && reuse
                .tree
                .still_holds(&self.means.surroundings.disk, self.means.tree)
        {
            let key = reuse.key(job.task, job.executor, &job.linked);
            put(REQUEST_KEY, key.to_string().into());
            put(TREE_KEY, reuse.tree.content.to_string().into());
        }
        NewEntry {
            task_id: id.clone(),
            executor: job.executor.id.clone(),
            summary: judged.summary.clone(),
            tokens_used: judged.tokens_used,
            linked_tasks: job.linked.clone(),
            timestamp: self.means.clock.now(),
            metadata,
        }
    }
}
