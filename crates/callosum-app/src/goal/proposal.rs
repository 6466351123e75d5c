//! [`propose`]: the proposal of a delegation, from the engine's decision; and the check of the plan that comes back.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use callosum_intent::delegation::{
    Fallback, FallbackStrategy, Fault, PlanShape, Proposal, ShapeStep,
};
use callosum_plan::{Allowlist, CapabilityName, Program, YieldBound};
use callosum_plan_run::kernel::Catalogue;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Delegation, Deliberation};
use crate::context::Context;
use crate::{CommandError, Exit, capability, many};

/// The capability of a plan that no model makes.
pub const EVALUATOR: &str = "local-pure";

/// A delegation, before it happens.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ProposalOutput {
    /// The selected capability, such as `agent.claude`; `local-pure` for a stored plan.
    pub capability: String,
    /// The reason for the selection.
    pub rationale: String,
    /// Confidence of the decision, from 0 to 1.
    pub confidence: f64,
    /// The plan in outline; before it is known, its bounds.
    pub expected_plan_shape: PlanShapeOutput,
    /// The steps after a failure, each used once. A failure without one ends the goal.
    pub fallback_strategy: Vec<FallbackOutput>,
}

/// A plan in outline.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PlanShapeOutput {
    /// The steps in the order of the source.
    pub steps: Vec<ShapeStepOutput>,
    /// Capabilities that it calls.
    pub capabilities: Vec<String>,
    /// Their effects, such as `reads-files`.
    pub effects: Vec<String>,
    /// Calls at most; null if that depends on values.
    pub max_calls: Option<u64>,
}

/// A step of a plan.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ShapeStepOutput {
    /// The name.
    pub name: String,
    /// The capabilities that are called in it.
    pub capabilities: Vec<String>,
    /// Their effects.
    pub effects: Vec<String>,
    /// Times that it is repeated after a failure.
    pub retries: u32,
    /// Milliseconds that each of its calls may take.
    pub timeout_ms: Option<u64>,
}

/// A step after a failure.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FallbackOutput {
    /// The failure: `no-plan`, `run-failed` or `rejected`.
    pub on: String,
    /// The step: `next-capability`, `retry`, `person` or `abort`.
    pub then: String,
    /// The next capability.
    pub capability: Option<String>,
}

/// Returns the name of a model as a capability.
pub fn agent(model: &str) -> String {
    format!("agent.{model}")
}

/// Proposes that the planners of a deliberation get the goal, within these capabilities and calls.
///
/// If a person named the planners, no other model follows them.
pub fn propose(
    context: &Context,
    delegation: &Delegation,
    deliberation: &Deliberation,
    (caps, max_calls): (&[String], i64),
    intent: Option<&str>,
) -> Result<Proposal, CommandError> {
    let decided = delegation.explain(context, "");
    let planners: Vec<String> = deliberation.planners.iter().map(|id| agent(id)).collect();
    let (rationale, confidence) = if deliberation.is_planner_named {
        ("named on the command line".to_owned(), 1.0)
    } else {
        (decided.reasoning, decided.confidence)
    };
    let others = if deliberation.is_planner_named {
        Vec::new()
    } else {
        delegation.others(context, &deliberation.planners)
    };
    Ok(Proposal {
        intent: intent.map(str::to_owned),
        capability: planners.join(", "),
        rationale,
        expected_plan_shape: bounds(&capability::catalogue(context)?, caps, max_calls)?,
        fallback_strategy: FallbackStrategy::of_models(others.iter().map(|id| agent(id))),
        confidence,
    })
}

/// Returns the shape of plans that may call these capabilities, so often.
pub fn bounds(
    catalogue: &Catalogue,
    caps: &[String],
    max_calls: i64,
) -> Result<PlanShape, CommandError> {
    let allowed = Allowlist::parse(caps);
    let allowed = allowed.map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
    let manifests = catalogue.iter();
    let effects = manifests
        .filter(|manifest| allowed.allows(&manifest.id))
        .flat_map(|manifest| manifest.effects.iter())
        .map(|effect| effect.as_str().to_owned())
        .collect();
    Ok(PlanShape {
        steps: Vec::new(),
        capabilities: caps.iter().cloned().collect(),
        effects,
        max_calls: u64::try_from(max_calls).ok(),
    })
}

