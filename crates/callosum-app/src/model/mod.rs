//! `callosum model`: the models that can be asked, and whether they answer.
//!
//! A model is one of the user's configuration (`configured`), an executor that takes tasks, or `echo`, which is built
//! in. Start with [`registry`]. `list` shows them with the trust that plans have in them, and `serve` answers for the
//! daemon.

mod cache;
pub mod configured;
#[cfg(feature = "plans")]
mod list;
mod serve;

use std::sync::Arc;
use std::time::{Duration, Instant};

use callosum_executor::registry::Executor;
use callosum_host::process::Cancel;
use callosum_model::{
    Delta, ECHO, EchoModel, ExecutorModel, Limits, ModelProvider, ModelRegistry, Request,
};
use schemars::JsonSchema;
use serde::Serialize;

pub use self::cache::ModelCache;
#[cfg(feature = "plans")]
pub use self::list::{ModelListOutput, ModelOutput, list};
pub use self::serve::serving;

use crate::context::Context;
use crate::executor_pool::Roster;
use crate::{CommandError, Exit};

/// The question of a check.
const QUESTION: &str = "Reply with the word pong and nothing else.";

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

/// Returns the executors that can be asked as models, in the order of preference.
pub fn ready(context: &Context) -> Result<Vec<String>, CommandError> {
    let roster = Roster::load(context)?;
    let ready = roster.choice().ready().into_iter();
    Ok(ready
        .filter(|id| {
            let executor = roster.registry().get(id);
            executor.is_some_and(|executor| !executor.is_embedded() && executor.takes_tasks())
        })
        .collect())
}

/// Asks models a short question: the named ones, or all that are ready.
pub fn check(context: &Context, named: &[String]) -> Result<ModelCheckOutput, CommandError> {
    let ids = match named {
        [] => {
            let mut ids = ready(context)?;
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
