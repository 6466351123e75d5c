//! [`tree_of`]: the causal chain of a run, from the plan by way of steps and calls to what they came
//! to.

use std::{collections::BTreeMap, mem::take};

use callosum_ledger::TaskId;
use callosum_plan::Position;
use serde::Serialize;

use super::{
    ids::CallKey,
    record::{Answer, KeptText, RulingWord, StepRecord},
    state::{CallStanding, CallState, RunState},
};

/// One action, and those that it caused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActionNode {
    /// Kind of the action.
    pub kind: ActionKind,
    /// Name of the action.
    pub name: String,
    /// State in a word.
    pub standing: String,
    /// Further details: arguments, a value, a reason.
    pub detail: Option<String>,
    /// The key, of a call.
    pub key: Option<CallKey>,
    /// Milliseconds that its provider took, of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// Actions that it caused, in order.
    pub children: Vec<ActionNode>,
}

/// Kind of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    /// The run.
    Plan,
    /// A step, or a further try of one.
    Step,
    /// A checkpoint that was passed.
    Checkpoint,
    /// A call of a capability.
    Call,
    /// The kernel's ruling on it.
    Ruling,
    /// A task that was delegated for it.
    Task,
    /// Its result.
    Answer,
}

/// A task of the ledger that a call began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelegatedTask {
    /// The call.
    pub key: String,
    /// The task.
    pub task: TaskId,
    /// Executor that worked on it.
    pub executor: String,
    /// Last state in the journal.
    pub standing: String,
    /// State of the citations of its answer, in words, if it has any.
    pub citations: Option<String>,
}

/// Makes the tree of a run and of the tasks that its calls began. `is_running` says whether a process
/// holds its lock.
pub fn tree_of(state: &RunState, tasks: &[DelegatedTask], is_running: bool) -> ActionNode {
    let mut root = ActionNode {
        kind: ActionKind::Plan,
        name: state
            .started()
            .plan
            .clone()
            .unwrap_or_else(|| "program".to_owned()),
        standing: state.standing(is_running).to_owned(),
        detail: state.ended().and_then(|ended| shown(&ended.answer)),
        key: None,
        elapsed_ms: None,
        children: Vec::new(),
    };
    let mut attempts: BTreeMap<Vec<String>, u32> = BTreeMap::new();
    let mut calls = state.calls().iter().peekable();
    for (number, step) in state.steps().iter().enumerate() {
        while let Some(call) = calls.next_if(|call| call.after_steps <= number) {
            add_call(&mut root, call, tasks);
        }
        add_step(&mut root, step, &mut attempts);
    }
    for call in calls {
        add_call(&mut root, call, tasks);
    }
    let positions = state.calls().iter().filter_map(|call| {
        let position = call.intended.position.parse().ok()?;
        Some((call.intended.key, position))
    });
    arrange(&mut root, &positions.collect());
    root
}

/// Puts what an action caused in the order of the calls' positions, which is that of the source:
/// the order in which branches were answered means nothing. A step without calls stays behind the
/// action before it. Returns the first position in it.
///
/// Recurs as deep as steps nest, which the language bounds.
fn arrange(node: &mut ActionNode, positions: &BTreeMap<CallKey, Position>) -> Option<Position> {
    let own = node.key.and_then(|key| positions.get(&key).cloned());
    let mut last = None;
    let mut placed: Vec<(Option<Position>, ActionNode)> = Vec::new();
    for mut child in take(&mut node.children) {
        last = arrange(&mut child, positions).or(last);
        placed.push((last.clone(), child));
    }
    placed.sort_by(|(one, _), (other, _)| one.cmp(other));
    let first = placed.iter().find_map(|(position, _)| position.clone());
    node.children = placed.into_iter().map(|(_, child)| child).collect();
    own.or(first)
}

fn add_step(root: &mut ActionNode, step: &StepRecord, attempts: &mut BTreeMap<Vec<String>, u32>) {
    let ended_before = step.attempt.filter(|_| step.change == "retrying");
    if let Some(attempt) = ended_before {
        "failed".clone_into(&mut step_node(root, &names(&step.path, attempts)).standing);
        attempts.insert(step.path.clone(), attempt);
    }
    let node = step_node(root, &names(&step.path, attempts));
    match step.change.as_str() {
        "started" | "retrying" => "running".clone_into(&mut node.standing),
        "checkpoint" => node.children.push(ActionNode {
            kind: ActionKind::Checkpoint,
            name: step.what.clone().unwrap_or_default(),
            standing: "passed".to_owned(),
            detail: None,
            key: None,
            elapsed_ms: None,
            children: Vec::new(),
        }),
        change => {
            change.clone_into(&mut node.standing);
            node.detail.clone_from(&step.what);
        }
    }
}

