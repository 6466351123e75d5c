//! [`show_verdict`]: a plan and the votes on it, on the terminal; [`show_proposal`] and [`show_stored`] show the rest.

use callosum_app::goal::Verdict;
use callosum_app::goal::proposal::{lines, step_lines};
use callosum_app::goal::reuse::StoredPlan;
use callosum_intent::delegation::Proposal;
use callosum_redact::terminal_escape::{harmless, on_one_line};
use owo_colors::OwoColorize as _;

use crate::ui::Ui;

/// Shows a plan and the votes on it.
pub(super) fn show_verdict(ui: Ui, verdict: &Verdict) {
    if ui.json {
        return;
    }
    let Some(source) = &verdict.source else {
        return;
    };
    let by = verdict.model.as_deref().unwrap_or("a model");
    let version = if verdict.is_revised {
        "revised plan"
    } else {
        "plan"
    };
    ui.say(&format!("{} by {}", version.bold(), on_one_line(by)));
    for line in source.lines() {
        ui.say(&format!("  {}", harmless(line)));
    }
    if let Some(rationale) = &verdict.rationale {
        ui.say(&format!("  {}", on_one_line(rationale)));
    }
    if !verdict.votes.is_empty() {
        let rounds = match verdict.rounds {
            0 => String::new(),
            1 => " after 1 round of debate".to_owned(),
            rounds => format!(" after {rounds} rounds of debate"),
        };
        ui.say(&format!("{}{rounds}", "votes".bold()));
    }
    for vote in &verdict.votes {
        let shown = match vote.vote.as_str() {
            "approve" => vote.vote.green().to_string(),
            "reject" => vote.vote.red().to_string(),
            _ => vote.vote.yellow().to_string(),
        };
        let veto = vote
            .rule
            .as_ref()
            .map(|rule| format!(" (veto: {})", on_one_line(rule)));
        let reasons = on_one_line(&vote.reasons.join("; "));
        let line = format!("  {:<9} {:<9}", vote.role, on_one_line(&vote.model));
        ui.say(&format!(
            "{line} {shown}{} {reasons}",
            veto.unwrap_or_default()
        ));
    }
}

/// Shows a proposal in two lines, or with the plan's steps.
pub(super) fn show_proposal(ui: Ui, proposal: &Proposal, is_whole: bool) {
    if ui.json {
        return;
    }
    let [first, second] = lines(proposal);
    ui.say(&format!("{} {}", "proposal".bold(), on_one_line(&first)));
    ui.say(&format!("  {}", on_one_line(&second)));
    if is_whole {
        for line in step_lines(proposal) {
            ui.say(&format!("  {}", on_one_line(&line)));
        }
    }
}

/// Shows a stored plan.
pub(super) fn show_stored(ui: Ui, stored: &StoredPlan) {
    if ui.json {
        return;
    }
    let run = on_one_line(&stored.run);
    ui.say(&format!(
        "{}: used again from {run} (signed here)",
        "plan".bold()
    ));
    for line in stored.source.lines() {
        ui.say(&format!("  {}", harmless(line)));
    }
}
