//! [`ExecutorModel`]: any registered executor as a model: Claude Code, Codex, Gemini CLI, Ollama, a server with OpenAI's
//! interface.
//!
//! The executor gets the prompt alone, and runs as confined as for a task.

use callosum_citation::tokens;
use callosum_executor::{
    http::Endpoint,
    protocol::{Answer, AnswerError, AnswerForm, Request as Task},
    registry::{Executor, Kind},
    runner::{self, ExecutionEnvironment, RunError, Sign},
};
use callosum_host::process::Cancel;

use crate::provider::{
    Delta, LONGEST_REPLY, Limits, ModelError, ModelProvider, Place, Reply, Request,
    refuse_over_budget,
};

/// A registered executor that is asked for text.
#[derive(Clone, Debug)]
pub struct ExecutorModel {
    executor: Executor,
    surroundings: ExecutionEnvironment,
    help: Option<String>,
}

impl ExecutorModel {
    /// Returns the executor as a model. `surroundings` has its folder, confinement and environment.
    pub fn new(executor: Executor, surroundings: ExecutionEnvironment) -> Self {
        Self {
            executor,
            surroundings,
            help: None,
        }
    }

    /// Sets what helps if the model cannot be reached or refuses its key, for a model that is no entry of the registry.
    #[must_use]
    pub fn with_help(self, help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }

    /// Returns where an executor's model runs.
    pub fn place_of(executor: &Executor) -> Place {
        let endpoint = executor.endpoint.as_deref().unwrap_or_default();
        let endpoint = Endpoint::parse(endpoint, false);
        match executor.kind {
            // Another Callosum asks on.
            Kind::Http if executor.protocol.as_deref() == Some("callosum") => Place::Remote,
            Kind::Http if endpoint.is_ok_and(|endpoint| endpoint.is_loopback()) => Place::Local,
            _ => Place::Remote,
        }
    }

    /// Returns the text of an error, with what helps.
    fn explained(&self, error: &RunError) -> String {
        match (error, &self.help) {
            (
                RunError::Client {
                    executor, fault, ..
                },
                Some(help),
            ) => {
                format!("`{executor}` {fault}; what helps: {help}")
            }
            _ => error.to_string(),
        }
    }

    /// Returns the answer of an executor whose only fault is its length: a summary of a task is shorter than a plan.
    fn without_answer(&self, error: RunError, came: &str) -> Result<Answer, ModelError> {
        let spent = error.spent();
        let may_pass = error.may_pass();
        let why = self.explained(&error);
        let partial = error.partial().map(str::to_owned);
        let partial = partial.or_else(|| (!came.is_empty()).then(|| came.to_owned()));
        match error {
            RunError::Answer { source, .. } if matches!(*source, AnswerError::TooLong { .. }) => {
                match *source {
                    AnswerError::TooLong { answer, .. } => Ok(*answer),
                    _ => unreachable!("it is too long"),
                }
            }
            RunError::Cancelled { executor } => Err(ModelError::Canceled { model: executor }),
            RunError::Deadline { .. } => Err(ModelError::Deadline { why, partial }),
            RunError::Client { .. } | RunError::Quiet { .. } | RunError::Crashed { .. }
                if partial.is_some() =>
            {
                let partial = partial.unwrap_or_default();
                Err(ModelError::CutOff {
                    tokens: spent.tokens.max(tokens::estimate(&partial)),
                    partial,
                    why,
                })
            }
            _ => Err(ModelError::Failed {
                why,
                tokens: spent.tokens,
                may_pass,
            }),
        }
    }
}

impl ModelProvider for ExecutorModel {
    fn id(&self) -> &str {
        &self.executor.id
    }

    fn place(&self) -> Place {
        Self::place_of(&self.executor)
    }

    fn infer(
        &self,
        request: &Request,
        limits: Limits,
        cancel: &Cancel,
        sink: &mut dyn FnMut(Delta<'_>),
    ) -> Result<Reply, ModelError> {
        let estimate = refuse_over_budget(request, limits)?;
        let mut surroundings = self.surroundings.clone();
        surroundings.cancel = cancel.clone();
        surroundings.patience.total = match (surroundings.patience.total, limits.time) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let mut came = String::new();
        let mut heard = |sign: Sign<'_>| match sign {
            Sign::Doing(line) | Sign::Waiting(line) => sink(Delta::Progress(line)),
            Sign::Text(text) => {
                came.push_str(text);
                sink(Delta::Text(text));
            }
            Sign::Restarted => {
                came.clear();
                sink(Delta::Restart);
            }
            _ => {}
        };
        let form = match self.executor.kind {
            Kind::Http => AnswerForm {
                schema: request.schema.clone(),
                grammar: request.grammar.clone(),
                max_tokens: request.max_tokens,
            },
            Kind::Cli | Kind::Mcp => AnswerForm::default(),
        };
        let task = Task::in_form(&request.prompt, form);
        let answer = match runner::run(&self.executor, &task, &surroundings, &mut heard) {
            Ok(answer) => answer,
            Err(error) => self.without_answer(error, &came)?,
        };
        if came.is_empty() {
            sink(Delta::Text(&answer.summary));
        }
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
