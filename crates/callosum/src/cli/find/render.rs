//! Output of hits.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::find::render`].

use std::fmt::Write as _;

use callosum_app::CommandError;
use callosum_app::find::render::{lines, place, title};
use callosum_app::find::{Answer, FindOutput, FoundOutput};
use callosum_redact::terminal_escape::{in_json, visible};
use callosum_search::{Query, TREE};
use owo_colors::OwoColorize as _;

use super::FindArgs;
use crate::cli::context::Context;

/// Prints what was found.
pub(super) fn show(
    context: &Context,
    args: &FindArgs,
    whole: bool,
    ask: &Query,
    answer: Answer,
) -> Result<(), CommandError> {
    let Answer { found, ck } = answer;
    if args.jsonl || context.ui.json {
        let found: Vec<FoundOutput> = found.into_iter().map(FoundOutput::from).collect();
        if context.ui.json {
            return context.ui.json_data(&FindOutput { found, ck });
        }
        let mut lines = String::new();
        for one in &found {
            let line = serde_json::to_string(one).map_err(CommandError::internal)?;
            lines.push_str(&in_json(&line));
            lines.push('\n');
        }
        return context.ui.data(&lines);
    }
    if found.is_empty() {
        context.report.say("no matches");
    }
    let mut shown = String::new();
    for one in &found {
        let place = match place(one) {
            place if one.collection == TREE => context.ui.linked(&place, context.tree()),
            place => place,
        };
        let head = format!(
            "{}  {} {}  {:.2}",
            place.bold(),
            one.kind,
            title(one),
            one.score
        );
        let _ = writeln!(shown, "{}", head.trim_end());
        shown.push_str(&visible(&lines(one, ask, whole)));
    }
    context.ui.page(&shown)
}
