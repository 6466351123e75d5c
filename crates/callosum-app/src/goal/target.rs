//! [`Delegation`]: the place that plans a goal, chosen by the delegation engine (CCOS-DEL-2).
//!
//! The models that are ready are offers, the mesh's routing matrix is the static map, and the
//! constitution is the policy. If no model is chosen, the goal stays in the evaluator, with a
//! built-in plan.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use callosum_intent::delegation::{
    CallContext, DelegationMetadata, Engine, EngineOptions, ExecTarget, Explanation, Needs, Offer,
    Policy, PolicyEpoch, Symbol, stable_hash,
};
use callosum_ledger::{AuditEvent, AuditQuery, AuditReader, Event};
use callosum_model::Place;
use schemars::JsonSchema;
use serde::Serialize;

use super::trail::{Outcome, Trail};
use crate::constitution::{governance, governance_failed};
use crate::context::Context;
use crate::mesh::route::classified;
use crate::{CommandError, capability, model, open_ledger};

/// The call that is decided over.
const SYMBOL: &str = "llm.generate-plan";

/// The engine of one goal.
pub struct Delegation {
    engine: Engine,
    symbol: Symbol,
    metadata: DelegationMetadata,
    fingerprint: u64,
    surroundings: u64,
    /// The models that are ready, in the order of preference.
    ready: Vec<String>,
    past: BTreeMap<String, PastOutput>,
    /// The run of the stored plan that is used.
    stored_run: Option<String>,
}

/// Output of `callosum delegation explain --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DelegationOutput {
    /// The goal.
    pub goal: String,
    /// The call: `llm.generate-plan`.
    pub symbol: String,
    /// The call's key in the cache, 16 hexadecimal digits.
    pub task_hash: String,
    /// The target: `local-pure`, `local:ID`, `remote:ID` or `l4:POINTER:SIGNATURE`.
    pub target: String,
    /// The step that leads to it: `static`, `hit`, `metadata` or `default`.
    pub why: String,
    /// Confidence, from 0 to 1.
    pub confidence: f64,
    /// The version of the policy, 16 hexadecimal digits.
    pub policy_epoch: String,
    /// The reason, for people.
    pub reasoning: String,
    /// The scores of all offers, the best first; empty if the routing matrix or a stored plan decides.
    pub scores: Vec<ScoreOutput>,
    /// The run of the stored plan that `callosum do` would propose.
    pub reused_from: Option<String>,
    /// Past plans of the models.
    pub past: Vec<PastOutput>,
}

/// Past plans of a model. The scorers count completed plans as successes, and the rest as failures.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct PastOutput {
    /// The model.
    pub model: String,
    /// Plans whose run was completed.
    pub completed: u32,
    /// Plans whose run failed.
    pub failed: u32,
    /// Plans that the reviewers rejected.
    pub rejected: u32,
    /// Plans that a person declined.
    pub declined: u32,
    /// Goals without a plan that could run.
    pub no_plan: u32,
    /// Replies that broke a rule.
    pub refused_replies: u32,
}

/// The score of one offer.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ScoreOutput {
    /// The target.
    pub target: String,
    /// The weighted mean, from 0 to 1.
    pub score: f64,
    /// The limit that excludes it.
    pub excluded_by: Option<String>,
}

impl Delegation {
    /// Gathers offers, routes, policy and past outcomes. Costs one search through the journal.
    pub fn of(context: &Context, goal: &str) -> Result<Self, CommandError> {
        let engine = Engine::new(EngineOptions::default());
        let symbol = engine.symbol(SYMBOL);
        let catalogue = capability::catalogue(context)?;
        let registry = model::registry(context)?;
        let ready = model::ready(context)?;
        let target = |id: &str| {
            let place = registry
                .get(id)
                .map_or(Place::Remote, |model| model.place());
            match place {
                Place::Remote => ExecTarget::RemoteModel(id.to_owned()),
                Place::Local | Place::Deterministic => ExecTarget::LocalModel(id.to_owned()),
            }
        };
        for id in &ready {
            let name = format!("agent.{id}");
            let mut manifests = catalogue.iter();
            let manifest = manifests.find(|manifest| manifest.id.as_str() == name);
            let tier = manifest.map_or(0, |manifest| manifest.trust_tier.get());
            engine.offer(symbol, Offer::new(target(id)).trust_tier(tier));
        }
        let agent = classified(context, goal)?.agent;
        let agent = agent.map(|agent| agent.to_string());
        let route = agent.filter(|agent| ready.contains(agent));
        engine.set_routes(route.iter().map(|agent| (SYMBOL, target(agent))));
        let governance = governance(context);
        let revoked = governance.revoked();
        let revoked = revoked.map_err(|error| governance_failed(&error))?;
        let is_denied = |id: &&String| {
            let name = format!("agent.{id}");
            revoked.iter().any(|capability| capability.as_str() == name)
        };
        let denied: BTreeSet<ExecTarget> = ready
            .iter()
            .filter(is_denied)
            .map(|id| target(id))
            .collect();
        let constitution = governance.constitution();
        engine.set_policy(Policy {
            epoch: PolicyEpoch::of_policy(constitution.hash().as_bytes()),
            denied,
            denies_remote: false,
        });
        let mut past: BTreeMap<String, PastOutput> = BTreeMap::new();
        for id in refused_replies(context)? {
            engine.record_outcome(symbol, &target(&id), false);
            of_model(&mut past, &id).refused_replies += 1;
        }
        for (id, outcome) in Trail::read(context)?.outcomes() {
            let is_success = outcome == Outcome::Completed;
            engine.record_outcome(symbol, &target(id), is_success);
            let past = of_model(&mut past, id);
            let count = match outcome {
                Outcome::Completed => &mut past.completed,
                Outcome::Failed => &mut past.failed,
                Outcome::Rejected => &mut past.rejected,
                Outcome::Declined => &mut past.declined,
                Outcome::NoPlan => &mut past.no_plan,
            };
            *count += 1;
        }
        let metadata = DelegationMetadata {
            source: Some("callosum do".to_owned()),
            needs: Needs::default(),
            ..DelegationMetadata::default()
        };
        Ok(Self {
            symbol,
            metadata,
            fingerprint: stable_hash([goal.as_bytes()]),
            surroundings: stable_hash([constitution.hash().as_bytes()]),
            engine,
            ready,
            past,
            stored_run: None,
        })
    }

