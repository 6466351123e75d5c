//! `:llm.generate-plan`: a plan by a model, checked like any other, with at most two repairs (Seed CCOS §3.a, §3.c).
//!
//! A reply that is refused goes on record with its reasons, and back to the model. A repaired plan passes every check
//! again.

use std::fmt::Write as _;

use callosum_host::process::Cancel;
use callosum_model::json_object;
use callosum_plan::{
    AcceptedPlan, Allowlist, CapabilityName, CompileOptions, FailureKind, Limits, PlanRule,
    Unbounded, compile,
};
use callosum_plan_run::kernel::{
    Answer, ApprovedCall, Catalogue, Effect, Manifest, ProviderFailure,
};
use callosum_redact::{quote, secrets};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::Inquiry;
use super::language::answer;
use crate::plan::proposal::{Generation, record, taken};
use crate::plan::provider::{PlanEnvironment, arguments, failed, unfit};
use crate::plan::source::Source;

/// Times that a model is asked once more for a plan that was refused.
const REPAIRS: u32 = 2;

/// Calls that a plan may make unless the request says otherwise.
const CALLS: u64 = 20;

/// Capabilities that a prompt lists at most.
const LISTED: usize = 60;

/// Longest context in a prompt, in bytes.
const LONGEST_CONTEXT: usize = 24 << 10;

