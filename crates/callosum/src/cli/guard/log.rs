//! Arguments and output of `callosum guard log`.
//!
//! The use case is [`callosum_app::guard::log`].

use std::collections::{BTreeSet, VecDeque};
use std::ops::ControlFlow;
use std::time::Duration;

use callosum_app::guard::log::{MOST_LACKS, id};
use callosum_app::time_arg::TimeArg;
use callosum_app::{CommandError, audit, disk_errors};
use callosum_host::Disk;
use callosum_ledger::{
    AuditEvent, AuditQuery, AuditReader, AuditRecord, Event, Journal, LedgerPaths, waiting,
};
use callosum_metrics::GuardDecision;
use callosum_redact::terminal_escape::on_one_line;
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::cli::context::Context;
use crate::ui::Table;

/// Print the guard's decisions, oldest first
///
/// Reads the project's journal. From the machine's journal, it also reads decisions about this tree, made before the
/// project was set up. Includes decisions not yet written because the journal was locked or read-only.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum guard log
  $ callosum guard log --verdict blocked -n 5
  $ callosum guard log --rule git --since 2026-01-02T00:00:00Z --json")]
pub(crate) struct LogArgs {
    /// Print at most N decisions, the latest ones
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Only decisions with this verdict
    #[arg(long, value_enum)]
    verdict: Option<VerdictName>,
    /// Only decisions by this rule, or by rules whose names begin with RULE
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
    /// Only records since TIME: a date, a time (UTC) or an age (30m, 2h, 7d, 2w)
    #[arg(long, value_name = "TIME", value_parser = TimeArg::read)]
    since: Option<TimeArg>,
    /// Include the machine journal's records about other folders
    #[arg(long)]
    all_projects: bool,
}

/// Verdict of a decision, as records spell it.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum VerdictName {
    /// The command was allowed to run
    Allowed,
    /// The command ran without a prompt by the client
    AutoAllowed,
    /// A person was asked, or the command was denied because no one could be
    Asked,
    /// The command was denied
    Blocked,
    /// A person permitted a command
    Permitted,
    /// A person revoked a permission
    Revoked,
}

impl VerdictName {
    const fn as_str(self) -> &'static str {
        match self {
            // Which of them ran without a prompt has a field of its own.
            Self::Allowed | Self::AutoAllowed => "allowed",
            Self::Asked => "asked",
            Self::Blocked => "blocked",
            Self::Permitted => "permitted",
            Self::Revoked => "revoked",
        }
    }
}

/// `callosum guard log --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct LogOutput {
    /// The decisions, oldest first.
    pub(crate) decisions: Vec<DecisionOutput>,
}

/// One decision.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub(crate) struct DecisionOutput {
    /// When, in UTC.
    pub(crate) timestamp: String,
    /// The client; nothing if a person permitted something.
    pub(crate) client: Option<String>,
    /// `allowed`, `asked`, `blocked`, `permitted`, `revoked` or `auto-allow` (a person changed it).
    pub(crate) verdict: String,
    /// The rule that decided.
    pub(crate) rule: Option<String>,
    /// The reason.
    pub(crate) reason: Option<String>,
    /// The command, secrets masked, or the pattern that was permitted.
    pub(crate) command: Option<String>,
    /// The alternative that a refusal named.
    pub(crate) alternative: Option<String>,
    /// The command that ran in its place.
    pub(crate) rewritten_to: Option<String>,
    /// The files that were to be written.
    pub(crate) paths: Vec<String>,
    /// The permissions that allowed it, by their ids.
    pub(crate) permitted: Vec<String>,
    /// Whether the client runs it without a prompt of its own.
    pub(crate) auto_allowed: bool,
    /// State of the snapshot: `begun`, `taken`, `late` or `failed`; none if not wanted.
    pub(crate) snapshot: Option<String>,
    /// The id of that snapshot, where it was taken before the answer.
    pub(crate) snapshot_id: Option<String>,
    /// Named files that the snapshot lacks: a restore does not bring them back.
    pub(crate) snapshot_missing: Vec<String>,
    /// Errors of the configuration at that time.
    pub(crate) configuration: Vec<String>,
    /// The tool.
    pub(crate) tool: Option<String>,
    /// The session, as the client names it.
    pub(crate) session_id: Option<String>,
    /// The agent within the session, as the client names it.
    pub(crate) agent_id: Option<String>,
    /// Microseconds from the start of the hook to the record.
    pub(crate) took_us: Option<u64>,
    /// The root of the tree that it was about.
    pub(crate) root: Option<String>,
}

