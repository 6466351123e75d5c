//! `callosum model`: the models that can be asked, and whether they answer.
//!
//! A model is one of the user's configuration (`configured`), an executor that takes tasks, or `echo`, which is built
//! in. Start with [`registry`]. `serve` answers for the daemon.

mod cache;
pub mod configured;
mod serve;

use std::sync::Arc;
use std::time::{Duration, Instant};

use callosum_config::ModelKind;
use callosum_executor::registry::{Executor, Status};
use callosum_host::process::Cancel;
use callosum_model::{
    Delta, ECHO, EchoModel, ExecutorModel, Limits, ModelProvider, ModelRegistry, Place, Request,
};
use schemars::JsonSchema;
use serde::Serialize;

pub use self::cache::ModelCache;
pub(crate) use self::configured::manifests;
pub use self::serve::serving;

use crate::context::Context;
use crate::executor_pool::Roster;
use crate::plan::provider::model;
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
    /// `built-in`, `stub`, `local` or `remote-arbiter`; of an executor `cli`, `http` or `mcp`.
    pub kind: String,
    /// `built-in`, `config`, `environment` or `executor`.
    pub source: String,
    /// `deterministic`, `local` or `remote`.
    pub place: String,
    /// Whether it is asked without being named.
    pub ready: bool,
    /// Trust tier, 0 to 3.
    pub trust_tier: u8,
    /// The model's name at its server, if its entry has one.
    pub model: Option<String>,
    /// The reason why it cannot be asked, if its configuration has a fault.
    pub problem: Option<String>,
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

/// Returns the models that can be asked: those of the user's configuration, every executor that takes tasks and may be
/// started here, and `echo`. A configured model with a fault is left out; [`provider`] says why.
pub fn registry(context: &Context) -> Result<ModelRegistry, CommandError> {
    let roster = Roster::load(context)?;
    let mut registry = ModelRegistry::with_defaults();
    let executors = roster.registry().executors().iter();
    let is_model = |executor: &&Executor| {
        !executor.is_embedded() && executor.takes_tasks() && roster.is_trusted(executor)
    };
    let executors: Vec<&Executor> = executors.filter(is_model).collect();
    if !executors.is_empty() {
        let surroundings = context.surroundings()?;
        for executor in executors {
            registry.register(ExecutorModel::new(executor.clone(), surroundings.clone()));
        }
    }
    for setting in &configured::settings(context)?.models {
        if let Ok(Some(model)) = configured::provider(context, &setting.name) {
            registry.add(model);
        }
    }
    Ok(registry)
}

/// Returns one model that is named.
pub fn provider(context: &Context, id: &str) -> Result<Arc<dyn ModelProvider>, CommandError> {
    if id == ECHO {
        return Ok(Arc::new(EchoModel));
    }
    if let Some(model) = configured::provider(context, id)? {
        return Ok(model);
    }
    registry(context)?.get(id).ok_or_else(|| {
        let what = format!("there is no model `{id}`");
        CommandError::new(Exit::Usage, what).hint("callosum model list")
    })
}