/// The part of a prompt that teaches the language.
const LANGUAGE: &str = include_str!("language.md");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Generate {
    goal: String,
    model: Option<String>,
    context: Option<Json>,
    feedback: Option<Vec<String>>,
    constraints: Option<Constraints>,
    /// `:rtfs.plan-source`, the only one.
    #[serde(rename = "output-schema")]
    output_schema: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Constraints {
    caps: Vec<String>,
    #[serde(rename = "max-yields")]
    max_yields: Option<u64>,
}

/// The bounds of a plan.
struct Bounds {
    allowed: Allowlist,
    max_calls: u64,
}

/// A reason to refuse a reply: the place, the rule and the text.
type Reason = (String, String, String);

pub(in crate::plan::provider) fn generate(
    surroundings: &PlanEnvironment<'_>,
    call: &ApprovedCall,
    cancel: &Cancel,
) -> Result<Answer, ProviderFailure> {
    let asked: Generate = arguments(call)?;
    if let Some(schema) = asked
        .output_schema
        .filter(|name| name != "rtfs.plan-source")
    {
        let what = format!("`:output-schema` is `{schema}` (allowed: :rtfs.plan-source)");
        return Err(unfit(call, &what));
    }
    let catalogue = &surroundings.catalogue;
    let bounds = bounds(asked.constraints, catalogue).map_err(|why| unfit(call, &why))?;
    let mut inquiry = Inquiry::new(surroundings, call, asked.model, cancel)?;
    let goal = surroundings.foreign.quoted(&asked.goal);
    let feedback = asked.feedback.unwrap_or_default();
    let prompt = prompt(&goal, &bounds, catalogue, asked.context.as_ref(), &feedback);
    let mut reasons: Vec<Reason> = Vec::new();
    for attempt in 0..=REPAIRS {
        let began = std::time::Instant::now();
        let before = inquiry.cost.tokens;
        let reply = inquiry.ask(repair(&prompt, &reasons, attempt))?;
        match checked(&reply, &bounds, catalogue) {
            Ok(plan) => {
                let json = json!({
                    "plan-source": plan.source,
                    "caps": plan.allowed.to_string().split(", ").collect::<Vec<_>>(),
                    "max-yields": plan.max_yields,
                    "rationale": plan.rationale,
                    "model": inquiry.model(),
                    "attempts": attempt + 1,
                });
                return Ok(answer(&inquiry, &json));
            }
            Err(why) => reasons = why,
        }
        let name = format!("reply of {}", inquiry.model());
        let source = Source::named(secrets::mask(&reply).text, name);
        let generation = Generation {
            run: surroundings.run.as_str(),
            model: inquiry.model(),
            attempt: attempt + 1,
            tokens: inquiry.cost.tokens - before,
            milliseconds: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        let reasons_kept = reasons
            .iter()
            .map(|(path, rule, why)| (path.as_str(), rule.as_str(), why.as_str()));
        record(
            surroundings.context,
            &source,
            reasons_kept,
            Some(&generation),
        )
        .map_err(|error| failed(&error))?;
    }
    let why = format!(
        "`{}` gave no usable plan in {} attempts: {}",
        inquiry.model(),
        REPAIRS + 1,
        texts(&reasons).join("; ")
    );
    Err(inquiry.failure(FailureKind::CapabilityError, why))
}

/// Returns what a plan may do: what the request names, else everything that leaves files alone and says what it does.
fn bounds(constraints: Option<Constraints>, catalogue: &Catalogue) -> Result<Bounds, String> {
    let Some(constraints) = constraints else {
        return Ok(Bounds {
            allowed: usual(catalogue),
            max_calls: CALLS,
        });
    };
    let allowed = Allowlist::parse(&constraints.caps).map_err(|error| error.to_string())?;
    let max_calls = constraints.max_yields.unwrap_or(CALLS);
    Ok(Bounds {
        allowed,
        max_calls: max_calls.min(Limits::default().yields),
    })
}

/// Returns the capabilities that a model's plan may call unless a request says otherwise.
pub(crate) fn usual(catalogue: &Catalogue) -> Allowlist {
    let is_usual = |manifest: &&std::sync::Arc<Manifest>| {
        let effects = &manifest.effects;
        let id = manifest.id.as_str();
        !effects.contains(&Effect::WritesFiles)
            && !effects.contains(&Effect::Unknown)
            // A plan that asks for plans is not what a goal needs.
            && !matches!(id, "llm.generate-plan" | "llm.review")
    };
    let ids = catalogue.iter().filter(is_usual);
    let ids: Vec<String> = ids.map(|manifest| format!(":{}", manifest.id)).collect();
    Allowlist::parse(&ids).unwrap_or_else(|_| Allowlist::new(Vec::new()))
}

fn prompt(
    goal: &str,
    bounds: &Bounds,
    catalogue: &Catalogue,
    context: Option<&Json>,
    feedback: &[String],
) -> String {
    let mut text = format!("Write a plan for this goal:\n\n{goal}\n\n{LANGUAGE}\n");
    let _ = writeln!(
        text,
        "The plan may make at most {} calls, of these capabilities alone:\n",
        bounds.max_calls
    );
    let allowed = catalogue
        .iter()
        .filter(|manifest| bounds.allowed.allows(&manifest.id));
    let allowed: Vec<_> = allowed.collect();
    for manifest in allowed.iter().take(LISTED) {
        let _ = writeln!(
            text,
            "- :{} takes {} and returns {}. {}",
            manifest.id,
            manifest.input.as_str(),
            manifest.output.as_str(),
            quote::one_line(&manifest.description)
        );
    }
    if allowed.len() > LISTED {
        let _ = writeln!(text, "- … and {} more", allowed.len() - LISTED);
    }
    if let Some(context) = context {
        let shown = match context {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };
        let shown: String = shown.chars().take(LONGEST_CONTEXT).collect();
        let _ = write!(text, "\n{}", quote::attributed("known so far", &shown));
    }
    for critique in feedback {
        let _ = write!(
            text,
            "\n{}",
            quote::attributed("a reviewer of an earlier plan", critique)
        );
    }
    text
}

/// Returns the prompt of an attempt: that of the first, and why the last reply was refused.
fn repair(prompt: &str, reasons: &[Reason], attempt: u32) -> String {
    if reasons.is_empty() {
        return prompt.to_owned();
    }
    let mut text = format!("{prompt}\nYour last reply was refused:\n");
    text.push_str(&quote::lines(&texts(reasons).join("\n")));
    text.push_str("\nReply with the corrected JSON object and nothing else.");
    if attempt == REPAIRS {
        text.push_str(" Write the simplest plan that reaches the goal.");
    }
    text
}

fn texts(reasons: &[Reason]) -> Vec<String> {
    let text = |(path, rule, why): &Reason| match path.as_str() {
        "" => format!("{rule}: {why}"),
        path => format!("{path}: {rule}: {why}"),
    };
    reasons.iter().map(text).collect()
}

/// Makes a plan of a reply, or says all that is wrong with it.
fn checked(
    reply: &str,
    bounds: &Bounds,
    catalogue: &Catalogue,
) -> Result<AcceptedPlan, Vec<Reason>> {
    let json = json_object(reply)
        .map_err(|error| vec![(String::new(), "json-shape".to_owned(), error.to_string())])?;
    let source = Source::named(json.to_owned(), "the reply".to_owned());
    let unbounded = Unbounded::BoundWhenRun;
    let plan = taken(
        &source,
        Some(&bounds.allowed),
        Some(bounds.max_calls),
        unbounded,
    )
    .map_err(|rejections| {
        let reason = |rejection: callosum_plan::Rejection| {
            let hint = rejection.hint.map(|hint| format!(" ({hint})"));
            let why = rejection.message + &hint.unwrap_or_default();
            (rejection.path, rejection.rule.to_owned(), why)
        };
        rejections.into_iter().map(reason).collect::<Vec<_>>()
    })?;
    // The list of what is allowed may have names that are not provided.
    let provided = catalogue.iter().map(|manifest| manifest.id.clone());
    let options = CompileOptions {
        provided: Some(provided.collect::<std::collections::BTreeSet<CapabilityName>>()),
        plan: PlanRule::Required,
        ..CompileOptions::default()
    };
    match compile(&plan.source, &options) {
        Ok(program) if program.parameters().is_empty() => Ok(plan),
        Ok(_) => Err(vec![(
            "/plan_source".to_owned(),
            "parameters".to_owned(),
            "the plan has parameters; write the values into it".to_owned(),
        )]),
        Err(findings) => Err(findings
            .into_iter()
            .map(|finding| {
                (
                    "/plan_source".to_owned(),
                    finding.rule.to_string(),
                    finding.message,
                )
            })
            .collect()),
    }
}
