//! [`Selection`]: the calls that are to be undone, with the contents that their snapshots hold.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::undo::select`].

use std::collections::BTreeMap;
use std::fmt::Write as _;

use callosum_app::undo::select::Selection;
use callosum_app::undo::short;
use callosum_app::{CommandError, Exit, shell_word};
use callosum_client::undo::{Call, History};

use super::UndoArgs;

/// Selects the calls that the command line names: an entry, the last calls, or the last entry that was not undone.
pub(super) fn select(args: &UndoArgs, history: History) -> Result<Selection, CommandError> {
    let (agent, session) = (args.agent.as_deref(), args.session.as_deref());
    let entries = history.entries(agent, session);
    let nothing = || {
        let what = "nothing to undo";
        CommandError::new(Exit::No, what).hint("callosum undo --list")
    };
    let (calls, what, words) = if let Some(count) = args.limit {
        let last = history.calls.iter().rev().find(|call| {
            let own = call.session.as_deref().unwrap_or_default();
            call.targets.is_none()
                && !call.is_undone
                && agent.is_none_or(|agent| agent == call.agent)
                && session.is_none_or(|session| own.starts_with(session))
        });
        let agent = &last.ok_or_else(nothing)?.agent;
        let calls = history.last(agent, session, count.into());
        let mut words = format!("--agent {} --limit {count}", shell_word(agent));
        if let Some(session) = session {
            let _ = write!(words, " --session {}", shell_word(session));
        }
        let what = match calls.len() {
            1 => "the last call".to_owned(),
            count => format!("the last {count} calls"),
        };
        (calls, what, words)
    } else {
        let entry = if let Some(id) = &args.id {
            let mut fitting = entries
                .iter()
                .filter(|entry| !id.is_empty() && entry.id.starts_with(id.as_str()));
            let entry = fitting.next().ok_or_else(|| {
                let what = format!("no turn or undo `{id}` is recorded");
                CommandError::new(Exit::Usage, what).hint("callosum undo --list")
            })?;
            if fitting.next().is_some() {
                let what = format!("more than one turn or undo begins with `{id}`");
                return Err(CommandError::new(Exit::Usage, what).hint("callosum undo --list"));
            }
            entry
        } else {
            let mut last = entries.iter().rev().filter(|entry| !entry.is_undone);
            last.next().ok_or_else(nothing)?
        };
        let mut calls = entry.calls.clone();
        if !entry.is_undone {
            calls.retain(|at| !history.calls[*at].is_undone);
        }
        let kind = if entry.is_undo { "undo" } else { "turn" };
        let id = short(&entry.id);
        let what = match &args.id {
            Some(_) => format!("{kind} {id}"),
            None => format!("last {kind}"),
        };
        (calls, what, id)
    };
    let first: &Call = calls
        .first()
        .map(|at| &history.calls[*at])
        .ok_or_else(nothing)?;
    Ok(Selection {
        id: first.turn.as_deref().unwrap_or(first.id()).to_owned(),
        agent: first.agent.clone(),
        session: first.session.clone(),
        calls,
        what,
        words,
        history,
        contents: BTreeMap::new(),
    })
}
