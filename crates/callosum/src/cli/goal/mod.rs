//! Arguments of `callosum do`.
//!
//! The use case is [`callosum_app::goal`]. Start with [`run`]: a goal becomes a plan, by models or from a template, and
//! the plan runs once a person agrees. `way` has the steps, `approval` the end of each attempt, and `stored` the plans of
//! earlier runs.

mod approval;
mod stored;
mod verdict;
mod way;

use callosum_app::CommandError;
use callosum_app::goal::CALLS;
use callosum_app::goal::budget::Budget;
use callosum_intent::template::{self, TEMPLATES, Template};
use clap::Args;

use self::way::Way;
use super::context::Context;

/// Reach a goal: plan it, review the plan, and run it
///
/// Models propose a plan and vote on it. A model is an executor that is ready (`callosum executor list`). The plan may
/// call capabilities that leave files alone, and each call passes the kernel. You approve the plan before it runs. Every
/// reply, vote and call is recorded, and a run that was killed continues with `--resume`. For a goal whose plan was
/// approved and completed before, that plan is proposed again, and no model is asked.
///
/// Without a model, a built-in plan that fits the words of the goal runs, without asking: it changes no file of the
/// project.
///
/// Prints the value of the plan. Exits with 5 if it waits for a person, and prints the command to paste.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum do 'Give me an overview of this repository' --template survey
  $ callosum do 'List the decisions about retries' --template stale-decisions --dry-run")]
pub(crate) struct DoArgs {
    /// The goal, in a sentence or two
    #[arg(value_name = "GOAL", required_unless_present_any = ["resume", "intent"])]
    pub(super) goal: Option<String>,
    /// Limit all models together: tokens (20000, 20k) or US dollars ($0.50)
    #[arg(long, value_name = "USD|TOKENS", value_parser = Budget::parse)]
    pub(super) budget: Option<Budget>,
    /// Stop before the plan runs
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Run the plan without asking, if the vote accepts it
    #[arg(long, short)]
    pub(super) yes: bool,
    /// Ask this model for a plan (may be repeated) [default: the one of `callosum delegation explain`]
    #[arg(long = "planner", value_name = "MODEL")]
    pub(super) planners: Vec<String>,
    /// Ask this model to review the plan (may be repeated) [default: other ready executors]
    #[arg(long = "reviewer", value_name = "MODEL")]
    pub(super) reviewers: Vec<String>,
    /// Skip the review
    #[arg(long, conflicts_with = "reviewers")]
    pub(super) no_review: bool,
    /// Use a built-in plan: survey, review-change, stale-decisions or triage-tests
    #[arg(long, value_name = "NAME", value_parser = template_named, conflicts_with_all = ["planners", "reviewers"])]
    pub(super) template: Option<&'static Template>,
    /// Let the plan call this capability alone, such as :fs.read or :ledger/* (may be repeated)
    #[arg(long = "cap", value_name = "PATTERN")]
    pub(super) caps: Vec<String>,
    /// Limit the plan to N calls
    #[arg(long, value_name = "N", default_value_t = CALLS, value_parser = clap::value_parser!(i64).range(1..=10_000))]
    pub(super) max_calls: i64,
    /// Reach the goal of this intent
    #[arg(long, value_name = "ID", conflicts_with = "goal")]
    pub(super) intent: Option<String>,
    /// Ask models even if a plan for the same goal is stored
    #[arg(long)]
    pub(super) no_cache: bool,
    /// Continue the deliberation with this run id
    #[arg(long, value_name = "RUN", conflicts_with_all = ["goal", "intent", "template", "planners", "reviewers", "caps"])]
    pub(super) resume: Option<String>,
}

impl DoArgs {
    /// Whether it may write to the journal.
    pub(super) fn writes(&self) -> bool {
        !(self.dry_run && self.template.is_some())
    }
}

fn template_named(name: &str) -> Result<&'static Template, String> {
    template::named(name).ok_or_else(|| {
        let names: Vec<&str> = TEMPLATES.iter().map(|template| template.name).collect();
        format!("allowed: {}", names.join(", "))
    })
}

pub(super) fn run(context: &Context, args: &DoArgs) -> Result<(), CommandError> {
    Way::new(context, args).run()
}
