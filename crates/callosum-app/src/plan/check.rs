//! `callosum plan check`: all that the compiler has against a program, without running it.

use callosum_plan::{CompileOptions, Finding, Program, YieldBound, compile};
use callosum_plan_run::kernel::{Catalogue, Provenance};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::executor_pool::Roster;
use crate::plan::call_check::{CallFaults, CallWarning, check_calls};
use crate::plan::proposal::RejectionOutput;
use crate::plan::source::{FindingOutput, Source};
use crate::{CommandError, many};

/// Output of `plan check --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PlanCheckOutput {
    /// Whether the program may run.
    pub ok: bool,
    /// The plan's name, where it is one.
    pub plan: Option<String>,
    /// The plan's parameters in their order.
    pub parameters: Vec<String>,
    /// The capabilities that it may call, in their normal form.
    pub capabilities: Vec<String>,
    /// Whether it was looked up who provides them, which takes a project.
    pub providers_resolved: bool,
    /// Those of them that would fail if they were called now, since who provides them can't be asked.
    pub not_ready: Vec<NotReadyOutput>,
    /// Maximum number of its calls; null if that depends on values, or it may not run.
    pub max_calls: Option<u64>,
    /// The names of its steps, in the order of the source.
    pub steps: Vec<String>,
    /// Calls that may not do what the plan means. They do not keep it from running.
    pub warnings: Vec<CallWarning>,
    /// Faults of the program.
    pub findings: Vec<FindingOutput>,
    /// Reasons why a model's proposal is rejected.
    pub rejections: Vec<RejectionOutput>,
    /// The source of a model's proposal, if it makes a plan.
    pub source: Option<String>,
}

/// A capability whose provider cannot be called as it is.
#[derive(Debug, JsonSchema, Serialize)]
pub struct NotReadyOutput {
    /// The capability.
    pub capability: String,
    /// Reason, such as `executor `codex` is inactive: …`.
    pub why: String,
}

/// Lists the capabilities of a program whose executor or server can't be asked as it is now.
pub fn not_ready(
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
pub fn checked(
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

impl PlanCheckOutput {
    /// Output if there is no program that may run.
    pub fn none(providers_resolved: bool) -> Self {
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

/// Describes a compiled plan.
pub fn described(program: &Program, providers_resolved: bool) -> PlanCheckOutput {
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

/// Returns the result of a check as text.
pub fn text(output: &PlanCheckOutput) -> String {
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
