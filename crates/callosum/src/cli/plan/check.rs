//! `callosum plan check`: all that the compiler has against a program, without running it.

use callosum_plan::{Allowlist, CompileOptions, Program, Unbounded, YieldBound, compile};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    carry::{provided, with_hint_of_provided},
    source::{FindingOutput, Source, SourceArgs},
};
use crate::{
    cli::{GlobalArgs, context::Context},
    config::Environment,
    ui::{CommandError, Exit, Ui, many},
};

/// Say what a program would do, or all that is wrong with it
///
/// Nothing is evaluated. Tells which capabilities the program may call and how often, or every
/// reason to refuse it, each with its place and what to write instead; the exit code is 1 then. In a
/// project, a call of what nobody provides there is such a reason, unless a `try` around it catches.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum plan check -e '(defplan p (n) (call :ledger.query {:limit n}))'
  $ callosum plan check -e '(call :fs.read \"README.md\")' --allow ':fs/*' --max-calls 3")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Allow no capabilities but those that CAP names, as `:storage.read` or `:storage/*`
    #[arg(long = "allow", value_name = "CAP")]
    allowed: Vec<String>,
    /// Refuse a program that may make more calls than N
    #[arg(long, value_name = "N")]
    max_calls: Option<u64>,
    /// With `--max-calls`, also refuse one whose calls can't be counted before it runs
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
    looked_up: bool,
    /// How many calls it may make; null where that depends on values, or it may not run.
    max_calls: Option<u64>,
    /// The names of its steps, in the order of the source.
    steps: Vec<String>,
    /// What is wrong with it.
    findings: Vec<FindingOutput>,
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
            let what = format!("what is provided here is not known: {}", error.one_line());
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
    let source = Source::of(&args.source)?;
    let allowed = match args.allowed.as_slice() {
        [] => None,
        entries => Some(Allowlist::parse(entries).map_err(|error| {
            CommandError::from_error(Exit::Usage, &error)
                .hint("write `--allow :storage.read` or `--allow ':storage/*'`")
        })?),
    };
    let provided = context.map(provided).transpose()?;
    let looked_up = provided.is_some();
    let options = CompileOptions {
        allowed,
        provided,
        max_yields: args.max_calls,
        unbounded: if args.refuse_unbounded {
            Unbounded::Refuse
        } else {
            Unbounded::BoundWhenRun
        },
        ..CompileOptions::default()
    };
    match compile(&source.text, &options) {
        Ok(program) if ui.json => ui.json_data(&described(&program, looked_up)),
        Ok(program) => ui.read_by_all(&text(&described(&program, looked_up))),
        Err(findings) if ui.json => {
            ui.json_data(&PlanCheckOutput {
                ok: false,
                plan: None,
                parameters: Vec::new(),
                capabilities: Vec::new(),
                looked_up,
                max_calls: None,
                steps: Vec::new(),
                findings: findings
                    .iter()
                    .map(|one| source.finding_output(one))
                    .collect(),
            })?;
            Err(CommandError::told(Exit::No))
        }
        Err(findings) => {
            source.tell(&findings, ui);
            let count = many(findings.len() as u64, "reason");
            let what = format!("the program may not run, for {count}");
            Err(with_hint_of_provided(
                CommandError::new(Exit::No, what),
                &findings,
            ))
        }
    }
}

fn described(program: &Program, looked_up: bool) -> PlanCheckOutput {
    PlanCheckOutput {
        ok: true,
        plan: program.plan().map(str::to_owned),
        parameters: program
            .parameters()
            .iter()
            .map(|parameter| parameter.name().to_owned())
            .collect(),
        capabilities: program.capabilities().map(ToString::to_string).collect(),
        looked_up,
        max_calls: match program.yields() {
            YieldBound::AtMost(count) => Some(count),
            YieldBound::Unbounded => None,
        },
        steps: program
            .steps()
            .iter()
            .map(|step| step.id.to_string())
            .collect(),
        findings: Vec::new(),
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
        None => "makes as many calls as its values say".to_owned(),
    };
    let mut lines = vec![format!("{what}: may run, {calls}")];
    lines.extend(
        output
            .capabilities
            .iter()
            .map(|name| format!("  calls :{name}")),
    );
    if !output.looked_up && !output.capabilities.is_empty() {
        lines.push("  here is no project: nobody looked up whether these are provided".to_owned());
    }
    lines.extend(output.steps.iter().map(|id| format!("  step {id}")));
    lines.join("\n") + "\n"
}
