//! [`Wanted`]: the models that take part in `callosum do`, as a person names them, else as the table `arbiter` of the
//! user's configuration does.

use crate::CommandError;
use crate::context::Context;
use crate::executor_pool::Roster;
use crate::model::{configured, ready};

/// The participants that a person asks for.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Models that propose a plan.
    pub planners: Vec<String>,
    /// Models that review it.
    pub reviewers: Vec<String>,
    /// Whether the plan is not reviewed.
    pub is_unreviewed: bool,
}

impl Wanted {
    /// Fills in the planner and the reviewers of the configuration, and refuses names that are no model.
    ///
    /// Without a configured planner, the first configured model proposes if no executor is ready. Reviewers of the
    /// configuration are used if neither planners nor reviewers are named.
    pub fn with_defaults(&self, context: &Context) -> Result<Self, CommandError> {
        let settings = configured::settings(context)?;
        let mut wanted = self.clone();
        if wanted.planners.is_empty() {
            wanted.planners.extend(settings.planner.clone());
            if wanted.reviewers.is_empty() {
                wanted.reviewers.clone_from(&settings.reviewers);
            }
        }
        if wanted.planners.is_empty() && !settings.models.is_empty() && ready(context)?.is_empty() {
            let first = settings
                .models
                .iter()
                .map(|model| model.name.clone())
                .take(1);
            wanted.planners.extend(first);
        }
        let roster = Roster::load(context)?;
        for name in wanted.planners.iter().chain(&wanted.reviewers) {
            if name != callosum_model::ECHO && settings.get(name).is_none() {
                roster.taker(name)?;
            }
        }
        Ok(wanted)
    }
}
