//! `callosum do`: from a goal in words to a plan that ran.
//!
//! Start with [`Deliberation`], the run in which models propose and review a plan. It is itself a plan, so every reply is
//! on the chain, and a run that was killed continues. [`Verdict`] is its result. [`Prepared`] is the plan that runs
//! next, from a verdict or from a built-in template. [`budget`] divides what both may use.
//!
//! [`Delegation`] decides who plans, [`proposal`] puts the decision into words, [`loan`] lends the intent, and [`trail`]
//! has the records of both. [`reuse`] finds the stored plan of an earlier run.

pub mod budget;
pub mod loan;
mod output;
mod participants;
pub mod plan_folder;
pub mod proposal;
mod readable;
pub mod reuse;
mod target;
pub mod trail;
mod verdict;

use std::collections::BTreeMap;

use callosum_intent::{
    role::roles,
    template::{Template, best},
};
use callosum_plan::{Key, Value};
use callosum_plan_run::run::RunId;

pub use self::output::{DoOutput, VoteOutput};
pub use self::participants::Wanted;
pub use self::readable::readable;
use self::reuse::{Lookup, PlanKey};
pub use self::target::{Delegation, DelegationOutput, PastOutput};
pub use self::verdict::{Verdict, Vote};

use crate::context::Context;
use crate::executor_pool::Roster;
use crate::plan::provider::model::usual;
use crate::{CommandError, Exit, capability, model};

/// Source of the plan that finds a plan.
pub const DELIBERATE: &str = include_str!("deliberate.rtfs");

/// Calls that a plan may make unless the person says otherwise.
pub const CALLS: i64 = 20;

/// Characters of a goal at most.
const LONGEST_GOAL: usize = 20_000;

/// A run in which models propose and review a plan.
#[derive(Clone, Debug)]
pub struct Deliberation {
    /// The models that propose a plan.
    pub planners: Vec<String>,
    /// The role and the model of each reviewer.
    pub seats: Vec<(String, String)>,
    /// Whether the models get what ledger and notes have about the goal.
    pub is_informed: bool,
    /// Whether a person named the planners.
    pub is_planner_named: bool,
    /// Models that a person named as reviewers.
    named_reviewers: Vec<String>,
    /// Whether the plan is not reviewed.
    is_unreviewed: bool,
}

/// A plan that can run.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The source.
    pub source: String,
    /// The name for messages.
    pub name: String,
    /// The values of its parameters.
    pub input: BTreeMap<String, Value>,
}

/// Returns a goal without space around it, or an error.
pub fn goal(text: &str) -> Result<String, CommandError> {
    let goal = text.trim();
    if goal.is_empty() {
        return Err(CommandError::new(Exit::Usage, "the goal is empty")
            .hint("callosum do 'Give me an overview of this repository'"));
    }
    let length = goal.chars().count();
    if length > LONGEST_GOAL {
        let what = format!("the goal has {length} characters; at most {LONGEST_GOAL} are allowed");
        return Err(CommandError::new(Exit::Usage, what));
    }
    Ok(goal.to_owned())
}

impl Deliberation {
    /// Finds who takes part. `None` if a built-in plan is to be used: no model is ready, or the delegation engine keeps the
    /// goal in the evaluator.
    ///
    /// One model proposes unless others are named: the target that the delegation engine would decide on. The reviewers are
    /// other models first, and the planner if there is no other.
    pub fn of(
        context: &Context,
        goal: &str,
        wanted: &Wanted,
        delegation: &Delegation,
    ) -> Result<Option<Self>, CommandError> {
        let wanted = &wanted.with_defaults(context)?;
        let ready = model::ready(context)?;
        let planners = match wanted.planners.as_slice() {
            [] => match delegation.model(context) {
                Some(model) => vec![model],
                // The evaluator cannot reach a goal that no built-in plan fits.
                None => match (best(goal), ready.first()) {
                    (None, Some(first)) => vec![first.clone()],
                    _ => return Ok(None),
                },
            },
            named => named.to_vec(),
        };
        let mut deliberation = Self {
            planners: Vec::new(),
            seats: Vec::new(),
            is_informed: false,
            is_planner_named: !wanted.planners.is_empty(),
            named_reviewers: wanted.reviewers.clone(),
            is_unreviewed: wanted.is_unreviewed,
        };
        deliberation.set_planners(context, planners)?;
        Ok(Some(deliberation))
    }

    /// Replaces the models that propose, and chooses the reviewers for them.
    pub fn set_planners(
        &mut self,
        context: &Context,
        planners: Vec<String>,
    ) -> Result<(), CommandError> {
        let ready = model::ready(context)?;
        let others = ready.iter().filter(|id| !planners.contains(id));
        let mut reviewers: Vec<String> = match self.named_reviewers.as_slice() {
            [] => others.cloned().collect(),
            named => named.to_vec(),
        };
        if reviewers.is_empty() {
            reviewers.clone_from(&planners);
        }
        self.seats = if self.is_unreviewed {
            Vec::new()
        } else {
            let roles = roles();
            let roles = roles.iter().map(|role| role.name.to_owned());
            roles.zip(reviewers.iter().cycle().cloned()).collect()
        };
        let asked = planners.iter().chain(&reviewers);
        self.is_informed = are_trusted(context, asked)?;
        self.planners = planners;
        Ok(())
    }

