//! `callosum capability show`: all that is known of one.

use callosum_evidence::terminal_escape::on_one_line;

use crate::capability::market::CapabilityOutput;
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
        let by_nobody = output.unenforced_output_keywords.join(", ");
        format!(
            "{}; {} not enforced",
            output.output,
            on_one_line(&by_nobody)
        )
    };
    let rows = [
        ("capability", output.id.clone()),
        ("does", on_one_line(&output.description)),
        ("kind", output.kind.clone()),
        ("version", on_one_line(&output.version)),
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
    ];
    let lines = rows.map(|(name, value)| format!("{name:<15} {value}"));
    lines.join("\n") + "\n"
}

fn yes(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}
