//! Arguments and output of `callosum mesh digest`.
//!
//! The use case is [`callosum_app::mesh::digest`].

use callosum_app::CommandError;
use callosum_app::mesh::digest::{DigestOutput, configured, digest, project};
use callosum_app::mesh::open;
use callosum_citation::tokens;
use callosum_mesh::Author;
use callosum_mesh::agent::AgentName;
use callosum_mesh::digest::{Digest, DigestContext, digest_of_beside};
use callosum_mesh::route::Matrix;
use callosum_redact::terminal_escape::on_one_line;
use clap::Args;

use crate::cli::context::Context;

/// Show what an agent learns about the others when its session begins
///
/// Lists messages to the agent, tasks for it, results of tasks that it left, and hand-offs. Also lists discoveries,
/// events and ledger entries since its last session, and quotes the sources of `mesh.digest` in your configuration. Prints nothing if there is nothing new. Nothing is marked as
/// delivered, unless --mark-delivered is given.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh digest --to gemini
  $ callosum mesh digest --to codex --budget 200 --json")]
pub(crate) struct DigestArgs {
    /// Agent that the digest is for
    #[arg(long = "to", value_name = "AGENT")]
    agent: AgentName,
    /// Print at most about N tokens
    #[arg(long, value_name = "N", default_value = "400")]
    budget: u64,
    /// Mark the contents as delivered, for an agent without hooks
    #[arg(long)]
    mark_delivered: bool,
}

pub(super) fn run(context: &Context, args: &DigestArgs) -> Result<(), CommandError> {
    let voice = Author {
        cwd: Some(context.folder.to_string_lossy().into_owned()),
        ..Author::of(args.agent.clone())
    };
    let (mut mesh, digest) = match digest(context, &voice, args.budget) {
        Ok(found) => found,
        Err(error) => {
            // The log is a source like the others.
            let why = on_one_line(&error.one_line());
            let line =
                format!("Cannot read news from other agents: {why}; run `callosum doctor`.\n");
            let beside = DigestContext {
                sources: project(context, &voice.agent, None),
                is_sandboxed: false,
            };
            let left = args.budget.saturating_sub(tokens::estimate(&line));
            let digest = digest_of_beside(&voice.agent, &Matrix::default(), &beside, left);
            return show(
                context,
                &Digest {
                    text: format!("{line}{}{}", digest.text, configured(context)),
                    ..digest
                },
            );
        }
    };
    show(context, &digest)?;
    if args.mark_delivered {
        let done = mesh.deliver(&digest, &voice, "callosum mesh digest --mark-delivered");
        done.map_err(|error| open::explain(&error))?;
    }
    Ok(())
}

fn show(context: &Context, digest: &Digest) -> Result<(), CommandError> {
    if context.ui.json {
        return context.ui.json_data(&DigestOutput {
            text: digest.text.clone(),
            messages: digest.messages.clone(),
            left_out: digest.left_out,
        });
    }
    context.ui.read_by_all(&digest.text)
}