/// Returns the outline of a compiled plan. A call belongs to the innermost step around it.
pub fn shape(program: &Program, catalogue: &Catalogue) -> PlanShape {
    let mut steps: Vec<ShapeStep> = program
        .steps()
        .iter()
        .map(|step| ShapeStep {
            name: step.id.to_string(),
            retries: step.retries,
            timeout_ms: step.timeout_ms,
            ..ShapeStep::default()
        })
        .collect();
    for call in program.calls() {
        let around = program.steps().iter().enumerate().filter(|(_, step)| {
            step.span.start <= call.span.start && call.span.end <= step.span.end
        });
        let innermost = around.min_by_key(|(_, step)| step.span.end - step.span.start);
        if let Some((index, _)) = innermost {
            let step = &mut steps[index];
            step.capabilities.insert(format!(":{}", call.capability));
            step.effects.extend(effects(catalogue, &call.capability));
        }
    }
    PlanShape {
        steps,
        capabilities: program
            .capabilities()
            .map(|name| format!(":{name}"))
            .collect(),
        effects: program
            .capabilities()
            .flat_map(|name| effects(catalogue, name))
            .collect(),
        max_calls: match program.yields() {
            YieldBound::AtMost(count) => Some(count),
            YieldBound::Unbounded => None,
        },
    }
}

fn effects(catalogue: &Catalogue, name: &CapabilityName) -> BTreeSet<String> {
    let manifest = catalogue.get(name);
    let effects = manifest.iter().flat_map(|manifest| manifest.effects.iter());
    effects.map(|effect| effect.as_str().to_owned()).collect()
}

/// Checks a compiled plan against its proposal: capabilities, effects and calls. Returns its shape, or the first excess.
pub fn checked(
    expected: &PlanShape,
    program: &Program,
    catalogue: &Catalogue,
) -> Result<PlanShape, String> {
    let patterns: Vec<&String> = expected.capabilities.iter().collect();
    let allowed = Allowlist::parse(&patterns).map_err(|error| error.to_string())?;
    if let Some(name) = program.capabilities().find(|name| !allowed.allows(name)) {
        return Err(format!(
            "it calls :{name}, which the proposal does not have"
        ));
    }
    let shape = shape(program, catalogue);
    if let Some(effect) = shape.effects.difference(&expected.effects).next() {
        return Err(format!(
            "it has the effect {effect}, which the proposal does not have"
        ));
    }
    match (shape.max_calls, expected.max_calls) {
        (Some(calls), Some(most)) if calls > most => Err(format!(
            "it may make {calls} calls; the proposal has {most}"
        )),
        _ => Ok(shape),
    }
}

/// Returns the proposal in two lines.
pub fn lines(proposal: &Proposal) -> [String; 2] {
    let shape = &proposal.expected_plan_shape;
    let list = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
    let calls = match shape.max_calls {
        Some(0) => "no calls".to_owned(),
        Some(calls) => format!("at most {}", many(calls, "call")),
        None => "calls that depend on values".to_owned(),
    };
    let called = match list(&shape.capabilities) {
        names if names.is_empty() => String::new(),
        names => format!(" of {names} ({})", list(&shape.effects)),
    };
    [
        format!(
            "{}, confidence {:.2}: {}",
            proposal.capability, proposal.confidence, proposal.rationale
        ),
        format!("{calls}{called}; {}", proposal.fallback_strategy),
    ]
}

/// Returns one line for each step of the plan.
pub fn step_lines(proposal: &Proposal) -> Vec<String> {
    let list = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
    let steps = proposal.expected_plan_shape.steps.iter();
    steps
        .map(|step| {
            let mut line = format!("step {}", step.name);
            if !step.capabilities.is_empty() {
                let (names, effects) = (list(&step.capabilities), list(&step.effects));
                let _ = write!(line, ": {names} ({effects})");
            }
            if step.retries > 0 {
                let _ = write!(line, ", {}", many(u64::from(step.retries), "retry"));
            }
            if let Some(timeout) = step.timeout_ms {
                let _ = write!(line, ", {timeout} ms for each call");
            }
            line
        })
        .collect()
}

