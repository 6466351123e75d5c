//! Arguments and output of `callosum guard`.
//!
//! The use case is [`callosum_app::guard`].

mod allow;
mod auto_allow;
mod check;
mod evaluate;
mod explain;
mod gather_facts;
mod log;
mod machine_metrics;
mod metrics;
mod revoke;
mod rule;
mod rules;
mod secrets;

pub(super) use self::log::{LogOutput, each as each_decision};
pub(super) use self::machine_metrics::MachineMetrics;

use callosum_app::CommandError;
use clap::Subcommand;

use super::context::Context;

/// Check commands against the guard and review its decisions
#[derive(Debug, Subcommand)]
pub(crate) enum GuardCommand {
    Check(check::CheckArgs),
    Explain(explain::ExplainArgs),
    Test(evaluate::TestArgs),
    Allow(allow::AllowArgs),
    Revoke(revoke::RevokeArgs),
    Rule(rule::RuleArgs),
    Rules(rules::RulesArgs),
    #[command(subcommand)]
    Secrets(secrets::SecretsCommand),
    AutoAllow(auto_allow::AutoAllowArgs),
    Log(log::LogArgs),
    Metrics(metrics::MetricsArgs),
}

pub(super) fn run(context: &Context, command: &GuardCommand) -> Result<(), CommandError> {
    match command {
        GuardCommand::Check(args) => check::run(context, args),
        GuardCommand::Explain(args) => explain::run(context, args),
        GuardCommand::Test(args) => evaluate::run(context, args),
        GuardCommand::Allow(args) => allow::run(context, args),
        GuardCommand::Revoke(args) => revoke::run(context, args),
        GuardCommand::Rule(args) => rule::run(context, args),
        GuardCommand::Rules(args) => rules::run(context, args),
        GuardCommand::Secrets(command) => secrets::run(context, command),
        GuardCommand::AutoAllow(args) => auto_allow::run(context, args),
        GuardCommand::Log(args) => log::run(context, args),
        GuardCommand::Metrics(args) => metrics::run(context, args),
    }
}
