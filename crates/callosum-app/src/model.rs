//! `callosum model`: the models that can be asked, and whether they answer.
//!
//! A model is an executor that takes tasks, or `echo`, which is built in. Start with [`registry`].

use std::time::{Duration, Instant};

use callosum_agents::registry::{Executor, Status};
use callosum_host::process::Cancel;
use callosum_model::{ExecutorModel, Limits, ModelRegistry, Request};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::plan::provider::model;
use crate::roster::Roster;
use crate::{CommandError, Exit, capability};

/// The question of a check.
const QUESTION: &str = "Reply with the word pong and nothing else.";

/// Output of `callosum model list --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ModelListOutput {
    /// The models, in the order in which they are asked.
    pub models: Vec<ModelOutput>,
}

/// One model.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ModelOutput {
    /// Its id.
    pub id: String,
    /// `deterministic`, `local` or `remote`.
    pub place: String,
    /// Whether it is asked without being named.
    pub ready: bool,
    /// Trust tier, 0 to 3.
    pub trust_tier: u8,
    /// The model's name at its server, if its entry has one.
    pub model: Option<String>,
}

/// Output of `callosum model check --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ModelCheckOutput {
    /// Each model that was asked.
    pub models: Vec<ModelCheck>,
}

/// One model that was asked a short question.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ModelCheck {
    /// Its id.
    pub id: String,
    /// Whether it answered.
    pub answered: bool,
    /// The answer, cut at 200 characters, or the error.
    pub text: String,
    /// Tokens of question and answer.
    pub tokens: u64,
    /// US dollars, as the model reports.
    pub cost_usd: f64,
    /// Time until the answer.
    pub milliseconds: u64,
}

/// Returns every executor that takes tasks and may be started here as a model, and `echo`.
pub fn registry(context: &Context) -> Result<ModelRegistry, CommandError> {
    let roster = Roster::load(context)?;
    let mut registry = ModelRegistry::with_defaults();
    let executors = roster.registry().executors().iter();
    let is_model = |executor: &&Executor| {
        !executor.is_embedded() && executor.takes_tasks() && roster.is_trusted(executor)
    };
    let executors: Vec<&Executor> = executors.filter(is_model).collect();
    if executors.is_empty() {
        return Ok(registry);
    }
    let surroundings = context.surroundings()?;
    for executor in executors {
        registry.register(ExecutorModel::new(executor.clone(), surroundings.clone()));
    }
    Ok(registry)
}

/// Lists the models, those first that are asked without being named.
pub fn list(context: &Context) -> Result<ModelListOutput, CommandError> {
    let ready = model::models(context)?;
    let roster = Roster::load(context)?;
    let catalogue = capability::catalogue(context)?;
    let registry = registry(context)?;
    let rank = |id: &str| ready.iter().position(|ready| ready == id);
    let mut models: Vec<ModelOutput> = registry
        .iter()
        .map(|model| {
            let id = model.id();
            let name = format!("agent.{id}");
            let mut manifests = catalogue.iter();
            let manifest = manifests.find(|manifest| manifest.id.as_str() == name);
            let executor = roster.registry().get(id);
            ModelOutput {
                id: id.to_owned(),
                place: model.place().as_str().to_owned(),
                ready: executor.is_some_and(|executor| executor.status == Status::Active)
                    && rank(id).is_some(),
                trust_tier: manifest.map_or(3, |manifest| manifest.trust_tier.get()),
                model: executor.and_then(|executor| executor.model.clone()),
            }
        })
        .collect();
    models.sort_by_key(|model| (rank(&model.id).unwrap_or(usize::MAX), model.id.clone()));
    Ok(ModelListOutput { models })
}

/// Asks models a short question: the named ones, or all that are ready.
pub fn check(context: &Context, named: &[String]) -> Result<ModelCheckOutput, CommandError> {
    let ids = match named {
        [] => model::models(context)?,
        named => named.to_vec(),
    };
    if ids.is_empty() {
        return Err(CommandError::new(Exit::Environment, "no model is ready")
            .hint("callosum executor discover"));
    }
    let registry = registry(context)?;
    let cancel: &Cancel = &context.cancel;
    let mut models = Vec::new();
    for id in ids {
        let Some(model) = registry.get(&id) else {
            let what = format!("there is no model `{id}`");
            return Err(CommandError::new(Exit::Usage, what).hint("callosum model list"));
        };
        let limits = Limits {
            tokens: None,
            time: Some(Duration::from_mins(2)),
        };
        let request = Request {
            prompt: QUESTION.to_owned(),
        };
        let began = Instant::now();
        let progress = context.report.clone();
        let asked = model.infer(&request, limits, cancel, &mut |line| progress.detail(line));
        let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        models.push(match asked {
            Ok(reply) => ModelCheck {
                id,
                answered: true,
                text: reply.text.trim().chars().take(200).collect(),
                tokens: reply.tokens,
                cost_usd: reply.cost_usd,
                milliseconds,
            },
            Err(error) => ModelCheck {
                id,
                answered: false,
                text: error.to_string(),
                tokens: error.tokens(),
                cost_usd: 0.0,
                milliseconds,
            },
        });
    }
    Ok(ModelCheckOutput { models })
}
