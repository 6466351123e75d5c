//! [`Delegation`]: where the planning of a goal runs, decided by the delegation engine (CCOS-DEL-2).
//!
//! The models that are ready are offers, the mesh's routing matrix is the static map, and the constitution is the
//! policy. If no model is chosen, the goal stays in the evaluator, with a built-in plan.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use callosum_intent::delegation::{
    CallContext, DelegationMetadata, Engine, EngineOptions, ExecTarget, Explanation, Needs, Offer,
    Policy, PolicyEpoch, Symbol, stable_hash,
};
use callosum_ledger::{AuditEvent, AuditQuery, AuditReader, Event};
use callosum_model::Place;
use schemars::JsonSchema;
use serde::Serialize;

use crate::constitution::governance;
use crate::context::Context;
use crate::mesh::route::classified;
use crate::plan::provider::model::models;
use crate::{CommandError, capability, explain, model, store};

/// The call that is decided over.
const SYMBOL: &str = "llm.generate-plan";

/// The engine of one goal.
pub struct Delegation {
    engine: Engine,
    symbol: Symbol,
    metadata: DelegationMetadata,
    fingerprint: u64,
    surroundings: u64,
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
    /// The scores of all offers, the best first.
    pub scores: Vec<ScoreOutput>,
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
        let ready = models(context)?;
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
        let revoked = revoked.map_err(|error| explain::governance(&error))?;
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
        for id in failures(context)? {
            engine.record_outcome(symbol, &target(&id), false);
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
        })
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
            reasoning: found.reasoning,
            scores: scores.collect(),
        }
    }

    /// Decides, and records the decision before anything depends on it. Returns the model, or `None` for the evaluator.
    pub fn decide(&self, context: &Context) -> Result<Option<String>, CommandError> {
        let decision = self.engine.decide(&self.call(), context.clock.now());
        let model = match decision.target {
            ExecTarget::LocalModel(id) | ExecTarget::RemoteModel(id) => Some(id.clone()),
            ExecTarget::LocalPure | ExecTarget::L4CacheHit { .. } => None,
        };
        let ledger = store::open(context)?;
        self.engine.flush(|records| {
            for record in records {
                let event = AuditEvent {
                    status: Some("target".to_owned()),
                    ..AuditEvent::new(Event::Decision)
                };
                let event = event.with("delegation", serde_json::json!(record));
                store::record(&ledger, event)?;
            }
            Ok::<(), CommandError>(())
        })?;
        Ok(model)
    }
}

/// Returns the model of each plan that was refused here, once for each refusal.
fn failures(context: &Context) -> Result<Vec<String>, CommandError> {
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
