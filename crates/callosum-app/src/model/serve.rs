//! [`serving`]: the models that the daemon serves to another Callosum, if the user's configuration says so.

use std::sync::Arc;
use std::time::Duration;

use callosum_config::{Environment, Homes, ModelSettings};
use callosum_daemon::{InferError, InferReply, InferRequest, ModelServing};
use callosum_host::Disk;
use callosum_host::process::Cancel;
use callosum_model::{Limits, ModelError, Request};

use super::{configured, provider};
use crate::context::Context;
use crate::report::Reporter;
use crate::{CommandError, Exit};

/// Shortest token that protects served models, in bytes.
const SHORTEST_TOKEN: usize = 16;

/// Returns what the daemon serves: `None` unless `arbiter.serve_models` names a model.
///
/// Costs one read of the configuration, and of the token. The configuration is not read again while the daemon runs.
pub fn serving(
    disk: &Disk,
    homes: &Homes,
    environment: &Environment,
    report: &Arc<dyn Reporter>,
) -> Result<Option<ModelServing>, CommandError> {
    let path = &homes.user_config;
    let failed = |error: &dyn std::error::Error| {
        CommandError::new(Exit::Environment, error.to_string()).hint("callosum config check")
    };
    let settings = ModelSettings::load(disk, path).map_err(|error| failed(&error))?;
    let Some(served) = settings.served else {
        return Ok(None);
    };
    let unusable = |what: String| {
        let what = format!("{}: {what}", path.display());
        CommandError::new(Exit::Environment, what).hint("callosum config check")
    };
    let token = configured::read_token(disk, environment, &served.token);
    let (token, key) = token.map_err(|why| unusable(format!("`arbiter.serve_{why}")))?;
    if token.len() < SHORTEST_TOKEN {
        return Err(unusable(format!(
            "`arbiter.serve_{key}`: the token has {} characters (allowed: at least {SHORTEST_TOKEN})",
            token.len()
        )));
    }
    // The configuration's folder has no project, and it exists.
    let folder = path.parent().unwrap_or(path).to_owned();
    let (environment, report) = (environment.clone(), Arc::clone(report));
    let cancel = Cancel::new().map_err(CommandError::internal)?;
    let context = Context::gather(environment, Some(&folder), report, cancel)?;
    let infer = move |request: InferRequest, cancel: &Cancel| infer(&context, request, cancel);
    Ok(Some(ModelServing {
        names: served.names,
        token,
        infer: Arc::new(infer),
    }))
}

fn infer(
    context: &Context,
    asked: InferRequest,
    cancel: &Cancel,
) -> Result<InferReply, InferError> {
    let model = provider(context, &asked.model).map_err(|error| {
        // The reason names files of this machine.
        tracing::error!(
            model = asked.model,
            error = error.one_line(),
            "cannot ask a served model"
        );
        InferError::Failed("the model cannot be asked; the log of the daemon says why".to_owned())
    })?;
    let prompt_tokens = callosum_citation::tokens::estimate(&asked.prompt);
    let limits = Limits {
        tokens: asked
            .max_tokens
            .map(|most| most.saturating_add(prompt_tokens)),
        time: asked.deadline_ms.map(Duration::from_millis),
    };
    let request = Request {
        prompt: asked.prompt,
        schema: asked.schema,
        grammar: asked.grammar,
        max_tokens: asked.max_tokens,
    };
    let reply = model.infer(&request, limits, cancel, &mut |_| {});
    match reply {
        Ok(reply) => Ok(InferReply {
            text: reply.text,
            tokens: reply.tokens,
            cost_usd: reply.cost_usd,
        }),
        Err(error) => Err(match error {
            ModelError::OverBudget { .. } => InferError::OverBudget(error.to_string()),
            ModelError::TooLong { .. } => InferError::TooLong(error.to_string()),
            ModelError::Canceled { .. } => InferError::Canceled(error.to_string()),
            ModelError::Deadline { .. } => InferError::Deadline(error.to_string()),
            ModelError::CutOff { .. } => InferError::CutOff(error.to_string()),
            ModelError::Failed { .. } => InferError::Failed(error.to_string()),
        }),
    }
}