/// The names of a step and those around it, each with its try as calls have it: `review#2`.
fn names(path: &[String], attempts: &BTreeMap<Vec<String>, u32>) -> Vec<String> {
    let named = (1..=path.len()).map(|depth| {
        let name = &path[depth - 1];
        match attempts.get(&path[..depth]) {
            Some(attempt) => format!("{name}#{attempt}"),
            None => name.clone(),
        }
    });
    named.collect()
}

/// The node of a step, made where it is missing.
fn step_node<'a>(root: &'a mut ActionNode, names: &[String]) -> &'a mut ActionNode {
    let mut node = root;
    for name in names {
        let found = node
            .children
            .iter()
            .rposition(|child| child.kind == ActionKind::Step && child.name == *name);
        let at = found.unwrap_or_else(|| {
            node.children.push(ActionNode {
                kind: ActionKind::Step,
                name: name.clone(),
                standing: "running".to_owned(),
                detail: None,
                key: None,
                elapsed_ms: None,
                children: Vec::new(),
            });
            node.children.len() - 1
        });
        node = &mut node.children[at];
    }
    node
}

fn add_call(root: &mut ActionNode, call: &CallState, tasks: &[DelegatedTask]) {
    let key = call.intended.key.to_string();
    let ruling = call.ruled.as_ref().map(|ruled| ActionNode {
        kind: ActionKind::Ruling,
        name: match ruled.ruling {
            RulingWord::Approved => "approved",
            RulingWord::Asked => "asked",
            RulingWord::Denied => "denied",
            RulingWord::Withdrawn => "withdrawn",
        }
        .to_owned(),
        standing: ruled.policies.join(", "),
        detail: Some(ruled.reason.clone()),
        key: None,
        elapsed_ms: None,
        children: Vec::new(),
    });
    let delegated = tasks.iter().filter(|task| task.key == key);
    let delegated = delegated.map(|task| ActionNode {
        kind: ActionKind::Task,
        name: task.task.to_string(),
        standing: task.standing.clone(),
        detail: Some(match &task.citations {
            Some(citations) => format!("by {}; {citations}", task.executor),
            None => format!("by {}", task.executor),
        }),
        key: None,
        elapsed_ms: None,
        children: Vec::new(),
    });
    let answer = match &call.standing {
        CallStanding::Answered(answered) => Some(ActionNode {
            kind: ActionKind::Answer,
            name: match answered.answer.failure {
                Some(_) => "failure",
                None => "value",
            }
            .to_owned(),
            standing: match (call.is_by_person, answered.found) {
                (true, _) => "said",
                (false, true) => "found",
                (false, false) => "made",
            }
            .to_owned(),
            detail: shown(&answered.answer),
            key: None,
            elapsed_ms: Some(answered.spent.elapsed_ms),
            children: Vec::new(),
        }),
        _ => None,
    };
    let node = ActionNode {
        kind: ActionKind::Call,
        name: format!(":{}", call.intended.capability),
        standing: call.standing.as_str().to_owned(),
        detail: Some(text(&call.intended.arguments)),
        key: Some(call.intended.key),
        elapsed_ms: None,
        children: ruling.into_iter().chain(delegated).chain(answer).collect(),
    };
    step_node(root, &call.intended.steps).children.push(node);
}

fn shown(answer: &Answer) -> Option<String> {
    match (&answer.value, &answer.failure) {
        (Some(value), _) => Some(text(value)),
        (None, Some(failure)) => Some(format!("{}: {}", failure.kind, failure.message)),
        (None, None) => None,
    }
}

fn text(kept: &KeptText) -> String {
    match (&kept.text, &kept.sha256) {
        (Some(text), _) => text.clone(),
        (None, Some(hash)) => format!("kept under {hash}"),
        (None, None) => String::new(),
    }
}
