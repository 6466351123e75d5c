//! `callosum model list`: the models in the order in which they are asked, with the trust that plans have in them.

use callosum_config::ModelKind;
use callosum_executor::registry::Status;
use callosum_model::{ECHO, ExecutorModel, Place};
use schemars::JsonSchema;
use serde::Serialize;

use super::{configured, ready, registry};
use crate::context::Context;
use crate::executor_pool::Roster;
use crate::{CommandError, capability};

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

/// Lists the models, those first that are asked without being named.
pub fn list(context: &Context) -> Result<ModelListOutput, CommandError> {
    let ready = ready(context)?;
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
