//! [`DoOutput`]: a goal and its result, for programs.

use schemars::JsonSchema;
use serde::Serialize;

use super::proposal::ProposalOutput;
use super::verdict::{Verdict, Vote};
use crate::plan::render::RunFailureOutput;

/// Output of `callosum do --json`.
#[derive(Debug, Default, JsonSchema, Serialize)]
pub struct DoOutput {
    /// The goal.
    pub goal: String,
    /// The intent that was recorded; null with `--dry-run` of a template or a stored plan.
    pub intent: Option<String>,
    /// The run in which models proposed and reviewed the plan; null for a built-in template or a stored plan.
    pub deliberation: Option<String>,
    /// The built-in template that was used; null if a model wrote the plan.
    pub template: Option<String>,
    /// The plan; null if there is none.
    pub plan: Option<String>,
    /// The model's reason for the plan.
    pub rationale: Option<String>,
    /// The model that proposed the plan.
    pub model: Option<String>,
    /// The proposal of the delegation; null for a built-in template.
    pub proposal: Option<ProposalOutput>,
    /// The run of the stored plan that is used again; null if models were asked.
    pub reused_from: Option<String>,
    /// The goal of a stored plan whose words are similar. It is not used.
    pub similar_goal: Option<String>,
    /// The votes of the reviewers.
    pub votes: Vec<VoteOutput>,
    /// Whether the vote accepted the plan. True for a template or a stored plan.
    pub accepted: bool,
    /// The run of the plan; null if it was not started.
    pub run: Option<String>,
    /// The result: `completed`, `failed`, `canceled`, `waiting`, `stopped`, `planned` (with `--dry-run`),
    /// `rejected`, `declined` or `no-plan`.
    pub outcome: String,
    /// The value of the plan in the language's notation.
    pub value: Option<String>,
    /// Reason of a failed run.
    pub error: Option<RunFailureOutput>,
    /// Tokens of all models.
    pub tokens: u64,
    /// US dollars, as the models report.
    pub cost_usd: f64,
}

/// One vote.
#[derive(Debug, JsonSchema, Serialize)]
pub struct VoteOutput {
    /// The role: `strategy`, `ethics` or `logic`.
    pub role: String,
    /// The model.
    pub model: String,
    /// `approve`, `reject` or `abstain`.
    pub vote: String,
    /// The reasons.
    pub reasons: Vec<String>,
    /// The rule of the constitution that a veto cites.
    pub rule: Option<String>,
}

impl From<&Vote> for VoteOutput {
    fn from(vote: &Vote) -> Self {
        Self {
            role: vote.role.clone(),
            model: vote.model.clone(),
            vote: vote.vote.clone(),
            reasons: vote.reasons.clone(),
            rule: vote.rule.clone(),
        }
    }
}

impl DoOutput {
    /// Takes up the result of a deliberation.
    pub fn take(&mut self, verdict: &Verdict) {
        self.plan.clone_from(&verdict.source);
        self.rationale.clone_from(&verdict.rationale);
        self.model.clone_from(&verdict.model);
        self.accepted = verdict.is_accepted;
        self.votes = verdict.votes.iter().map(VoteOutput::from).collect();
    }
}