impl From<&Proposal> for ProposalOutput {
    fn from(proposal: &Proposal) -> Self {
        let shape = &proposal.expected_plan_shape;
        let list = |names: &BTreeSet<String>| names.iter().cloned().collect();
        Self {
            capability: proposal.capability.clone(),
            rationale: proposal.rationale.clone(),
            confidence: proposal.confidence,
            expected_plan_shape: PlanShapeOutput {
                steps: shape
                    .steps
                    .iter()
                    .map(|step| ShapeStepOutput {
                        name: step.name.clone(),
                        capabilities: list(&step.capabilities),
                        effects: list(&step.effects),
                        retries: step.retries,
                        timeout_ms: step.timeout_ms,
                    })
                    .collect(),
                capabilities: list(&shape.capabilities),
                effects: list(&shape.effects),
                max_calls: shape.max_calls,
            },
            fallback_strategy: proposal
                .fallback_strategy
                .0
                .iter()
                .map(|rule| FallbackOutput {
                    on: match rule.on {
                        Fault::NoPlan => "no-plan",
                        Fault::RunFailed => "run-failed",
                        Fault::Rejected => "rejected",
                    }
                    .to_owned(),
                    then: match rule.then {
                        Fallback::NextCapability { .. } => "next-capability",
                        Fallback::Retry => "retry",
                        Fallback::Person => "person",
                        Fallback::Abort => "abort",
                    }
                    .to_owned(),
                    capability: match &rule.then {
                        Fallback::NextCapability { capability } => Some(capability.clone()),
                        _ => None,
                    },
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use callosum_plan::{CompileOptions, compile};
    use callosum_plan_run::kernel::built_in_manifests;

    use super::*;

    fn catalogue() -> Catalogue {
        Catalogue::new(built_in_manifests("1.0.0")).unwrap()
    }

    fn program(source: &str) -> Program {
        compile(source, &CompileOptions::default()).unwrap()
    }

    /// CCOS-DEL-4: a plan that comes back may do less than was proposed, and nothing else.
    #[test]
    fn a_plan_that_exceeds_its_proposal_is_found() {
        let catalogue = catalogue();
        let caps = [":fs.read".to_owned(), ":ledger/*".to_owned()];
        let expected = bounds(&catalogue, &caps, 2).unwrap();
        let check = |source: &str| checked(&expected, &program(source), &catalogue).map(|_| ());
        assert_eq!(check("(defplan a () (call :fs.read \"x\"))"), Ok(()));
        assert_eq!(check("(defplan a () 1)"), Ok(()));
        let other = check("(defplan a () (call :mesh.publish {:topic \"a.b\"}))").unwrap_err();
        assert!(other.contains(":mesh.publish"), "{other}");
        let often =
            "(defplan a () [(call :fs.read \"a\") (call :fs.read \"b\") (call :fs.read \"c\")])";
        let often = check(often).unwrap_err();
        assert!(often.contains("3 calls; the proposal has 2"), "{often}");
        // Another version of the program may give a capability other effects.
        let tighter = PlanShape {
            effects: BTreeSet::new(),
            ..expected.clone()
        };
        let effect = checked(
            &tighter,
            &program("(defplan a () (call :fs.read \"x\"))"),
            &catalogue,
        );
        assert!(effect.unwrap_err().contains("reads-files"));
    }

    /// CCOS-DEL-4: the shape has each step with its own calls, the inner step not as part of the outer one.
    #[test]
    fn a_call_belongs_to_its_innermost_step() {
        let source = "(defplan a () (step :outer (do (call :fs.read \"x\") (step :inner {:retries {:max 2 :backoff-ms 1}} \
                      (call :ledger.query {})))))";
        let shape = shape(&program(source), &catalogue());
        let calls = |index: usize| -> Vec<&str> {
            let step: &ShapeStep = &shape.steps[index];
            step.capabilities.iter().map(String::as_str).collect()
        };
        assert_eq!(calls(0), [":fs.read"]);
        assert_eq!(calls(1), [":ledger.query"]);
        assert_eq!(shape.steps[1].retries, 2);
        assert_eq!(shape.max_calls, Some(4));
    }
}
