//! Arguments and output of `callosum session checkpoint`.
//!
//! The use case is [`callosum_app::session::checkpoint`].

use std::path::{Path, PathBuf};

use callosum_app::session::checkpoint::{PATIENCE, SynthesisOutput};
use callosum_app::session::{budget, explain, heal, session, tell_faults};
use callosum_app::{CommandError, many};
use callosum_client::transcript::{SaveError, save};
use callosum_session::Config;
use clap::Args;

use super::AgentArgs;
use crate::cli::context::Context;

/// Record what happened since the last checkpoint
///
/// Decisions that only trajectories or beads hold are added to NOTES.md and the current bead. NOTES.md gets the time
/// and the agent's current step of the plan. The trajectory gets the files that the agent wrote, and how full its
/// context is. The files and the step come from the client's transcript. If nothing happened, nothing is written, so
/// you can run this after every turn.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session checkpoint --no-transcript
  $ callosum session checkpoint --no-transcript --json")]
pub(crate) struct CheckpointArgs {
    /// Client's transcript [default: the newest of this project]
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
    /// Read no transcript
    #[arg(long, conflicts_with = "transcript")]
    no_transcript: bool,
    /// Client's id of the session
    #[arg(long = "session", value_name = "ID")]
    session_id: Option<String>,
    #[command(flatten)]
    agent: AgentArgs,
}

pub(super) fn run(context: &Context, args: &CheckpointArgs) -> Result<(), CommandError> {
    let zones = context.zones();
    let session = session(context, &zones, args.agent.agent()?);
    let config = Config::load(&session).map_err(|error| explain(&error))?;
    tell_faults(context, &config);
    let transcript = match &args.transcript {
        Some(path) => Some(context.folder.join(path)),
        None if args.no_transcript => None,
        None => Some(budget::find(
            context,
            "callosum session checkpoint --no-transcript",
        )?),
    };
    let saved = save(
        &session,
        &config,
        transcript.as_deref(),
        args.session_id.as_deref(),
        PATIENCE,
        &heal::committed(context),
    );
    let saved = saved.map_err(|error| match error {
        SaveError::Transcript(error) => {
            let path = transcript.as_deref().unwrap_or(Path::new("the transcript"));
            budget::no_transcript(path, &error, "callosum session checkpoint --no-transcript")
        }
        SaveError::Session(error) => explain(&error),
    })?;
    heal::say_healed(context, saved.healed);
    let output = SynthesisOutput::of(saved.synthesized.as_ref());
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let Some(ts) = &output.ts else {
        context
            .report
            .say("nothing happened since the last checkpoint");
        return Ok(());
    };
    let decisions = many(output.decisions as u64, "decision");
    let files = many(output.files.len() as u64, "file");
    let taken = match output.taken_over {
        0 => String::new(),
        taken => format!(", {taken} of them missing from NOTES.md until now"),
    };
    let line = format!("{ts}: {decisions}{taken}, {files}\n");
    context.ui.data(&line)
}
