//! `:llm.*` and `:nlp.*`: calls that a model answers.
//!
//! Start with `Inquiry`, which asks one model within a call's limits and counts what that cost. A call that names no
//! model gets the configured planner, else the first executor that is ready, and none that the kernel barred.

mod language;
mod plan;
mod review;

use std::sync::Arc;
use std::time::Duration;

use callosum_arbiter::budget::Money;
use callosum_arbiter::delegation::{StartMark, may_change};
use callosum_executor::registry::Kind;
use callosum_host::process::Cancel;
use callosum_model::{ECHO, EchoModel, ExecutorModel, Limits, ModelError, ModelProvider, Request};
use callosum_plan::FailureKind;
use callosum_plan_run::kernel::{AnsweredCost, ApprovedCall, KnownOutcome, ProviderFailure};
use serde_json::Value as Json;

pub(super) use self::language::{as_agent, classify, infer, sentiment, summarize};
pub(super) use self::plan::generate;
pub(crate) use self::plan::usual;
pub(super) use self::review::review;

use crate::constitution::{governance, governance_failed};
use crate::context::Context;
use crate::executor_pool::Roster;
use crate::model::{configured, ready};
use crate::plan::local_run::LocalRun;
use crate::plan::provider::{PlanEnvironment, failed};

/// One model, asked for one call.
struct Inquiry<'c> {
    model: Arc<dyn ModelProvider>,
    limits: Limits,
    cancel: &'c Cancel,
    mark: StartMark,
    may_change: bool,
    cost: AnsweredCost,
}

impl<'c> Inquiry<'c> {
    /// Finds the model of a call.
    fn new(
        surroundings: &PlanEnvironment<'_>,
        call: &ApprovedCall,
        wanted: Option<String>,
        cancel: &'c Cancel,
    ) -> Result<Self, ProviderFailure> {
        let context = surroundings.context;
        let id = match wanted {
            Some(id) => id,
            None => first(context, call)?,
        };
        let limits = call.limits();
        let configured = configured::provider(context, &id).map_err(|error| failed(&error))?;
        let (model, may_change): (Arc<dyn ModelProvider>, bool) = if id == ECHO {
            (Arc::new(EchoModel), false)
        } else if let Some(model) = configured {
            refuse_revoked(context, &id)?;
            (model, false)
        } else {
            let around = context.surroundings().map_err(|error| failed(&error))?;
            let roster = Roster::load(context).map_err(|error| failed(&error))?;
            let executor = roster.taker(&id).map_err(|error| failed(&error))?.clone();
            refuse_revoked(context, &id)?;
            // A server of a model has no tools here.
            let may_change = executor.kind != Kind::Http && may_change(&executor, &around);
            (Arc::new(ExecutorModel::new(executor, around)), may_change)
        };
        Ok(Self {
            model,
            limits: Limits {
                tokens: limits.tokens,
                time: Some(Duration::from_millis(limits.milliseconds)),
            },
            cancel,
            mark: LocalRun::of(context, &surroundings.run).start_mark(call.key()),
            may_change,
            cost: AnsweredCost::default(),
        })
    }

    /// Returns the model's id.
    fn model(&self) -> &str {
        self.model.id()
    }

    /// Asks once for any text. Fails if that alone would be above the run's budget.
    fn ask(&mut self, prompt: String) -> Result<String, ProviderFailure> {
        self.ask_for(Request::text(prompt))
    }

    /// Asks once for JSON. A server that can hold its model to the schema does so; the reply is checked all the same.
    fn ask_for_json(&mut self, prompt: String, schema: Json) -> Result<String, ProviderFailure> {
        self.ask_for(Request {
            schema: Some(schema),
            ..Request::text(prompt)
        })
    }

    fn ask_for(&mut self, request: Request) -> Result<String, ProviderFailure> {
        let broken = |why: String| ProviderFailure::before(FailureKind::CapabilityError, why);
        let kept = self.mark.keep(self.may_change);
        kept.map_err(|error| broken(error.to_string()))?;
        let mut limits = self.limits;
        limits.tokens = limits
            .tokens
            .map(|tokens| tokens.saturating_sub(self.cost.tokens));
        let asked = self.model.infer(&request, limits, self.cancel, &mut |_| {});
        match asked {
            Ok(reply) => {
                self.cost.tokens += reply.tokens;
                self.cost.cost = Money(self.cost.cost.0 + Money::of_dollars(reply.cost_usd).0);
                Ok(reply.text)
            }
            Err(error) => {
                self.cost.tokens += error.tokens();
                let kind = match &error {
                    ModelError::OverBudget { .. } => FailureKind::BudgetExhausted,
                    _ => FailureKind::CapabilityError,
                };
                Err(ProviderFailure {
                    may_have_happened: self.may_change && self.cancel.is_cancelled(),
                    cost: self.cost,
                    ..ProviderFailure::before(kind, error.to_string())
                })
            }
        }
    }

    /// Returns a failure with what was spent until then.
    fn failure(&self, kind: FailureKind, why: impl Into<String>) -> ProviderFailure {
        ProviderFailure {
            cost: self.cost,
            ..ProviderFailure::before(kind, why)
        }
    }
}

/// Returns the first model that is ready and not barred.
fn first(context: &Context, call: &ApprovedCall) -> Result<String, ProviderFailure> {
    let settings = configured::settings(context).map_err(|error| failed(&error))?;
    let ready = ready(context).map_err(|error| failed(&error))?;
    let named = settings.models.iter().map(|model| model.name.clone());
    let planner = settings.planner.clone().into_iter();
    let models = planner.chain(ready).chain(named);
    let is_barred = |id: &String| {
        let name = format!("agent.{id}");
        call.barred().iter().any(|barred| barred.as_str() == name)
    };
    models
        .into_iter()
        .find(|id| !is_barred(id))
        .ok_or_else(|| ProviderFailure {
            hint: Some("callosum executor discover"),
            ..ProviderFailure::before(
                FailureKind::CapabilityError,
                "no model is configured, and no executor is ready that can be asked as one",
            )
        })
}

fn refuse_revoked(context: &Context, id: &str) -> Result<(), ProviderFailure> {
    let revoked = governance(context).revoked();
    let revoked = revoked.map_err(|error| failed(&governance_failed(&error)))?;
    let name = format!("agent.{id}");
    if revoked.iter().any(|capability| capability.as_str() == name) {
        let what = format!("`:{name}` was revoked on this machine");
        return Err(ProviderFailure::before(
            FailureKind::SecurityViolation,
            what,
        ));
    }
    Ok(())
}

/// Returns what became of a call that an earlier process may have made. A model that can change nothing is asked again:
/// an answer that was not recorded is lost.
#[expect(
    clippy::unnecessary_wraps,
    reason = "has the signature of functions that may fail"
)]
pub(super) fn outcome(
    surroundings: &PlanEnvironment<'_>,
    key: &str,
) -> Result<KnownOutcome, ProviderFailure> {
    let mark = LocalRun::of(surroundings.context, &surroundings.run).start_mark(key);
    Ok(match mark.read() {
        None => KnownOutcome::NotBegun,
        Some(false) => KnownOutcome::Repeatable,
        Some(true) => KnownOutcome::Unknown,
    })
}
