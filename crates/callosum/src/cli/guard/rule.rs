//! `callosum guard rule`: look up one rule of the guard, or set what it decides.

use std::{fmt::Write as _, time::Duration};

use callosum_guard::{Decision, current_id, is_fixed};
use callosum_ledger::{AuditEvent, Event};
use clap::{Args, ValueEnum};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    place::{StrictnessArgs, permissions},
    rules::{all, suggested},
};
use crate::{
    cli::{context::Context, explain, notice, time_span::time_span},
    ui::{CommandError, Exit},
};
use callosum_config::{Reach, RuleLevel};

/// Show a rule, or set its decision
///
/// Without LEVEL, prints what the rule covers and its decision here. With LEVEL, sets the decision, regardless of
/// strictness: for all projects, or with `--project` for this one. `default` removes the setting. The guard blocks this
/// command in an agent's shell. Rules that protect the guard itself cannot be lowered.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum guard rule git.reset-hard
  $ callosum guard rule git.reset-hard ask
  $ callosum guard rule docker-compose.data allow --project --for 10m
  $ callosum guard rule git.reset-hard default")]
pub(crate) struct RuleArgs {
    /// Id of the rule, as in `callosum guard rules`
    id: String,
    /// New decision of the rule
    #[arg(value_enum)]
    level: Option<Level>,
    /// Set the decision for this project only
    #[arg(long, requires = "level")]
    project: bool,
    /// Duration of the setting, such as 10m or 2h [default: until it is changed]
    #[arg(long = "for", value_name = "TIME", value_parser = time_span, requires = "level")]
    term: Option<Duration>,
}

/// Decision of a rule, as an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Level {
    /// Let matching commands run
    Allow,
    /// Ask a person before matching commands run
    Ask,
    /// Block matching commands
    Block,
    /// Decide by severity and strictness
    Default,
}

/// `callosum guard rule --json`, and each rule of `callosum guard rules --json`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(crate) struct RuleOutput {
    /// The rule's id.
    pub(crate) id: String,
    /// The decision of the rule here: `allow`, `ask` or `block`.
    pub(crate) decision: String,
    /// The decision that severity and strictness come to.
    pub(crate) default: String,
    /// Where a person has set the decision: `user` or `project`; absent if no one has.
    pub(crate) set_for: Option<String>,
    /// The end of the setting, in UTC; absent if it has none.
    pub(crate) until: Option<String>,
    /// Whether the rule protects the guard itself and cannot be lowered.
    pub(crate) fixed: bool,
    /// The reason that agents read.
    pub(crate) reason: String,
}

pub(super) fn run(context: &Context, args: &RuleArgs) -> Result<(), CommandError> {
    let rule = find(context, &args.id)?;
    let Some(level) = args.level else {
        return show(context, &rule);
    };
    refuse_agent(context)?;
    let reach = if args.project {
        Reach::Project
    } else {
        Reach::User
    };
    let decision = match level {
        Level::Allow => Some(Decision::Allow),
        Level::Ask => Some(Decision::Ask),
        Level::Block => Some(Decision::Block),
        Level::Default => None,
    };
    if let Some(decision) = decision
        && is_fixed(&rule.id)
        && decision.name() != "block"
    {
        let what = format!(
            "rule {} cannot be lowered: otherwise an agent could lift every other rule",
            rule.id
        );
        return Err(CommandError::new(Exit::No, what).hint("callosum guard rules"));
    }
    let now = context.clock.now();
    let level = decision.map(|decision| RuleLevel {
        rule: rule.id.clone(),
        decision,
        since: now,
        until: args.term.and_then(|term| after(now, term)),
    });
    let was_set = permissions(context)
        .set_level(reach, &rule.id, level.clone(), now)
        .map_err(|error| explain::permit(&error))?;
    if was_set || level.is_some() {
        record(context, &rule.id, reach, level.as_ref());
    }
    let rule = find(context, &rule.id)?;
    if context.ui.json {
        return context.ui.json_data(&rule);
    }
    let whose = match reach {
        Reach::Project => "in this project",
        Reach::User => "in all projects",
    };
    match &level {
        Some(_) => {
            let term = rule.until.as_deref().map(|until| format!(" until {until}"));
            context.report.say(&format!(
                "{}: {} {whose}{}",
                rule.id,
                rule.decision,
                term.unwrap_or_default()
            ));
            let flag = if args.project { " --project" } else { "" };
            context.report.hint(&format!(
                "undo: callosum guard rule {} default{flag}",
                rule.id
            ));
        }
        None if was_set => context
            .report
            .say(&format!("{}: {} {whose} (default)", rule.id, rule.decision)),
        None => {
            context.report.say(&format!("{}: not set {whose}", rule.id));
            if rule.set_for.is_some() {
                let flag = if args.project { "" } else { " --project" };
                context
                    .report
                    .hint(&format!("callosum guard rule {} default{flag}", rule.id));
            }
        }
    }
    Ok(())
}

/// Returns the rule of this id.
fn find(context: &Context, id: &str) -> Result<RuleOutput, CommandError> {
    let policy = StrictnessArgs::default().policy(context)?;
    let rules = all(context, &policy)?;
    let wanted = current_id(id);
    let suggestion = suggested(wanted, &rules);
    let found = rules.into_iter().find(|rule| rule.id == wanted);
    found.ok_or_else(|| {
        let error = CommandError::new(Exit::Usage, format!("there is no rule `{id}`"));
        match suggestion {
            Some(near) => error.hint(format!("callosum guard rule {near}")),
            None => error.hint("callosum guard rules"),
        }
    })
}

/// Fails in the shell of an agent: what it is allowed is not for the agent to say.
pub(super) fn refuse_agent(context: &Context) -> Result<(), CommandError> {
    let Some(agent) = crate::cli::mesh::agent_in(&context.environment) else {
        return Ok(());
    };
    let what = format!("{agent} cannot change what the guard decides");
    Err(CommandError::new(Exit::No, what).hint("run it in your own terminal"))
}

fn show(context: &Context, rule: &RuleOutput) -> Result<(), CommandError> {
    if context.ui.json {
        return context.ui.json_data(rule);
    }
    let mut text = format!("{}: {}\n", rule.id, rule.decision);
    let _ = writeln!(text, "  reason:  {}", rule.reason);
    if let Some(whose) = &rule.set_for {
        let term = rule
            .until
            .as_deref()
            .map(|until| format!(", until {until}"));
        let _ = writeln!(text, "  set for: {whose}{}", term.unwrap_or_default());
        let _ = writeln!(text, "  default: {}", rule.default);
    }
    if rule.fixed {
        text.push_str("  fixed:   protects the guard itself, cannot be lowered\n");
    }
    context.ui.data(&text)
}

fn after(now: Timestamp, term: Duration) -> Option<Timestamp> {
    let term = SignedDuration::try_from(term).ok()?;
    now.checked_add(term).ok()
}

/// Records what a person has changed. If that fails, the change holds all the same.
fn record(context: &Context, id: &str, reach: Reach, level: Option<&RuleLevel>) {
    let until = level
        .and_then(|level| level.until)
        .map(|until| until.to_string());
    let event = AuditEvent {
        status: Some("rule-level".to_owned()),
        ..AuditEvent::new(Event::Guard)
    }
    .with("rule", id)
    .with(
        "level",
        level.map_or("default", |level| level.decision.name()),
    )
    .with("scope", reach.as_str())
    .with("until", until.as_deref());
    notice::leave(context, &event);
}
