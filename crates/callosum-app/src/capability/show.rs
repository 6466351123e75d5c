//! `callosum capability show`: all that is known of one.

use callosum_arbiter::budget::Money;
use callosum_redact::terminal_escape::on_one_line;

use crate::capability::catalog::{CapabilityOutput, ChangeOutput};
use crate::lasting;

/// Returns a capability as text, a line for each of its properties.
pub fn text(output: &CapabilityOutput) -> String {
    let by = match output.provider.as_str() {
        "" => output.source.clone(),
        provider => format!("{} {provider}", output.source),
    };
    let calls = output.calls_per_run;
    let calls = calls.map_or_else(|| "no limit of its own".to_owned(), |n| n.to_string());
    let takes = if output.unenforced_input_keywords.is_empty() {
        output.input.clone()
    } else {
        let alone = output.unenforced_input_keywords.join(", ");
        format!(
            "{}; only its server checks {}",
            output.input,
            on_one_line(&alone)
        )
    };
    let answers = if output.unenforced_output_keywords.is_empty() {
        output.output.clone()
    } else {
        let unenforced = output.unenforced_output_keywords.join(", ");
        format!(
            "{}; {} not enforced",
            output.output,
            on_one_line(&unenforced)
        )
    };
    let version = match &output.accepted_version {
        Some(accepted) if *accepted != output.version => format!(
            "{accepted} (its provider states {})",
            on_one_line(&output.version)
        ),
        _ => on_one_line(&output.version),
    };
    let last = output.last_change.as_ref().map(changed);
    let last = last.unwrap_or_default();
    let pending = output.pending_change.as_ref().map(changed);
    let pending = pending.unwrap_or_default();
    let came_to = &output.outcomes;
    let outcomes = match came_to.median_ms {
        _ if came_to.calls == 0 => "no calls yet".to_owned(),
        median => format!(
            "{} of {} calls succeeded, score {:.2}, median {}, mean {} tokens and {}",
            came_to.succeeded,
            came_to.calls,
            came_to.score,
            median.map_or_else(|| "unknown".to_owned(), lasting),
            came_to.mean_tokens,
            Money::of_dollars(came_to.mean_cost_usd),
        ),
    };
    let last_failure = match (&came_to.last_failure_kind, &came_to.last_failure) {
        (Some(kind), Some(message)) => format!("{kind}: {}", on_one_line(message)),
        _ => String::new(),
    };
    let rows = [
        ("capability", output.id.clone()),
        ("does", on_one_line(&output.description)),
        ("kind", output.kind.clone()),
        ("version", version),
        ("last change", last),
        ("not accepted", pending),
        ("provider", by),
        ("skills", on_one_line(&output.skills.join(", "))),
        ("takes", takes),
        ("answers", answers),
        ("effects", output.effects.join(", ")),
        ("trust", output.trust_tier.to_string()),
        ("sensitivity", output.sensitivity.clone()),
        ("calls per run", calls),
        ("time", lasting(output.milliseconds)),
        ("answer", format!("{} bytes", output.answer_bytes)),
        ("answers by key", yes(output.answers_by_key)),
        ("revoked", yes(output.revoked)),
        ("outcomes", outcomes),
        ("last failure", last_failure),
    ];
    // What never happened has no line.
    let is_of_some = |(name, value): &(&str, String)| {
        !value.is_empty() || !matches!(*name, "last change" | "not accepted" | "last failure")
    };
    let rows = rows.into_iter().filter(is_of_some);
    let lines: Vec<String> = rows
        .map(|(name, value)| format!("{name:<15} {value}"))
        .collect();
    let mut text = lines.join("\n") + "\n";
    if output.pending_change.is_some() {
        text.push_str(
            "\nCalls are refused until a person accepts the change: callosum capability accept ",
        );
        text.push_str(&output.id);
        text.push('\n');
    }
    text
}

/// A change on one line.
fn changed(change: &ChangeOutput) -> String {
    let ChangeOutput {
        from,
        to,
        level,
        reasons,
    } = change;
    let reasons = on_one_line(&reasons.join("; "));
    format!("{from} to {to}, {level}: {reasons}")
}

fn yes(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}
