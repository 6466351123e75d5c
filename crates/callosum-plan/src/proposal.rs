//! [`accept`]: a model's proposal of a plan, in JSON of one shape, checked against the request, to a program.
//!
//! The shape and its rules are seed CCOS §3.c's. A plan comes as source, or as steps from which one
//! is built, form by form: no text of the model is ever put into other text and read again, so that
//! no quoting in a step's name or purpose becomes code. The needs that a model declares may be less
//! than it was allowed, and never more. Every rejection names its place in the JSON.

use callosum_json::UniqueKeys;
use std::{collections::HashSet, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use thiserror::Error;

use crate::{
    capability::{Allowlist, CapabilityName, CapabilityPattern},
    compile::{CompileOptions, PlanRule, Unbounded, compile, compile_forms, hidden_characters},
    diagnostic::{Colours, Diagnostic},
    finding::Finding,
    form::{Form, FormKind},
    library::Library,
    program::Program,
    reader::{MAX_SOURCE, read, read_one},
    span::Span,
    value::Value,
};

/// What a model hands in.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object, a plan")]
pub struct PlanProposal {
    /// The version of this shape, `1.0` or another that begins with `1.`.
    #[schemars(regex(pattern = r"^1\.[0-9]+$"))]
    pub version: String,
    /// The plan's source; this or `steps`, not both.
    pub plan_source: Option<String>,
    /// The plan's steps, in the order in which they are taken.
    pub steps: Option<Vec<ProposedStep>>,
    /// What the plan needs, at most what was allowed.
    pub constraints: ProposedConstraints,
    /// Why the plan is as it is, for people.
    pub rationale: Option<String>,
}

/// One step of a plan that comes as steps.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object, a step")]
pub struct ProposedStep {
    /// Its name: a letter or digit, then letters, digits, `_`, `.` and `-`, 64 at most.
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"))]
    pub step_id: String,
    /// What it is for, for people.
    pub purpose: String,
    /// One pure form, which calls nothing.
    pub rtfs_pure: Option<String>,
    /// The calls that it makes, in their order.
    pub yields: Option<Vec<ProposedYield>>,
}

/// A call of a step.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object, a call")]
pub struct ProposedYield {
    /// The capability, as `:storage.read`.
    pub cap: String,
    /// What it is called with; data. A key of an object that can be a keyword is one.
    #[serde(deserialize_with = "once_keyed")]
    pub args: Vec<serde_json::Value>,
}

/// What a plan says that it needs.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object, the plan's constraints")]
pub struct ProposedConstraints {
    /// The capabilities, as `:storage.read` or `:storage/*`.
    pub caps: Vec<String>,
    /// How many calls it makes at most.
    pub max_yields: u64,
}

/// Request that a proposal is checked against.
#[derive(Clone, Debug)]
pub struct ProposalRequest {
    /// The capabilities that were allowed.
    pub allowed: Allowlist,
    /// Number of calls that were allowed.
    pub max_yields: u64,
    /// Reaction if calls can't be counted before the plan runs.
    pub unbounded: Unbounded,
    /// The parameters of a plan that is built of steps.
    pub parameters: Vec<String>,
    /// The pure functions that it may use.
    pub library: Arc<Library>,
}

/// A plan that was taken.
pub struct AcceptedPlan {
    /// The plan, compiled.
    pub program: Program,
    /// Its source; of a plan that was built of steps, the canonical one.
    pub source: String,
    /// The capabilities that it asked for.
    pub allowed: Allowlist,
    /// The calls that it asked for.
    pub max_yields: u64,
    /// Reason for its form, in the model's words.
    pub rationale: Option<String>,
}

/// Reason that a plan was not accepted.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{}{rule}: {message}", in_front(path))]
pub struct Rejection {
    /// The place in the JSON, as a JSON pointer.
    pub path: String,
    /// The rule that it breaks: a [`Rule`](crate::Rule)'s name, or `json-shape`, `version`,
    /// `not-one-body`, `step-id`, `wider-than-allowed`.
    pub rule: &'static str,
    /// Description of the fault.
    pub message: String,
    /// Suggested fix.
    pub hint: Option<String>,
    /// Place in the source at `path`, if there is source.
    pub span: Option<Span>,
}

impl Rejection {
    fn new(path: impl Into<String>, rule: &'static str, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            rule,
            message: message.into(),
            hint: None,
            span: None,
        }
    }

    fn of_finding(path: &str, finding: Finding) -> Self {
        Self {
            path: path.to_owned(),
            rule: finding.rule.as_str(),
            message: finding.message,
            hint: finding.hint,
            span: Some(finding.span),
        }
    }

    /// Returns the rejection as some lines of text, with the source at its `path` around its place.
    ///
    /// `name` is the name of the source.
    pub fn render(&self, source: &str, name: &str, colours: Colours) -> String {
        let diagnostic = Diagnostic {
            id: self.rule,
            message: &self.message,
            span: self.span,
            hint: self.hint.as_deref(),
        };
        diagnostic.render(source, name, colours)
    }

    #[must_use]
    fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Makes a program of a model's proposal, or lists all faults in it.
///
/// Nothing is evaluated. JSON beyond 1 MiB or nested deeper than 128 is refused.
pub fn accept(json: &str, request: &ProposalRequest) -> Result<AcceptedPlan, Vec<Rejection>> {
    if json.len() > MAX_SOURCE {
        let message = format!("the JSON has {} bytes, more than {MAX_SOURCE}", json.len());
        return Err(vec![Rejection::new("", "json-shape", message)]);
    }
    let proposal: PlanProposal =
        serde_json::from_str(json).map_err(|error| vec![misshapen(json, &error)])?;
    let mut rejections = Vec::new();
    let version = proposal.version.strip_prefix("1.").unwrap_or("");
    if version.is_empty() || !version.bytes().all(|byte| byte.is_ascii_digit()) {
        let message = format!("the version is `{}`, expected 1.x", proposal.version);
        rejections.push(Rejection::new("/version", "version", message));
    }
    let allowed = narrowed(&proposal.constraints, request, &mut rejections);
    let options = CompileOptions {
        library: Arc::clone(&request.library),
        allowed: Some(allowed.clone()),
        max_yields: Some(proposal.constraints.max_yields.min(request.max_yields)),
        unbounded: request.unbounded,
        plan: PlanRule::Required,
        ..CompileOptions::default()
    };
    let compiled = match (&proposal.plan_source, &proposal.steps) {
        (Some(source), None) => compile(source, &options)
            .map(|program| (program, source.clone()))
            .map_err(|findings| of_findings("/plan_source", findings)),
        (None, Some(steps)) => built(steps, request, &options),
        (Some(_), Some(_)) => Err(vec![Rejection::new(
            "",
            "not-one-body",
            "the plan has both `plan_source` and `steps`",
        )]),
        (None, None) => Err(vec![Rejection::new(
            "",
            "not-one-body",
            "the plan has neither `plan_source` nor `steps`",
        )]),
    };
    match compiled {
        Ok((program, source)) if rejections.is_empty() => Ok(AcceptedPlan {
            program,
            source,
            allowed,
            max_yields: proposal.constraints.max_yields,
            rationale: proposal.rationale,
        }),
        Ok(_) => Err(rejections),
        Err(more) => {
            rejections.extend(more);
            Err(rejections)
        }
    }
}

fn once_keyed<'de, D: Deserializer<'de>>(json: D) -> Result<Vec<serde_json::Value>, D::Error> {
    let args = Vec::<UniqueKeys>::deserialize(json)?;
    Ok(args.into_iter().map(|UniqueKeys(arg)| arg).collect())
}

/// The path before what is wrong there; the whole has none.
fn in_front(path: &str) -> String {
    if path.is_empty() {
        return String::new();
    }
    format!("{path}: ")
}

/// Says in a model's words what of the JSON is not of the shape.
fn misshapen(json: &str, error: &serde_json::Error) -> Rejection {
    let words = error.to_string();
    let words = words
        .replace("expected u64", "expected a whole number, 0 or more")
        .replace("expected a sequence", "expected a list");
    let rejection = Rejection::new("", "json-shape", words);
    let begins = json.trim_start();
    if begins.starts_with("```") {
        return rejection.with_hint("submit only the JSON, without the code fence around it");
    }
    if !begins.starts_with('{') {
        return rejection.with_hint("submit one JSON object and nothing else");
    }
    rejection
}

fn of_findings(path: &str, findings: Vec<Finding>) -> Vec<Rejection> {
    let findings = findings.into_iter();
    findings
        .map(|finding| Rejection::of_finding(path, finding))
        .collect()
}

/// The capabilities that a proposal asks for, none of them beyond what was allowed.
fn narrowed(
    constraints: &ProposedConstraints,
    request: &ProposalRequest,
    rejections: &mut Vec<Rejection>,
) -> Allowlist {
    let mut patterns = Vec::new();
    for (index, cap) in constraints.caps.iter().enumerate() {
        let path = format!("/constraints/caps/{index}");
        match CapabilityPattern::parse(cap) {
            Ok(pattern) if request.allowed.covers(&pattern) => patterns.push(pattern),
            Ok(pattern) => {
                let message = format!("`{pattern}` is wider than allowed");
                let rejection = Rejection::new(path, "wider-than-allowed", message);
                rejections.push(rejection.with_hint(format!("allowed: {}", request.allowed)));
            }
            Err(error) => {
                rejections.push(Rejection::new(
                    path,
                    "malformed-capability",
                    error.to_string(),
                ));
            }
        }
    }
    if constraints.max_yields > request.max_yields {
        let message = format!(
            "`max_yields` is {}, expected at most {}",
            constraints.max_yields, request.max_yields
        );
        let path = "/constraints/max_yields";
        rejections.push(Rejection::new(path, "wider-than-allowed", message));
    }
    Allowlist::new(patterns)
}

/// Builds `(defplan <auto> (…) (step :id {…} (pure …) (call …)) …)`.
fn built(
    steps: &[ProposedStep],
    request: &ProposalRequest,
    options: &CompileOptions,
) -> Result<(Program, String), Vec<Rejection>> {
    let mut rejections = Vec::new();
    let mut seen = HashSet::new();
    let mut forms = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let path = format!("/steps/{index}");
        let id = step.step_id.as_str();
        if !is_step_id(id) {
            rejections.push(
                Rejection::new(
                    format!("{path}/step_id"),
                    "step-id",
                    format!("{id:?} is not a step name"),
                )
                .with_hint("use a letter or digit, then letters, digits, `_`, `.` and `-`, 64 characters at most"),
            );
        } else if !seen.insert(id) {
            let message = format!("`{id}` names two steps");
            rejections.push(Rejection::new(
                format!("{path}/step_id"),
                "step-id",
                message,
            ));
        }
        match step_form(step, &path, request, options) {
            Ok(form) => forms.push(form),
            Err(more) => rejections.extend(more),
        }
    }
    if steps.is_empty() {
        let message = "a plan needs at least one step";
        rejections.push(Rejection::new("/steps", "not-one-body", message));
    }
    if !rejections.is_empty() {
        return Err(rejections);
    }
    let plan = plan_of(&request.parameters, forms);
    let source = plan.to_string();
    // The tree is what runs; its text is what people read and records keep, and must be the same.
    let same = read(&source).is_ok_and(|forms| forms.as_slice() == std::slice::from_ref(&plan));
    if !same {
        let message = "the plan cannot be written as source: its arguments are nested too deeply, or it is too large";
        return Err(vec![Rejection::new("/steps", "too-large", message)]);
    }
    // Its forms were built: no text of the model's has their places.
    let without_place = |rejection| Rejection {
        span: None,
        ..rejection
    };
    compile_forms(&[plan], options)
        .map(|program| (program, source))
        .map_err(|findings| {
            let rejections = of_findings("/steps", findings).into_iter();
            rejections.map(without_place).collect()
        })
}

