//! `callosum scan`, `deps`, `tests` and `api`: short forms of `callosum delegate --kind`.

use std::path::PathBuf;

use callosum_app::delegate::options::LEAST_BUDGET;
use clap::Args;

use super::{DelegateArgs, KindArg};

/// The arguments of the four short forms.
#[derive(Args, Debug)]
pub(crate) struct AnalysisArgs {
    /// Files or folders to analyze [default: the whole repository]
    #[arg(value_name = "PATH")]
    path: Vec<PathBuf>,
    /// Executor to ask
    #[arg(long, value_name = "ID")]
    executor: Option<String>,
    /// Print at most about N tokens; the ledger keeps the full answer
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(LEAST_BUDGET..))]
    budget: Option<u64>,
    /// Print scout's complete answer, without the limit of 10,240 bytes
    #[arg(long, conflicts_with = "budget")]
    all: bool,
    /// Print only this section of scout's answer; an unknown NAME lists them
    #[arg(long, value_name = "NAME")]
    section: Option<String>,
    /// Ask again even if the ledger has an answer for this tree
    #[arg(long)]
    no_cache: bool,
}

impl AnalysisArgs {
    /// Returns the same analysis as arguments of `callosum delegate`.
    pub(crate) fn into_delegation(self, kind: KindArg) -> DelegateArgs {
        let prompt = match kind {
            KindArg::Scan => "Map this repository",
            KindArg::Deps => "Which parts depend on which?",
            KindArg::Tests => "Which tests cover which code?",
            KindArg::Api => "What does the code offer to other code?",
        };
        DelegateArgs {
            prompt: Some(prompt.to_owned()),
            kind: Some(kind),
            path: self.path,
            executor: self.executor,
            budget: self.budget,
            all: self.all,
            section: self.section,
            no_cache: self.no_cache,
            ..DelegateArgs::default()
        }
    }
}
