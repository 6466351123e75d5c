//! `callosum plan check`: all that the compiler has against a program, without running it.

use callosum_arbiter::kernel::{Catalogue, Provenance};
use callosum_plan::{
    Allowlist, CompileOptions, Finding, Program, Rejection, Unbounded, YieldBound, compile,
};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    call_check::{CallFaults, CallWarning, check_calls},
    carry::{names, with_hint_of_provided},
    proposal::{self, RejectionOutput},
    source::{FindingOutput, Source, SourceArgs, source_of},
};
use crate::{
    cli::{GlobalArgs, capability, context::Context, roster::Roster},
    ui::{CommandError, Exit, Ui, many},
};
use callosum_config::Environment;

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

/// What `plan check --json` prints.
#[derive(Debug, JsonSchema, Serialize)]
pub(in crate::cli) struct PlanCheckOutput {
    /// Whether the program may run.
    ok: bool,
    /// The plan's name, where it is one.
    plan: Option<String>,
    /// The plan's parameters in their order.
    parameters: Vec<String>,
    /// The capabilities that it may call, in their normal form.
    capabilities: Vec<String>,
    /// Whether it was looked up who provides them, which takes a project.
    providers_resolved: bool,
    /// Those of them that would fail if they were called now, since who provides them can't be asked.
    not_ready: Vec<NotReadyOutput>,
    /// How many calls it may make; null where that depends on values, or it may not run.
    max_calls: Option<u64>,
    /// The names of its steps, in the order of the source.
    steps: Vec<String>,
    /// Calls that may not do what the plan means. They do not keep it from running.
    warnings: Vec<CallWarning>,
    /// What is wrong with it.
    findings: Vec<FindingOutput>,
    /// Why what a model handed in is refused.
    rejections: Vec<RejectionOutput>,
    /// The source of what a model handed in, where it makes a plan.
    source: Option<String>,
}

/// A capability whose provider can't be asked as it stands.
#[derive(Debug, JsonSchema, Serialize)]
struct NotReadyOutput {
    /// The capability.
    capability: String,
    /// Why, as `executor `codex` is inactive: …`.
    why: String,
}

/// Which of a program's capabilities are an executor's, or a server's, that can't be asked as it stands.
fn not_ready(
    here: Option<(&Context, &Catalogue)>,
    program: &Program,
) -> Result<Vec<NotReadyOutput>, CommandError> {
    let Some((context, catalogue)) = here else {
        return Ok(Vec::new());
    };
    let roster = Roster::load(context)?;
    let mut found = Vec::new();
    for name in program.capabilities() {
        let provenance = catalogue.get(name).map(|manifest| &manifest.provenance);
        let Some(Provenance::Executor(id) | Provenance::ToolServer(id)) = provenance else {
            continue;
        };
        if let Err(error) = roster.usable(id) {
            found.push(NotReadyOutput {
                capability: name.to_string(),
                why: error.one_line(),
            });
        }
    }
    Ok(found)
}

/// Compiles a program and checks its calls against what is provided here.
fn checked(
    here: Option<(&Context, &Catalogue)>,
    source: &Source,
    options: &CompileOptions,
) -> Result<(Program, Vec<CallWarning>), Vec<Finding>> {
    let program = compile(&source.text, options)?;
    let faults = match here {
        Some((context, catalogue)) => check_calls(context, catalogue, &program, source),
        None => CallFaults::default(),
    };
    if faults.findings.is_empty() {
        Ok((program, faults.warnings))
    } else {
        Err(faults.findings)
    }
}

/// Checks against what is provided in the project that this is run in, where there is one.
///
/// A configuration that can't be read keeps nobody from checking a program.
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
        let taken = proposal::taken(&source, allowed.as_ref(), args.max_calls, unbounded);
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
            proposal::record(context, &source, reasons)?;
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
            let told = wrong(&source, &findings, providers_resolved, ui);
            let is_proposal = serde_json::from_str::<serde_json::Value>(&source.text)
                .is_ok_and(|json| json.get("constraints").is_some());
            told.map_err(|error| {
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

/// Tells why what a model handed in makes no plan, and puts it on record where there is a project.
fn refused(
    context: Option<&Context>,
    source: &Source,
    rejections: &[Rejection],
    providers_resolved: bool,
    ui: Ui,
) -> Result<(), CommandError> {
    if let Some(context) = context {
        let reasons = rejections
            .iter()
            .map(|one| (one.path.as_str(), one.rule, one.message.as_str()));
        proposal::record(context, source, reasons)?;
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

impl PlanCheckOutput {
    /// What is told where there is no program that may run.
    fn none(providers_resolved: bool) -> Self {
        Self {
            ok: false,
            plan: None,
            parameters: Vec::new(),
            capabilities: Vec::new(),
            providers_resolved,
            not_ready: Vec::new(),
            max_calls: None,
            steps: Vec::new(),
            warnings: Vec::new(),
            findings: Vec::new(),
            rejections: Vec::new(),
            source: None,
        }
    }
}

fn described(program: &Program, providers_resolved: bool) -> PlanCheckOutput {
    PlanCheckOutput {
        ok: true,
        plan: program.plan().map(str::to_owned),
        parameters: program
            .parameters()
            .iter()
            .map(|parameter| parameter.name().to_owned())
            .collect(),
        capabilities: program.capabilities().map(ToString::to_string).collect(),
        providers_resolved,
        not_ready: Vec::new(),
        max_calls: match program.yields() {
            YieldBound::AtMost(count) => Some(count),
            YieldBound::Unbounded => None,
        },
        steps: program
            .steps()
            .iter()
            .map(|step| step.id.to_string())
            .collect(),
        warnings: Vec::new(),
        findings: Vec::new(),
        rejections: Vec::new(),
        source: None,
    }
}

fn text(output: &PlanCheckOutput) -> String {
    let what = match &output.plan {
        Some(name) => format!("plan {name} ({})", output.parameters.join(" ")),
        None => "program".to_owned(),
    };
    let calls = match output.max_calls {
        Some(0) => "makes no calls".to_owned(),
        Some(count) => format!("makes at most {}", many(count, "call")),
        None => "makes a number of calls that depends on its values".to_owned(),
    };
    let mut lines = vec![format!("{what}: may run, {calls}")];
    lines.extend(
        output
            .capabilities
            .iter()
            .map(|name| format!("  calls :{name}")),
    );
    if !output.providers_resolved && !output.capabilities.is_empty() {
        lines.push("  not in a project: whether these are provided was not checked".to_owned());
    }
    lines.extend(output.steps.iter().map(|id| format!("  step {id}")));
    lines.join("\n") + "\n"
}