/// Lists the models, those first that are asked without being named.
pub fn list(context: &Context) -> Result<ModelListOutput, CommandError> {
    let ready = model::models(context)?;
    let roster = Roster::load(context)?;
    let catalogue = capability::catalogue(context)?;
    let settings = configured::settings(context)?;
    let registry = registry(context)?;
    let planner = settings.planner.as_deref();
    let rank = |id: &str| match ready.iter().position(|ready| ready == id) {
        _ if planner == Some(id) => 0,
        Some(place) => place + 1,
        None if settings.get(id).is_some() => ready.len() + 1,
        None => usize::MAX,
    };
    let tier = |id: &str| {
        let name = format!("agent.{id}");
        let mut manifests = catalogue.iter();
        let manifest = manifests.find(|manifest| manifest.id.as_str() == name);
        manifest.map_or(3, |manifest| manifest.trust_tier.get())
    };
    let mut models = Vec::new();
    for setting in &settings.models {
        let opened = configured::provider(context, &setting.name);
        let entry = configured::executor(setting);
        let place = match (&opened, &setting.kind) {
            (Ok(Some(model)), _) => model.place(),
            (_, ModelKind::Stub { .. }) => Place::Deterministic,
            _ => ExecutorModel::place_of(&entry),
        };
        models.push(ModelOutput {
            id: setting.name.clone(),
            kind: setting.kind.as_str().to_owned(),
            source: match setting.kind {
                ModelKind::File { .. } => "environment",
                _ => "config",
            }
            .to_owned(),
            place: place.as_str().to_owned(),
            ready: opened.is_ok(),
            trust_tier: tier(&setting.name),
            model: match setting.kind {
                ModelKind::Stub { .. } | ModelKind::File { .. } => None,
                _ => entry.model,
            },
            problem: opened.err().map(|error| error.one_line()),
        });
    }
    for model in registry.iter() {
        let id = model.id();
        if settings.get(id).is_some() {
            continue;
        }
        let executor = roster.registry().get(id).filter(|_| id != ECHO);
        let source = executor.map_or("built-in", |_| "executor");
        models.push(ModelOutput {
            id: id.to_owned(),
            kind: executor
                .map_or("built-in", |executor| executor.kind.as_str())
                .to_owned(),
            source: source.to_owned(),
            place: model.place().as_str().to_owned(),
            ready: executor.is_some_and(|executor| executor.status == Status::Active)
                && ready.iter().any(|ready| ready == id),
            trust_tier: tier(id),
            model: executor.and_then(|executor| executor.model.clone()),
            problem: None,
        });
    }
    models.sort_by_key(|model| (rank(&model.id), model.id.clone()));
    Ok(ModelListOutput { models })
}

/// Asks models a short question: the named ones, or all that are ready.
pub fn check(context: &Context, named: &[String]) -> Result<ModelCheckOutput, CommandError> {
    let ids = match named {
        [] => {
            let mut ids = model::models(context)?;
            let configured = &configured::settings(context)?.models;
            ids.extend(configured.iter().map(|model| model.name.clone()));
            ids.sort();
            ids.dedup();
            ids
        }
        named => named.to_vec(),
    };
    if ids.is_empty() {
        return Err(CommandError::new(Exit::Environment, "no model is ready")
            .hint("callosum executor discover"));
    }
    let mut models = Vec::new();
    for id in ids {
        let model = match provider(context, &id) {
            Ok(model) => model,
            Err(error) if named.is_empty() => {
                models.push(ModelCheck::silent(id, &error.one_line()));
                continue;
            }
            Err(error) => return Err(error),
        };
        models.push(asked(context, &*model));
    }
    Ok(ModelCheckOutput { models })
}

/// Asks one model the question, and times the answer.
fn asked(context: &Context, model: &dyn ModelProvider) -> ModelCheck {
    let limits = Limits {
        tokens: None,
        time: Some(Duration::from_mins(2)),
    };
    let request = Request::text(QUESTION);
    let cancel: &Cancel = &context.cancel;
    let progress = context.report.clone();
    let began = Instant::now();
    let answer = model.infer(&request, limits, cancel, &mut |delta| {
        if let Delta::Progress(line) = delta {
            progress.detail(line);
        }
    });
    let id = model.id().to_owned();
    let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    match answer {
        Ok(reply) => ModelCheck {
            id,
            answered: true,
            text: reply.text.trim().chars().take(200).collect(),
            tokens: reply.tokens,
            cost_usd: reply.cost_usd,
            milliseconds,
        },
        Err(error) => ModelCheck {
            tokens: error.tokens(),
            milliseconds,
            ..ModelCheck::silent(id, &error.to_string())
        },
    }
}

impl ModelCheck {
    fn silent(id: String, why: &str) -> Self {
        Self {
            id,
            answered: false,
            text: why.to_owned(),
            tokens: 0,
            cost_usd: 0.0,
            milliseconds: 0,
        }
    }
}