fn is_step_id(id: &str) -> bool {
    id.len() <= 64
        && id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
}

fn plan_of(parameters: &[String], body: Vec<Form>) -> Form {
    let parameters = parameters.iter().map(|name| Form::symbol(name)).collect();
    let mut parts = vec![
        Form::symbol("defplan"),
        Form::symbol("<auto>"),
        Form::list(parameters),
    ];
    parts.extend(body);
    Form::list(parts)
}

fn step_form(
    step: &ProposedStep,
    path: &str,
    request: &ProposalRequest,
    options: &CompileOptions,
) -> Result<Form, Vec<Rejection>> {
    let mut rejections = Vec::new();
    let purpose = Form::built(FormKind::Text(step.purpose.as_str().into()));
    let metadata = Form::built(FormKind::Map(vec![(Form::keyword("purpose"), purpose)]));
    let mut parts = vec![
        Form::symbol("step"),
        Form::keyword(&step.step_id),
        Form::built(FormKind::Map(vec![(Form::keyword("metadata"), metadata)])),
    ];
    let before = parts.len();
    if let Some(snippet) = &step.rtfs_pure {
        let path = format!("{path}/rtfs_pure");
        rejections.extend(of_findings(&path, hidden_characters(snippet)));
        match read_one(snippet) {
            Ok(form) => {
                let pure = Form::list(vec![Form::symbol("pure"), form]);
                // By itself first, so that a fault in it is reported at its place.
                let alone = plan_of(&request.parameters, vec![pure.clone()]);
                if let Err(findings) = compile_forms(&[alone], options) {
                    rejections.extend(of_findings(&path, findings));
                }
                parts.push(pure);
            }
            Err(error) => rejections.push(Rejection::of_finding(&path, error.into())),
        }
    }
    for (index, call) in step.yields.iter().flatten().enumerate() {
        match call_form(call, &format!("{path}/yields/{index}"), options) {
            Ok(form) => parts.push(form),
            Err(rejection) => rejections.push(rejection),
        }
    }
    if parts.len() == before && rejections.is_empty() {
        let message = "the step has neither `rtfs_pure` nor `yields`";
        rejections.push(Rejection::new(path, "not-one-body", message));
    }
    if rejections.is_empty() {
        Ok(Form::list(parts))
    } else {
        Err(rejections)
    }
}

fn call_form(
    call: &ProposedYield,
    path: &str,
    options: &CompileOptions,
) -> Result<Form, Rejection> {
    let at_cap = format!("{path}/cap");
    let name = CapabilityName::parse(&call.cap)
        .map_err(|error| Rejection::new(&at_cap, "malformed-capability", error.to_string()))?;
    if let Some(allowed) = &options.allowed
        && !allowed.allows(&name)
    {
        let message = format!("`:{name}` is not in the constraints' capabilities");
        let rejection = Rejection::new(at_cap, "capability-not-allowed", message);
        return Err(rejection.with_hint(format!("they are: {allowed}")));
    }
    let mut parts = vec![Form::symbol("call"), Form::keyword(name.as_str())];
    for (index, argument) in call.args.iter().enumerate() {
        let value = Value::of_json_arguments(argument).map_err(|error| {
            Rejection::new(
                format!("{path}/args/{index}"),
                "json-shape",
                error.to_string(),
            )
        })?;
        parts.push(value.to_form());
    }
    Ok(Form::list(parts))
}
