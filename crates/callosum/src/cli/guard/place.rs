//! What the guard must know of the folder that a command is asked about in.

use std::path::Path;

use callosum_guard::{Facts, Policy, Strictness};
use clap::Args;

use crate::{cli::context::Context, hook};

/// How strict the guard is to be.
#[derive(Args, Clone, Debug)]
pub(super) struct StrictnessArgs {
    /// Be as strict as this instead of as configured
    #[arg(long, value_name = "LEVEL", value_parser = ["minimal", "balanced", "paranoid"])]
    strictness: Option<String>,
}

impl StrictnessArgs {
    /// The policy that these ask for.
    pub(super) fn policy(&self) -> Policy {
        let strictness = match self.strictness.as_deref() {
            Some("minimal") => Strictness::Minimal,
            Some("paranoid") => Strictness::Paranoid,
            _ => Strictness::Balanced,
        };
        Policy {
            strictness,
            ..Policy::default()
        }
    }
}

/// What a hook would know that is called in this folder.
pub(super) fn facts(context: &Context) -> Facts {
    let real = |path: &Path| {
        context
            .disk
            .canonicalize(path)
            .unwrap_or_else(|_| path.to_owned())
    };
    let (cwd, root) = (real(&context.folder), real(context.tree()));
    hook::facts(&context.disk, &context.environment, Some(&cwd), Some(&root))
}