    /// Returns the values of the parameters of [`DELIBERATE`]: the goal, the capabilities and calls that its plan may
    /// use, its intent, the id that the run of the plan gets, so that a second process finds it, and what an earlier
    /// attempt came to.
    pub fn input(
        &self,
        goal: &str,
        (caps, max_calls): (&[String], i64),
        (intent, next): (&str, &RunId),
        failure: Option<&str>,
    ) -> BTreeMap<String, Value> {
        let texts = |texts: &[String]| {
            Value::vector(
                texts
                    .iter()
                    .map(|text| Value::text(text.as_str()))
                    .collect(),
            )
        };
        let seat = |(role, model): &(String, String)| {
            let entries = [("role", role), ("model", model)];
            let entries =
                entries.map(|(key, text)| (Key::Keyword(key.into()), Value::text(text.as_str())));
            Value::map(entries.into())
        };
        BTreeMap::from([
            ("goal".to_owned(), Value::text(goal)),
            ("planners".to_owned(), texts(&self.planners)),
            (
                "seats".to_owned(),
                Value::vector(self.seats.iter().map(seat).collect()),
            ),
            ("caps".to_owned(), texts(caps)),
            ("max-calls".to_owned(), Value::Integer(max_calls)),
            ("is-informed".to_owned(), Value::Boolean(self.is_informed)),
            (
                "failure".to_owned(),
                failure.map_or(Value::Nil, Value::text),
            ),
            ("intent".to_owned(), Value::text(intent)),
            ("next-run".to_owned(), Value::text(next.as_str())),
        ])
    }
}

/// Explains where `callosum do` would plan a goal: the stored plan for it, else the engine's decision. Records nothing.
pub fn explain(context: &Context, goal: &str) -> Result<DelegationOutput, CommandError> {
    let mut delegation = Delegation::of(context, goal)?;
    let deliberation = Deliberation::of(context, goal, &Wanted::default(), &delegation)?;
    if let Some(deliberation) = deliberation {
        let key = PlanKey {
            goal: goal.to_owned(),
            planners: deliberation.planners,
            caps: allowed(context, &[])?,
            max_calls: CALLS,
        };
        match key.find(context)? {
            Lookup::Found(stored) => delegation.use_stored_plan(&stored.target, &stored.run),
            Lookup::Refused(why) => context.report.warn(&why, None),
            Lookup::Similar(_) | Lookup::None => {}
        }
    }
    Ok(delegation.explain(context, goal))
}

/// Whether all models are trusted with what people wrote down.
fn are_trusted<'m>(
    context: &Context,
    mut models: impl Iterator<Item = &'m String>,
) -> Result<bool, CommandError> {
    let catalogue = capability::catalogue(context)?;
    Ok(models.all(|id| {
        let name = format!("agent.{id}");
        let mut manifests = catalogue.iter();
        let manifest = manifests.find(|manifest| manifest.id.as_str() == name);
        manifest.is_none_or(|manifest| {
            manifest.trust_tier >= callosum_plan_run::kernel::Sensitivity::Personal.tier()
        })
    }))
}

/// Returns the capabilities that a model's plan may call: what the person named, else what leaves files alone.
pub fn allowed(context: &Context, named: &[String]) -> Result<Vec<String>, CommandError> {
    if !named.is_empty() {
        let parsed = callosum_plan::Allowlist::parse(named);
        parsed.map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
        return Ok(named.to_vec());
    }
    let catalogue = capability::catalogue(context)?;
    let usual = usual(&catalogue);
    Ok(usual.patterns().iter().map(ToString::to_string).collect())
}

/// Returns the plan of a template for a goal. The executors that it asks are the ready ones; without any, the built-in
/// `scout`.
pub fn of_template(
    context: &Context,
    template: &Template,
    goal: &str,
) -> Result<Prepared, CommandError> {
    let mut executors = model::ready(context)?;
    if executors.is_empty() {
        let roster = Roster::load(context)?;
        executors.extend(roster.embedded());
    }
    executors.truncate(template.executors);
    let paths = paths_in(context, goal);
    let texts = |texts: Vec<String>| Value::vector(texts.into_iter().map(Value::text).collect());
    Ok(Prepared {
        source: template.source.to_owned(),
        name: format!("the template {}", template.name),
        input: BTreeMap::from([
            ("goal".to_owned(), Value::text(goal)),
            ("executors".to_owned(), texts(executors)),
            ("paths".to_owned(), texts(paths)),
        ]),
    })
}

/// Returns the words of a goal that are paths of files or folders in the project.
fn paths_in(context: &Context, goal: &str) -> Vec<String> {
    let trimmed = |word: &str| -> String {
        let word = word.trim_matches(|c: char| "`'\"(),;:!?".contains(c));
        word.trim_end_matches('.').to_owned()
    };
    let is_path = |word: &String| {
        let is_inside = !word.starts_with('/') && !word.contains("..");
        let looks_so = word.contains('/') || word.contains('.');
        is_inside
            && looks_so
            && context
                .disk
                .exists(&context.tree().join(word))
                .unwrap_or(false)
    };
    let mut paths: Vec<String> = goal
        .split_whitespace()
        .map(trimmed)
        .filter(is_path)
        .collect();
    paths.dedup();
    paths
}
