//! Texts for an executor: the request of a task, and the complaint about an answer that is sent
//! back.

use std::fmt::Write as _;

use callosum_citation::Review;
use callosum_executor::protocol::{LONGEST_SUMMARY, Request};
use callosum_ledger::{Reader, TaskId};
use callosum_redact::quote;
use serde_json::{Map, Value, json};

use super::{
    attempt::{AttemptRunner, Job},
    attempt_error::Stop,
    context::SHORT_SUMMARY,
    validate::{MOST_LISTED, Objection},
};

impl AttemptRunner<'_> {
    /// The request of a task, with what the tasks found out that it builds on.
    pub(super) fn request(&self, job: &Job<'_>, id: &TaskId) -> Result<Request, Stop> {
        let mut context = Map::new();
        if let Some(kind) = job.task.kind_for(&job.executor.id) {
            context.insert("kind".to_owned(), kind.as_str().into());
        }
        context.insert("root".to_owned(), self.means.tree.to_string_lossy().into());
        context.insert("paths".to_owned(), job.task.paths.clone().into());
        if !job.linked.is_empty() {
            context.insert(
                "linked_tasks".to_owned(),
                self.linked_summaries(&job.linked)?,
            );
        }
        Ok(Request::for_task(&job.task.prompt, id.as_str(), context))
    }

    /// Returns the summaries of the tasks that this one builds on.
    fn linked_summaries(&self, linked: &[TaskId]) -> Result<Value, Stop> {
        let mut summaries = Vec::new();
        let ledger = Reader::open(
            self.means.surroundings.disk.clone(),
            self.means.ledger.paths().clone(),
        )?;
        for id in linked {
            if let Some(found) = ledger.find(id)? {
                let entry = found.entry;
                // A program may pass it to a model as it is.
                summaries.push(json!({
                    "task_id": id,
                    "executor": quote::one_line(&entry.executor),
                    "summary": quote::neutral(&entry.summary),
                }));
            }
        }
        Ok(summaries.into())
    }
}

/// Returns the complaint for the executor, if asking once more may help.
pub(super) fn complaint_of(objection: &Objection) -> Option<String> {
    match objection {
        Objection::TooShort { bytes } => Some(format!(
            "it has {bytes} bytes, but {SHORT_SUMMARY} to {LONGEST_SUMMARY} are required. Say \
             more of what the files contain, each statement with its place, `quoted text` \
             [path:line]"
        )),
        Objection::Uncited { review, .. } => Some(format!(
            "not every statement is shown to be true. The answer may be as short as the question \
             allows: give each statement its place, `quoted text` [path:line].{}",
            listed(review)
        )),
        Objection::TooLong { .. } => None,
        Objection::Ungrounded { review, required } => {
            let listed = listed(review);
            Some(format!(
                "{review}, but the required share is {required}. A citation is a quote and its \
                 place, `quoted text` [path:line], and is valid if the quote occurs there word \
                 for word. Correct these, or leave out what they were to show.{listed}"
            ))
        }
    }
}

/// The citations that do not hold, a line each.
fn listed(review: &Review) -> String {
    let mut listed = String::new();
    for complaint in review.complaints(MOST_LISTED) {
        let _ = write!(listed, "\n- {}", quote::one_line(&complaint));
    }
    listed
}
