//! `callosum capability show`: all that is known of one.

use callosum_evidence::terminal::on_one_line;
use clap::Args;

use super::market::{CapabilityOutput, catalogue, named, warn_of_unfit};
use crate::{
    cli::{constitution::governance, context::Context, explain},
    ui::{CommandError, Exit, lasting},
};

/// Show the details of a capability
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum capability show agent.delegate")]
pub(crate) struct ShowArgs {
    /// Name of the capability, as plans call it
    name: String,
}

pub(super) fn run(context: &Context, args: &ShowArgs) -> Result<(), CommandError> {
    let name = named(&args.name)?;
    let revoked = governance(context)
        .revoked()
        .map_err(|error| explain::governance(&error))?;
    let catalogue = catalogue(context)?;
    let Some(manifest) = catalogue.get(&name) else {
        // It may be one of these.
        warn_of_unfit(context)?;
        let what = format!("unknown capability `{name}`");
        return Err(CommandError::new(Exit::No, what).hint("callosum capability list"));
    };
    let output = CapabilityOutput::of(manifest, revoked.contains(&name));
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    context.ui.read_by_all(&text(&output))
}

fn text(output: &CapabilityOutput) -> String {
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