impl DecisionOutput {
    pub(super) fn of(record: AuditRecord) -> (Timestamp, Self) {
        let at = record.timestamp;
        let event = AuditEvent {
            executor: record.executor,
            status: record.status,
            details: record.details,
            ..AuditEvent::new(Event::Guard)
        };
        (at, Self::of_event(&event, at))
    }

    pub(super) fn of_event(event: &AuditEvent, at: Timestamp) -> Self {
        let details = &event.details;
        let text = |key: &str| details.get(key).and_then(Value::as_str).map(str::to_owned);
        let list = |key: &str| {
            let list = details.get(key).and_then(Value::as_array);
            let texts = list.into_iter().flatten().filter_map(Value::as_str);
            texts.map(str::to_owned).collect()
        };
        let root = details.get("facts").and_then(|facts| facts.get("root"));
        Self {
            timestamp: at.to_string(),
            client: event.executor.clone(),
            verdict: event.status.clone().unwrap_or_default(),
            rule: text("rule"),
            reason: text("reason"),
            command: text("command").or_else(|| text("pattern")),
            alternative: text("alternative"),
            rewritten_to: text("rewritten_to"),
            paths: list("paths"),
            permitted: list("permitted"),
            auto_allowed: details.get("auto_allowed") == Some(&Value::Bool(true)),
            snapshot: text("snapshot"),
            snapshot_id: text("snapshot_id"),
            snapshot_missing: list("snapshot_lacks"),
            configuration: list("configuration"),
            tool: text("tool"),
            session_id: text("session_id"),
            agent_id: text("agent_id"),
            took_us: details.get("took_us").and_then(Value::as_u64),
            root: root.and_then(Value::as_str).map(str::to_owned),
        }
    }

