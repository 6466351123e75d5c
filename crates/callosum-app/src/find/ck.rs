//! Searches with `ck`, and the report of its result.

use callosum_search::{By, Proposal, Search};
use schemars::JsonSchema;
use serde::Serialize;

use crate::ck::{Ck, CkError};
use crate::context::Context;
use crate::{CommandError, Exit, shell_word};

/// Result of `ck`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct CkOutput {
    /// Number of places that it named within the tree.
    pub hits: usize,
    /// Reason why the search went on without it; null if it answered.
    pub failed: Option<String>,
}

/// Asks `ck` for the hits of a search; none if it is not configured, or not to be asked.
///
/// A failure of `ck` is a warning, and an error only if it alone was to be asked.
pub fn ask(
    context: &Context,
    search: &Search,
) -> Result<(Vec<Proposal>, Option<CkOutput>), CommandError> {
    let is_needed = search.by == By::Proposals;
    if search.ask.units.is_empty() || !(is_needed || search.by == By::All) {
        return Ok(Default::default());
    }
    let answer = match find(context) {
        Ok(None) if is_needed => {
            let place = context.project.homes.ck();
            let hint = format!(
                "ln -s \"$(command -v ck)\" {}",
                shell_word(&place.display().to_string())
            );
            let what = "`ck` is not configured";
            return Err(CommandError::new(Exit::Environment, what).hint(hint));
        }
        Ok(None) => return Ok(Default::default()),
        Ok(Some(ck)) => {
            let progress = context.report.progress("searching with ck");
            let answer = ck.search(&search.ask.typed);
            drop(progress);
            answer.map_err(|error| (hint(&ck, &error), error))
        }
        Err(error) => Err((None, error)),
    };
    let (hint, error) = match answer {
        Ok(proposals) => {
            let hits = proposals.len();
            return Ok((proposals, Some(CkOutput { hits, failed: None })));
        }
        Err(failed) => failed,
    };
    if is_needed {
        let failed = CommandError::because(Exit::Environment, "cannot search with ck", &error);
        return Err(match hint {
            Some(hint) => failed.hint(hint),
            None => failed,
        });
    }
    let why = CommandError::from_error(Exit::No, &error).one_line();
    let what = format!("searched without ck: {why}");
    context.report.warn(&what, hint.as_deref());
    let failed = Some(why);
    Ok((Vec::new(), Some(CkOutput { hits: 0, failed })))
}

/// It, where it is configured.
pub fn find(context: &Context) -> Result<Option<Ck<'_>>, CkError> {
    Ck::of(
        &context.disk,
        &context.environment,
        &context.project.homes,
        context.tree(),
        &context.cancel,
    )
}

/// Returns a hint about a failure of `ck`.
fn hint(ck: &Ck<'_>, error: &CkError) -> Option<String> {
    match error {
        CkError::Late(_) => Some(format!("index the tree once: {}", ck.preparation())),
        CkError::Start(_) => Some(format!("remove or fix the link {}", ck.program().display())),
        _ => None,
    }
}
