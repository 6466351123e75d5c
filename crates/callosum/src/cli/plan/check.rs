//! Arguments and output of `callosum plan check`.
//!
//! The use case is [`callosum_app::plan::check`].

use callosum_app::plan::check::{PlanCheckOutput, checked, described, not_ready, text};
use callosum_app::plan::drive::{names, with_hint_of_provided};
use callosum_app::plan::proposal::RejectionOutput;
use callosum_app::plan::source::Source;
use callosum_app::{CommandError, Exit, capability, many};
use callosum_config::Environment;
use callosum_plan::{Allowlist, CompileOptions, Finding, Rejection, Unbounded};
use clap::Args;

use super::proposal;
use super::source::{SourceArgs, source_of};
use crate::cli::context::Context;
use crate::cli::global_args::GlobalArgs;
use crate::ui::Ui;

/// Check a program without running it
///
/// Prints the capabilities that the program may call, and how often. If the program would be refused, prints every
/// reason with its place and a fix, and exits with 1. Nothing is evaluated.
///
/// In a project, a program is also refused if it calls a capability that no provider offers there, or passes a literal
/// argument that the provider refuses. Inside a `try` that catches the failure, such a call is allowed. The reasons
/// to refuse a proposal are recorded in the audit journal.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum plan check -e '(defplan p (n) (call :ledger.query {:limit n}))'
  $ callosum plan check -e '(call :fs.read \"README.md\")' --allow ':fs/*' --max-calls 3
  $ callosum plan check --proposal answer.json --allow ':fs/*' --max-calls 3")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Allow only capabilities that CAP names, as `:storage.read` or `:storage/*` (may be repeated)
    #[arg(long = "allow", value_name = "CAP")]
    allowed: Vec<String>,
    /// Read the source as the proposal of a model, in JSON
    ///
    /// A proposal has `plan_source` or `steps`, and its constraints. Its constraints may be stricter than --allow and
    /// --max-calls (1000 by default), but never wider.
    #[arg(long)]
    proposal: bool,
    /// Refuse a program that may make more than N calls
    #[arg(long, value_name = "N")]
    max_calls: Option<u64>,
    /// With --max-calls, refuse a program whose calls cannot be counted before it runs
    #[arg(long, requires = "max_calls")]
    refuse_unbounded: bool,
}

/// Checks against the providers of the current project, if there is one.
///
/// A configuration that can't be read does not prevent the check of a program.
pub(super) fn run(
    args: &CheckArgs,
    environment: &Environment,
    global: &GlobalArgs,
    ui: Ui,
) -> Result<(), CommandError> {
    let gathered = Context::gather(environment.clone(), global.directory.as_deref(), ui);
    match gathered.and_then(|context| Ok(context.is_prepared()?.then_some(context))) {
        Ok(context) => check(args, context.as_ref(), ui),
        Err(error) => {
            let what = format!(
                "cannot find out what is provided here: {}",
                error.one_line()
            );
            ui.warn(&what, None);
            check(args, None, ui)
        }
    }
}

