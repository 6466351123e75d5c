//! When each client last asked the guard's hook, sessions that ran commands without asking it, and what hooks cost.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::doctor::heartbeat`].

use std::collections::{BTreeMap, BTreeSet};

use callosum_app::doctor::heartbeat::{LOOKED_AT, has_doubts, registered_since, unasked};
use callosum_app::doctor::{Checks, Outcome};
use callosum_app::{CommandError, Exit, many};
use clap::ValueEnum as _;
use jiff::Timestamp;

use crate::cli::client_settings::ClientName;
use crate::cli::context::Context;
use crate::cli::guard::each_decision;
use crate::cli::hook_tokens;
use crate::cli::local_time::LocalTime;

/// Decisions of the last days.
#[derive(Default)]
struct Decisions {
    /// The last of each client, with its session.
    last: BTreeMap<String, (Timestamp, Option<String>)>,
    /// The sessions that have asked.
    sessions: BTreeSet<String>,
    /// Clients with decisions that name no session.
    unnamed: BTreeSet<String>,
}

impl Decisions {
    fn read(context: &Context, since: Timestamp) -> Result<Self, CommandError> {
        let mut found = Self::default();
        each_decision(context, Some(since), true, |at, decision| {
            let Some(client) = decision.client else {
                return;
            };
            match &decision.session_id {
                Some(session) => found.sessions.insert(session.clone()),
                None => found.unnamed.insert(client.clone()),
            };
            let last = found.last.entry(client).or_insert((at, None));
            if at >= last.0 {
                *last = (at, decision.session_id);
            }
        })?;
        Ok(found)
    }
}

/// Says what hooks added to models' contexts, if anything was.
pub(super) fn check_tokens(context: &Context, times: &LocalTime, checks: &mut Checks) {
    const NAME: &str = "hook tokens";
    match hook_tokens::gather(context, times) {
        Ok(added) => {
            if let Some(line) = hook_tokens::line(&added) {
                checks.add(NAME, Outcome::Ok, format!("hooks {line}"), None);
            }
        }
        Err(error) => {
            let found = CommandError::from_error(Exit::No, &error).one_line();
            checks.add(NAME, Outcome::Warning, found, None);
        }
    }
}

pub(super) fn check(context: &Context, checks: &mut Checks) {
    let names = ClientName::value_variants().iter();
    let registered: Vec<_> = names
        .filter_map(|name| Some((name.client(), registered_since(context, name.client())?)))
        .collect();
    if registered.is_empty() {
        return;
    }
    let since = context.clock.now() - LOOKED_AT;
    let decisions = match Decisions::read(context, since) {
        Ok(decisions) => decisions,
        // What is wrong with a journal is a check of its own.
        Err(error) => {
            checks.add("guard, heartbeat", Outcome::Warning, error.one_line(), None);
            return;
        }
    };
    let guard = context.project.guard(&context.disk);
    let records_all = guard.broken.is_empty() && guard.config.safety.audit_all_commands;
    for (client, registered) in registered {
        let name = format!("guard of {}, heartbeat", client.program);
        let found = match decisions.last.get(client.program) {
            Some((at, Some(session))) => format!("last hook call at {at}, in session {session}"),
            Some((at, None)) => format!("last hook call at {at}"),
            None => "no hook call in the last 7 days".to_owned(),
        };
        // Nothing is certain without a record of what was allowed, of sessions without a name, and of a client whose
        // settings keep it from asking about some tools: that is a problem of its own.
        let is_certain = records_all
            && !decisions.unnamed.contains(client.program)
            && !has_doubts(context, client);
        let from = since.max(registered);
        let unasked = if is_certain {
            unasked(context, client, from, &decisions.sessions)
        } else {
            Ok(Vec::new())
        };
        match unasked {
            Ok(sessions) => match sessions.first() {
                None => checks.add(&name, Outcome::Ok, found, None),
                Some(newest) => {
                    let others = match sessions.len() - 1 {
                        0 => String::new(),
                        others => format!(", as did {}", many(others as u64, "other session")),
                    };
                    let found = format!(
                        "session {} ran {} since {} without calling the hook{others}: end it and start {} \
                         with hooks on; {found}",
                        newest.sessions.join(" "),
                        many(newest.count, "command"),
                        newest.began,
                        client.program,
                    );
                    checks.add(&name, Outcome::Warning, found, Some(client.program));
                }
            },
            Err(error) => {
                let found = CommandError::from_error(Exit::No, &error).one_line();
                checks.add(&name, Outcome::Warning, found, None);
            }
        }
    }
}