    /// Sends the goal to a stored plan, which was verified, from a run.
    pub fn use_stored_plan(&mut self, plan: &ExecTarget, run: &str) {
        self.engine.set_routes([(SYMBOL, plan.clone())]);
        self.stored_run = Some(run.to_owned());
    }

    /// Returns the model that would be decided on, or `None` for the evaluator. Records nothing.
    pub fn model(&self, context: &Context) -> Option<String> {
        let found = self.engine.explain(&self.call(), context.clock.now());
        model_of(&found.target)
    }

    /// Returns the other models that the goal may go to, the best first.
    pub fn others(&self, context: &Context, planners: &[String]) -> Vec<String> {
        let found = self.engine.explain(&self.call(), context.clock.now());
        let scores = found.scores.iter().filter(|score| score.veto.is_none());
        let mut others: Vec<String> = scores.filter_map(|score| model_of(&score.target)).collect();
        if found.scores.is_empty() {
            let permitted = |id: &&String| {
                let policy = self.engine.policy();
                let is_it = |target: &ExecTarget| model_of(target).as_ref() == Some(*id);
                !policy.denied.iter().any(is_it)
            };
            others.extend(self.ready.iter().filter(permitted).cloned());
        }
        others.retain(|id| !planners.contains(id));
        others
    }

    fn call(&self) -> CallContext<'_> {
        CallContext::new(self.symbol, self.fingerprint, self.surroundings)
            .with_metadata(&self.metadata)
    }

    /// Explains the decision. Records nothing.
    pub fn explain(&self, context: &Context, goal: &str) -> DelegationOutput {
        let found: Explanation = self.engine.explain(&self.call(), context.clock.now());
        let scores = found.scores.into_iter().map(|score| ScoreOutput {
            target: score.target.to_string(),
            score: score.total,
            excluded_by: score.veto.map(|veto| veto.to_string()),
        });
        DelegationOutput {
            goal: goal.to_owned(),
            symbol: found.symbol,
            task_hash: found.task_hash.to_string(),
            target: found.target.to_string(),
            why: found.why.to_string(),
            confidence: found.confidence,
            policy_epoch: found.policy_epoch.to_string(),
            reasoning: match &self.stored_run {
                Some(run) => format!("the plan of run {run} for the same goal was completed"),
                None => found.reasoning,
            },
            scores: scores.collect(),
            reused_from: self.stored_run.clone(),
            past: self.past.values().cloned().collect(),
        }
    }

    /// Decides, and records the decision before anything depends on it. Returns the model, or `None` for the evaluator.
    pub fn decide(&self, context: &Context) -> Result<Option<String>, CommandError> {
        let decision = self.engine.decide(&self.call(), context.clock.now());
        let model = model_of(decision.target);
        let ledger = open_ledger::open(context)?;
        self.engine.flush(|records| {
            for record in records {
                let event = AuditEvent {
                    status: Some("target".to_owned()),
                    ..AuditEvent::new(Event::Decision)
                };
                let event = event.with("delegation", serde_json::json!(record));
                open_ledger::record(&ledger, event)?;
            }
            Ok::<(), CommandError>(())
        })?;
        Ok(model)
    }
}

/// Returns the model of a target.
fn model_of(target: &ExecTarget) -> Option<String> {
    match target {
        ExecTarget::LocalModel(id) | ExecTarget::RemoteModel(id) => Some(id.clone()),
        ExecTarget::LocalPure | ExecTarget::L4CacheHit { .. } => None,
    }
}

fn of_model<'p>(past: &'p mut BTreeMap<String, PastOutput>, id: &str) -> &'p mut PastOutput {
    past.entry(id.to_owned()).or_insert_with(|| PastOutput {
        model: id.to_owned(),
        ..PastOutput::default()
    })
}

/// Returns the model of each reply that was refused here, once for each refusal.
fn refused_replies(context: &Context) -> Result<Vec<String>, CommandError> {
    let query = AuditQuery {
        event: Some(Event::Rejected),
        ..AuditQuery::default()
    };
    let mut failures = Vec::new();
    let reader = AuditReader::new(context.disk.clone(), context.ledger_paths());
    let read = reader.query(&query, |record| {
        let model = record.details.get("model");
        failures.extend(model.and_then(|model| model.as_str()).map(str::to_owned));
        ControlFlow::Continue(())
    });
    read.map_err(|error| CommandError::from_error(crate::Exit::Environment, &error))?;
    Ok(failures)
}
