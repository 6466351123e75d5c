//! Edits of a task in the file: changes of its keys, or of its status.
//!
//! A status change is a compare-and-set: it counts only if the task still has the status that its
//! author found, or if the task is theirs.

use callosum_redact::secrets::mask;
use serde_json::{Map, Value};

use super::{Edit, document::is_of_task, item::Item, merge::Merge};
use crate::{
    agent::AgentName,
    board::{Command, NewTask, Status, Task},
};

/// Keys of a task that stand in it as they were first written.
const FIXED: [&str; 2] = ["created_by", "created_at"];

/// Keys of a task that follow from its status.
const FOLLOWING: [&str; 2] = ["completed_at", "claimed_by"];

impl Merge<'_> {
    pub(super) fn task(&mut self, item: &Item<'_>) {
        match self.board.task(&item.id) {
            Some(task) => self.known_task(item, task),
            None => self.new_task(item),
        }
    }

    fn new_task(&mut self, item: &Item<'_>) {
        if let Some(base) = self.base_item(item) {
            // It is so long over that the board has forgotten it.
            if item.differs_from(base).is_some() {
                self.refuse_item(item, "finished and was forgotten, so it cannot be changed");
            }
            return;
        }
        let Some(prompt) = item.text("prompt") else {
            return self.refuse_item(item, "has no `prompt`, which must be text");
        };
        let is_set = |key: &str| item.members.get(key).is_some_and(|value| !value.is_null());
        if is_set("assigned_to") && item.name("assigned_to").is_none() {
            let reason = "has an `assigned_to` that must be the name of an agent, or null";
            return self.refuse_item(item, reason);
        }
        let needs: Option<Vec<String>> = match item.members.get("needs") {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(needs) => serde_json::from_value(needs.clone()).ok(),
        };
        let Some(needs) = needs else {
            return self.refuse_item(item, "has `needs` that must be a list of task ids");
        };
        let priority = item.members.get("priority").and_then(Value::as_i64);
        if is_set("priority") && priority.is_none() {
            self.refuse_item(
                item,
                "has a `priority` that must be a whole number; it gets 5",
            );
        }
        let other = item.members.iter();
        let other = other.filter(|(key, _)| !is_of_task(key));
        let order = Command::Add(NewTask {
            id: item.id.clone(),
            assigned_to: item.name("assigned_to"),
            priority,
            prompt,
            output_file: item.text("output_file"),
            needs,
            created_by: None,
            other: other
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        });
        self.add(item, order, "created_by", "created_at");
        let author = item.name("created_by");
        let worker = item.name("claimed_by").or_else(|| item.name("assigned_to"));
        let worker = worker.or(author).unwrap_or_else(|| self.writer.clone());
        self.reached(item, None, None, worker);
    }

    fn known_task(&mut self, item: &Item<'_>, task: &Task) {
        let base = self.base_item(item).cloned();
        // Who left their name, else whose the file says that it is.
        let worker = self.named_author.clone();
        let worker =
            worker.or_else(|| item.name("claimed_by").or_else(|| item.name("assigned_to")));
        let worker = worker.unwrap_or_else(|| self.writer.clone());
        self.reached(item, Some(task), base.as_ref(), worker);
        let Some(base) = base else {
            let prompt = item.text("prompt");
            if prompt
                .is_some_and(|prompt| prompt != task.prompt && mask(&prompt).text != task.prompt)
            {
                self.refuse_item(item, "already exists with another `prompt`, which stays");
            }
            return;
        };
        let status = item.members.get("status");
        let has_moved = match (status, base.get("status")) {
            (Some(status), Some(before)) => !is_same_status(before, status),
            (status, before) => status != before,
        };
        let mut set = Map::new();
        for (key, value) in item.members {
            let was = base.get(key).cloned().unwrap_or_default();
            let key = key.as_str();
            let comes_with_status =
                has_moved && (key == "result" || FOLLOWING.contains(&key)) || key == "status";
            if *value == was || comes_with_status || key == "id" {
                continue;
            }
            if FIXED.contains(&key) || FOLLOWING.contains(&key) {
                self.refuse_item(item, &format!("has a `{key}` that cannot be changed"));
                continue;
            }
            let is = task.value(key);
            if is == was {
                set.insert(key.to_owned(), value.clone());
            } else if is != *value {
                let reason = format!("has had another `{key}` since, which stays");
                self.refuse_item(item, &reason);
            }
        }
        if let Some(base) = base.as_object() {
            for key in base.keys() {
                let is_ours = is_of_task(key)
                    && !["assigned_to", "output_file", "needs", "result"].contains(&key.as_str());
                if !item.members.contains_key(key) && task.value(key) == base[key] && !is_ours {
                    set.insert(key.clone(), Value::Null);
                }
            }
        }
        if !set.is_empty() {
            let order = Command::Change {
                task: item.id.clone(),
                set,
            };
            self.merged.edits.push(Edit {
                order,
                by: self.writer.clone(),
                at: None,
                wrote: Some(item.wrote()),
            });
        }
    }

    /// Applies the status that the file gives a task, if it is not the one that its author began
    /// with.
    fn reached(
        &mut self,
        item: &Item<'_>,
        task: Option<&Task>,
        base: Option<&Value>,
        by: AgentName,
    ) {
        let Some(status) = item.members.get("status") else {
            return;
        };
        let before = base.map(|base| base.get("status").cloned().unwrap_or_default());
        if before
            .as_ref()
            .is_some_and(|before| is_same_status(before, status))
        {
            return;
        }
        let is_of_base = before.is_some() || task.is_none();
        let now = task.map_or(Status::Pending, |task| task.status);
        let claim = task.and_then(|task| task.claim.as_ref());
        let claim = claim.filter(|_| now == Status::InProgress);
        let id = item.id.clone();
        let status = status.as_str().and_then(Status::read).map(Status::as_str);
        let order = match (status, now) {
            (Some("in_progress"), Status::Pending) => Command::Claim {
                task: Some(id),
                anyway: true,
                fence: None,
            },
            (Some("in_progress"), Status::InProgress) => {
                // Without a base it may only be shown who has it.
                let claimant = item
                    .name("claimed_by")
                    .or_else(|| self.named_author.clone());
                let claimant = if is_of_base { Some(by) } else { claimant };
                if let (Some(claim), Some(claimant)) = (claim, claimant)
                    && claim.by != claimant
                {
                    let reason = format!("has since been claimed by {}, which stays", claim.by);
                    self.refuse_for(item, &reason, claimant);
                }
                return;
            }
            (Some("complete"), Status::Complete) => {
                let known = task.and_then(|task| task.result.as_deref());
                let result = item.text("result");
                let is_other = result.is_some_and(|result| {
                    Some(result.as_str()) != known && Some(mask(&result).text.as_str()) != known
                });
                if is_other {
                    let reason = "is complete with another `result`, which stays";
                    self.refuse_for(item, reason, by);
                }
                return;
            }
            (Some("complete"), _) => Command::Complete {
                task: id,
                result: item.text("result"),
                anyway: false,
                token: None,
            },
            (Some("pending"), Status::Pending) => return,
            (Some("pending" | "in_progress"), _) if !is_of_base => return,
            (Some("pending"), Status::InProgress) => {
                let found = base.and_then(|base| base.get("claimed_by")?.as_str());
                if let Some(claim) = claim
                    && found != Some(claim.by.as_str())
                {
                    let reason = format!("has since been claimed by {}, which stays", claim.by);
                    return self.refuse_for(item, &reason, by);
                }
                Command::Release {
                    task: id,
                    reason: "set back in the bridge file".to_owned(),
                    anyway: true,
                    token: None,
                }
            }
            (Some("pending" | "in_progress"), _) => {
                let reason = format!("is {}, which cannot be undone", now.as_str());
                return self.refuse_for(item, &reason, by);
            }
            _ => {
                let reason = "has a `status` that must be `pending`, `in_progress` or `complete`";
                return self.refuse_item(item, reason);
            }
        };
        let is_end = matches!(order, Command::Complete { .. });
        self.merged.edits.push(Edit {
            order,
            by,
            at: item.moment("completed_at").filter(|_| is_end),
            wrote: Some(item.wrote()),
        });
    }

    /// Rejects an agent's change of a task.
    fn refuse_for(&mut self, item: &Item<'_>, reason: &str, by: AgentName) {
        self.refuse_item(item, reason);
        if let Some(conflict) = self.merged.conflicts.last_mut() {
            conflict.by = by;
        }
    }
}

/// Whether two values of `status` mean the same: people also write `Done` or `in-progress`.
fn is_same_status(one: &Value, other: &Value) -> bool {
    let read = |value: &Value| value.as_str().and_then(Status::read);
    one == other || read(one).is_some_and(|one| read(other) == Some(one))
}
