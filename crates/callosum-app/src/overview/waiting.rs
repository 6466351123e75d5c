//! Items of an overview that wait for a person: dialogs of agents, dead letters, conflicts, and commands that the guard asked about.

use callosum_mesh::board::{Board, Receipt};
use callosum_mesh::conflict::{ConflictSide, ConflictStore};
use callosum_panes::State;
use jiff::{SignedDuration, Timestamp};

use super::argv::command;
use super::{AgentOutput, DecisionOutput, WaitingItemOutput, age, beginning};
use crate::context::Context;
use crate::{CommandError, disk_errors};

/// Most items in an overview.
const MOST: usize = 200;

/// Age at which a question of the guard is no longer listed: the agent has gone on with something else.
const LATELY: SignedDuration = SignedDuration::from_mins(60);

/// Orders items by age, and cuts the list.
pub(super) fn oldest_first(mut items: Vec<WaitingItemOutput>) -> Vec<WaitingItemOutput> {
    items.sort_by_key(|item| std::cmp::Reverse(item.age_seconds));
    items.truncate(MOST);
    items
}

/// Returns the agents whose dialog waits for a person. Only that person can answer it, in the agent's terminal.
pub(super) fn blocked_agents(agents: &[AgentOutput]) -> Vec<WaitingItemOutput> {
    let blocked = agents
        .iter()
        .filter(|agent| agent.state == State::BlockedOnApproval.name());
    blocked
        .map(|agent| {
            let id = agent.pane.as_ref().unwrap_or(&agent.name);
            WaitingItemOutput {
                kind: "agent_blocked",
                id: id.clone(),
                title: format!("{} waits for an answer in {id}", agent.name),
                detail: agent.detail.clone(),
                agent: Some(agent.name.clone()),
                since: agent.since.clone().unwrap_or_default(),
                age_seconds: agent.age_seconds.unwrap_or_default(),
                commands: agent.commands.clone(),
            }
        })
        .collect()
}

/// Returns the messages that could not be delivered.
pub(super) fn dead_letters(board: &Board, now: Timestamp) -> Vec<WaitingItemOutput> {
    let dead = board.messages.iter().filter(|message| {
        message.receipt == Some(Receipt::Dead) && !message.is_notice_to_session()
    });
    dead.map(|message| {
        let id = message.id.as_str();
        WaitingItemOutput {
            kind: "dead_letter",
            id: message.id.clone(),
            title: beginning(&format!(
                "message from {} to {} was not delivered: {}",
                message.from, message.to, message.content
            )),
            detail: message.evidence.as_deref().map(beginning),
            agent: Some(message.to.to_string()),
            since: message.timestamp.to_string(),
            age_seconds: age(message.timestamp, now),
            commands: vec![
                command("retry", &["mesh", "message", "retry", "--", id]),
                command("drop", &["mesh", "message", "drop", "--", id]),
            ],
        }
    })
    .collect()
}

/// Returns the open conflicts. Costs one look at a folder if there are none.
pub(super) fn conflicts(
    context: &Context,
    now: Timestamp,
) -> Result<Vec<WaitingItemOutput>, CommandError> {
    let store = ConflictStore::new(&context.disk, &context.project.homes.conflicts());
    let open = store
        .open()
        .map_err(|error| disk_errors::disk_failed(&error))?;
    let items = open.iter().map(|conflict| {
        let id = conflict.id.as_str();
        let [first, second] = ConflictSide::BOTH.map(|place| conflict.name(place));
        WaitingItemOutput {
            kind: "mesh_conflict",
            id: conflict.id.clone(),
            title: beginning(&format!("{first} and {second} both edit {}", conflict.path)),
            detail: Some(beginning(&conflict.proposal.reason)),
            agent: Some(second),
            since: conflict.opened_at.to_string(),
            age_seconds: age(conflict.opened_at, now),
            commands: vec![
                command("resolve", &["mesh", "conflicts", "resolve", "--", id]),
                command(
                    "keep",
                    &["mesh", "conflicts", "resolve", "--keep", "--", id],
                ),
                command("show", &["mesh", "conflicts", "show", "--", id]),
            ],
        }
    });
    Ok(items.collect())
}

/// Returns the commands that the guard asked about within the last hour, each once, without those that a person has permitted
/// since. `decisions` are the newest first.
pub(super) fn asked_lately(decisions: &[DecisionOutput], now: Timestamp) -> Vec<WaitingItemOutput> {
    let mut seen: Vec<&str> = Vec::new();
    let mut items = Vec::new();
    for decision in decisions {
        if now.duration_since(decision.time) > LATELY {
            break;
        }
        let Some(line) = decision.command.as_deref() else {
            continue;
        };
        if seen.contains(&line) || !matches!(&*decision.verdict, "asked" | "permitted") {
            continue;
        }
        seen.push(line);
        if decision.verdict == "permitted" {
            continue;
        }
        let rule = decision.rule.as_deref().unwrap_or("the guard");
        items.push(WaitingItemOutput {
            kind: "guard_asked",
            id: decision.id.clone(),
            title: format!("{rule} asks about: {line}"),
            detail: decision.reason.clone(),
            agent: decision.agent.clone(),
            since: decision.at.clone(),
            age_seconds: decision.age_seconds,
            commands: decision.commands.clone(),
        });
    }
    items
}