pub(super) fn check(
    args: &CheckArgs,
    context: Option<&Context>,
    ui: Ui,
) -> Result<(), CommandError> {
    let context: Option<&callosum_app::context::Context> = context.map(|context| &**context);
    let source = source_of(&args.source)?;
    let allowed = match args.allowed.as_slice() {
        [] => None,
        entries => Some(Allowlist::parse(entries).map_err(|error| {
            CommandError::from_error(Exit::Usage, &error)
                .hint("write `--allow :storage.read` or `--allow ':storage/*'`")
        })?),
    };
    let catalogue = context.map(capability::catalogue).transpose()?;
    let provided = catalogue.as_ref().map(names);
    let here = context.zip(catalogue.as_ref());
    let providers_resolved = provided.is_some();
    let unbounded = if args.refuse_unbounded {
        Unbounded::Refuse
    } else {
        Unbounded::BoundWhenRun
    };
    if args.proposal {
        let taken = callosum_app::plan::proposal::taken(
            &source,
            allowed.as_ref(),
            args.max_calls,
            unbounded,
        );
        let plan = match taken {
            Ok(plan) => plan,
            Err(rejections) => {
                return refused(context, &source, &rejections, providers_resolved, ui);
            }
        };
        let options = CompileOptions {
            allowed: Some(plan.allowed),
            provided,
            max_yields: Some(plan.max_yields),
            unbounded,
            ..CompileOptions::default()
        };
        let made = Source::named(plan.source, source.name.clone());
        let findings = match checked(here, &made, &options) {
            Ok((program, warnings)) => {
                let output = PlanCheckOutput {
                    not_ready: not_ready(here, &program)?,
                    warnings,
                    source: Some(made.text),
                    ..described(&program, providers_resolved)
                };
                return shown(&output, ui);
            }
            Err(findings) => findings,
        };
        if let Some(context) = context {
            let reasons = findings
                .iter()
                .map(|one| ("", one.rule.as_str(), one.message.as_str()));
            callosum_app::plan::proposal::record(context, &source, reasons, None)?;
        }
        return wrong(&made, &findings, providers_resolved, ui);
    }
    let options = CompileOptions {
        allowed,
        provided,
        max_yields: args.max_calls,
        unbounded,
        ..CompileOptions::default()
    };
    match checked(here, &source, &options) {
        Ok((program, warnings)) => {
            let output = PlanCheckOutput {
                not_ready: not_ready(here, &program)?,
                warnings,
                ..described(&program, providers_resolved)
            };
            shown(&output, ui)
        }
        Err(findings) => {
            let reported = wrong(&source, &findings, providers_resolved, ui);
            let is_proposal = serde_json::from_str::<serde_json::Value>(&source.text)
                .is_ok_and(|json| json.get("constraints").is_some());
            reported.map_err(|error| {
                if is_proposal {
                    error.hint("this is a proposal of a model: callosum plan check --proposal")
                } else {
                    error
                }
            })
        }
    }
}

fn shown(output: &PlanCheckOutput, ui: Ui) -> Result<(), CommandError> {
    if ui.json {
        return ui.json_data(output);
    }
    ui.read_by_all(&text(output))?;
    for one in &output.warnings {
        ui.warn(&one.message, one.hint.as_deref());
    }
    for one in &output.not_ready {
        let what = format!("`:{}` would fail now: {}", one.capability, one.why);
        ui.warn(&what, Some("callosum executor list"));
    }
    Ok(())
}

/// Tells all that is wrong with a program.
fn wrong(
    source: &Source,
    findings: &[Finding],
    providers_resolved: bool,
    ui: Ui,
) -> Result<(), CommandError> {
    if ui.json {
        let findings = findings.iter().map(|one| source.finding_output(one));
        ui.json_data(&PlanCheckOutput {
            findings: findings.collect(),
            ..PlanCheckOutput::none(providers_resolved)
        })?;
        return Err(CommandError::told(Exit::No));
    }
    source.tell(findings, &ui);
    let count = many(findings.len() as u64, "reason");
    let what = format!("the program was rejected for {count}");
    let error = CommandError::new(Exit::No, what);
    Err(with_hint_of_provided(error, findings))
}

/// Reports why a model's proposal makes no plan, and records it if there is a project.
fn refused(
    context: Option<&callosum_app::context::Context>,
    source: &Source,
    rejections: &[Rejection],
    providers_resolved: bool,
    ui: Ui,
) -> Result<(), CommandError> {
    if let Some(context) = context {
        let reasons = rejections
            .iter()
            .map(|one| (one.path.as_str(), one.rule, one.message.as_str()));
        callosum_app::plan::proposal::record(context, source, reasons, None)?;
    }
    if ui.json {
        ui.json_data(&PlanCheckOutput {
            rejections: RejectionOutput::all(rejections, source),
            ..PlanCheckOutput::none(providers_resolved)
        })?;
        return Err(CommandError::told(Exit::No));
    }
    proposal::tell(rejections, source, ui);
    let count = many(rejections.len() as u64, "reason");
    let what = format!("the proposal was rejected for {count}");
    Err(CommandError::new(Exit::No, what))
}
