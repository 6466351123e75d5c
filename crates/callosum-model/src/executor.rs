//! [`ExecutorModel`]: any registered executor as a model: Claude Code, Codex, Gemini CLI, Ollama, a server with OpenAI's
//! interface.
//!
//! The executor gets the prompt alone, and runs as confined as for a task.

use callosum_agents::{
    protocol::{Answer, AnswerError, Request as Task},
    registry::{Executor, Kind},
    runner::{self, ExecutionEnvironment, RunError, Sign},
};
use callosum_evidence::tokens;
use callosum_host::process::Cancel;

use crate::provider::{
    LONGEST_REPLY, Limits, ModelError, ModelProvider, Place, Reply, Request, refuse_over_budget,
};

/// A registered executor that is asked for text.
#[derive(Clone, Debug)]
pub struct ExecutorModel {
    executor: Executor,
    surroundings: ExecutionEnvironment,
}

impl ExecutorModel {
    /// Returns the executor as a model. `surroundings` has its folder, confinement and environment.
    pub fn new(executor: Executor, surroundings: ExecutionEnvironment) -> Self {
        Self {
            executor,
            surroundings,
        }
    }
}

impl ModelProvider for ExecutorModel {
    fn id(&self) -> &str {
        &self.executor.id
    }

    fn place(&self) -> Place {
        let is_loopback = |endpoint: &String| {
            let host = endpoint.split("://").nth(1).unwrap_or(endpoint);
            ["127.", "localhost", "[::1]"]
                .iter()
                .any(|here| host.starts_with(here))
        };
        match self.executor.kind {
            Kind::Http if self.executor.endpoint.as_ref().is_some_and(is_loopback) => Place::Local,
            _ => Place::Remote,
        }
    }

    fn infer(
        &self,
        request: &Request,
        limits: Limits,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Reply, ModelError> {
        let estimate = refuse_over_budget(request, limits)?;
        let mut surroundings = self.surroundings.clone();
        surroundings.cancel = cancel.clone();
        surroundings.patience.total = match (surroundings.patience.total, limits.time) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let mut heard = |sign: Sign<'_>| {
            if let Sign::Doing(line) | Sign::Waiting(line) = sign {
                progress(line);
            }
        };
        let task = Task::bare(&request.prompt);
        let answer = match runner::run(&self.executor, &task, &surroundings, &mut heard) {
            Ok(answer) => answer,
            Err(error) => too_long(error)?,
        };
        if answer.summary.len() > LONGEST_REPLY {
            return Err(ModelError::TooLong {
                model: self.executor.id.clone(),
                bytes: answer.summary.len(),
            });
        }
        let spent = answer.spent();
        Ok(Reply {
            tokens: if spent.tokens == 0 {
                estimate + tokens::estimate(&answer.summary)
            } else {
                spent.tokens
            },
            cost_usd: spent.cost_usd,
            text: answer.summary,
        })
    }
}

/// Returns the answer of an executor whose only fault is its length: a summary of a task is shorter than a plan.
fn too_long(error: RunError) -> Result<Answer, ModelError> {
    let spent = error.spent();
    let may_pass = error.may_pass();
    match error {
        RunError::Answer { source, .. } if matches!(*source, AnswerError::TooLong { .. }) => {
            match *source {
                AnswerError::TooLong { answer, .. } => Ok(*answer),
                _ => unreachable!("it is too long"),
            }
        }
        RunError::Cancelled { executor } => Err(ModelError::Canceled { model: executor }),
        other => Err(ModelError::Failed {
            why: other.to_string(),
            tokens: spent.tokens,
            may_pass,
        }),
    }
}