    /// Returns what metrics count of it.
    pub(super) fn counted(&self, at: Timestamp) -> GuardDecision<'_> {
        let operation = match (&self.command, self.paths.is_empty()) {
            (Some(_), _) => "command",
            (None, false) => "write",
            (None, true) => "event",
        };
        GuardDecision {
            at,
            session: self
                .agent_id
                .as_deref()
                .or(self.session_id.as_deref())
                .unwrap_or_default(),
            operation,
            verdict: &self.verdict,
            rule: self.rule.as_deref().unwrap_or_default(),
            command: self.command.as_deref(),
            alternative: self.alternative.as_deref(),
            is_auto_allowed: self.auto_allowed,
            took: self.took_us.map(Duration::from_micros),
        }
    }

    fn fits(&self, args: &LogArgs) -> bool {
        let is_so = args.verdict.is_none_or(|wanted| {
            let is_spared = !matches!(wanted, VerdictName::AutoAllowed) || self.auto_allowed;
            wanted.as_str() == self.verdict && is_spared
        });
        is_so
            && args.rule.as_deref().is_none_or(|wanted| {
                let rule = self.rule.as_deref().unwrap_or_default();
                let rest = rule.strip_prefix(wanted);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
    }

    /// The verdict for people.
    fn shown_verdict(&self) -> String {
        if self.rewritten_to.is_some() {
            return "rewritten".to_owned();
        }
        if self.auto_allowed {
            return "auto-allowed".to_owned();
        }
        self.verdict.clone()
    }

    /// Returns the snapshot by which its losses can be restored.
    fn kept(&self) -> String {
        let id = self.snapshot_id.as_deref();
        // As many characters as tell snapshots apart for people.
        let id = id.map(|id| id.chars().take(8).collect());
        id.or_else(|| self.snapshot.clone())
            .unwrap_or_else(|| "-".to_owned())
    }

    /// Returns its permanent losses, on one line.
    fn not_kept(&self) -> Option<String> {
        let lacks: Vec<String> = self
            .snapshot_missing
            .iter()
            .take(MOST_LACKS)
            .map(|path| on_one_line(path))
            .collect();
        let more = match self.snapshot_missing.len() - lacks.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (!lacks.is_empty()).then(|| format!("not in {}: {}{more}", self.kept(), lacks.join(" ")))
    }

    /// Returns its subject, on one line.
    fn about(&self) -> String {
        const WIDTH: usize = 60;
        let about = match (&self.command, &self.rewritten_to) {
            (Some(command), Some(other)) => format!("{command} -> {other}"),
            (Some(command), None) => command.clone(),
            (None, _) => self.paths.join(" "),
        };
        let line = on_one_line(&about);
        if line.chars().count() <= WIDTH {
            return line;
        }
        line.chars().take(WIDTH - 1).chain(['…']).collect()
    }
}

pub(super) fn run(context: &Context, args: &LogArgs) -> Result<(), CommandError> {
    let mut last: VecDeque<(Timestamp, DecisionOutput)> = VecDeque::new();
    let since = args.since.map(|since| since.first(context.clock.now()));
    each(context, since, args.all_projects, |at, decision| {
        if args.limit == 0 || !decision.fits(args) {
            return;
        }
        // Two journals are read one after the other; each is in order but for a clock put back.
        let behind = last.iter().rposition(|(before, _)| *before <= at);
        last.insert(behind.map_or(0, |place| place + 1), (at, decision));
        if last.len() > args.limit {
            last.pop_front();
        }
    })?;
    let decisions: Vec<_> = last.into_iter().map(|(_, decision)| decision).collect();
    if context.ui.json {
        return context.ui.json_data(&LogOutput { decisions });
    }
    if decisions.is_empty() {
        context.report.say("no decision matches");
        return Ok(());
    }
    let mut table = Table::new(&["time", "client", "verdict", "rule", "snapshot", "about"]);
    for decision in &decisions {
        let or_dash = |text: &Option<String>| match text {
            Some(text) => on_one_line(text),
            None => "-".to_owned(),
        };
        table.row([
            decision.timestamp.clone(),
            or_dash(&decision.client),
            decision.shown_verdict(),
            or_dash(&decision.rule),
            decision.kept(),
            decision.about(),
        ]);
    }
    context.ui.data(&table.render())?;
    for lack in decisions.iter().filter_map(DecisionOutput::not_kept) {
        context.report.say(&lack);
    }
    let mut newest = decisions.iter().rev();
    if let Some(kept) = newest.find_map(|decision| decision.snapshot_id.as_deref()) {
        let hint = format!(
            "restore the snapshot from before the last of them: callosum snapshot \
                restore {kept}"
        );
        context.report.hint(&hint);
    }
    Ok(())
}

/// Passes every decision about this tree to `take`: those of the machine's journal, then the
/// project's.
pub(crate) fn each(
    context: &Context,
    since: Option<Timestamp>,
    everywhere: bool,
    mut take: impl FnMut(Timestamp, DecisionOutput),
) -> Result<(), CommandError> {
    let tree = context.tree().to_string_lossy();
    let machine = Journal::Machine(context.project.homes.journal()).paths();
    let journals: [(LedgerPaths, bool); 2] =
        [(machine, everywhere), (context.ledger_paths(), true)];
    let query = AuditQuery {
        event: Some(Event::Guard),
        since,
        ..AuditQuery::default()
    };
    for (paths, takes_all) in journals {
        let mut take = |at, decision: DecisionOutput| {
            let is_here = decision.root.as_deref().is_none_or(|root| root == tree);
            if takes_all || is_here {
                take(at, decision);
            }
        };
        let reader = each_of(&context.disk, paths, &query, &mut take)?;
        audit::tell_unreadable(context, &reader);
    }
    Ok(())
}

/// Passes every decision of one journal to `take`. The returned reader knows the parts that could
/// not be read.
pub(super) fn each_of(
    disk: &Disk,
    paths: LedgerPaths,
    query: &AuditQuery,
    take: &mut dyn FnMut(Timestamp, DecisionOutput),
) -> Result<AuditReader, CommandError> {
    // Before the journal is read: an event that moves into it in between would be in neither
    // otherwise.
    let waiting = waiting(disk, &paths).map_err(|error| disk_errors::disk_failed(&error))?;
    let is_guard = |event: &AuditEvent| event.event == Event::Guard;
    let is_late = |at: &Timestamp| query.since.is_none_or(|since| *at >= since);
    let mut taken_over: BTreeSet<String> = BTreeSet::new();
    let reader = AuditReader::new(disk.clone(), paths);
    reader
        .query(query, |record| {
            taken_over.extend(id(&record.details));
            let (at, decision) = DecisionOutput::of(record);
            take(at, decision);
            ControlFlow::Continue(())
        })
        .map_err(|error| audit::unreadable(&error))?;
    for (event, at) in &waiting {
        let is_in_both = id(&event.details).is_some_and(|id| taken_over.contains(&id));
        if is_guard(event) && is_late(at) && !is_in_both {
            take(*at, DecisionOutput::of_event(event, *at));
        }
    }
    Ok(reader)
}
