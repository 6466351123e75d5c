//! Arguments and output of `callosum session resolve`.
//!
//! The use case is [`callosum_app::session::resolve`].

use callosum_app::session::resolve::ResolveOutput;
use callosum_app::session::{mend, session};
use callosum_app::{CommandError, Exit};
use callosum_session::evidence::{Evidence, EvidenceStatus, Tree};
use callosum_session::trajectory::Agent;
use clap::Args;

use crate::cli::context::Context;

/// Print exactly the lines that an identifier names
///
/// If NOTES.md quotes the place, the quote is located. Lines that have moved are printed from their new location. Lines
/// that differ from the quote are printed with a warning, and the exit code is 1.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session resolve '${PROJECT_ROOT}/src/a.rs:12-15'")]
pub(crate) struct ResolveArgs {
    /// Place, such as '${PROJECT_ROOT}/src/a.rs:12-15' or src/a.rs:12
    #[arg(value_name = "IDENTIFIER")]
    identifier: String,
}

pub(super) fn run(context: &Context, args: &ResolveArgs) -> Result<(), CommandError> {
    let asked = callosum_app::session::place(context, &args.identifier)?;
    let zones = context.zones();
    let session = session(context, &zones, Agent::default());
    mend(context, &session);
    let notes = session
        .notes()
        .map_err(|error| callosum_app::session::explain(&error))?;
    let quoted = notes
        .iter()
        .flat_map(callosum_session::notes::Notes::decisions)
        .flat_map(|decision| decision.evidence)
        .find(|cited| cited.identifier() == asked.identifier() && cited.quote.is_some());
    let tree = Tree::new(&context.disk, &zones.tree);
    let standing = quoted.as_ref().map(|quoted| tree.stand(quoted));
    let at = match &standing {
        Some(EvidenceStatus::Moved { line }) => Evidence {
            first: *line,
            last: line.saturating_add(asked.last - asked.first),
            ..asked.clone()
        },
        _ => asked.clone(),
    };
    let text = tree.lines(&at).map_err(|standing| {
        let why = match standing {
            EvidenceStatus::Changed { .. } => "the file has no such lines".to_owned(),
            other => other.to_string(),
        };
        CommandError::new(
            Exit::No,
            format!("cannot resolve `{}`: {why}", at.identifier()),
        )
    })?;
    let is_sound = standing.as_ref().is_none_or(EvidenceStatus::holds);
    let output = ResolveOutput {
        identifier: asked.identifier(),
        at: at.identifier(),
        standing: standing.as_ref().map(|standing| standing.name().to_owned()),
        text,
    };
    if let Some(standing) = standing.filter(|standing| *standing != EvidenceStatus::Verified) {
        context
            .report
            .warn(&format!("{}: {standing}", asked.identifier()), None);
    }
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        context.ui.foreign(&format!("{}\n", output.text))?;
    }
    if is_sound {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}
