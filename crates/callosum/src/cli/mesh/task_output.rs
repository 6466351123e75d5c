//! A task as it is printed: as JSON ([`MeshTaskOutput`]), on a line, or whole.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::mesh::task_output`].

use std::fmt::Write as _;

use callosum_app::CommandError;
use callosum_app::mesh::task_output::{MeshTaskOutput, OutputReceiptOutput, line};
use callosum_redact::terminal_escape::on_one_line;

use crate::cli::context::Context;

/// Prints a task with all that is known of it.
pub(super) fn print(context: &Context, output: &MeshTaskOutput) -> Result<(), CommandError> {
    if context.ui.json {
        return context.ui.json_data(output);
    }
    let mut text = line(output);
    let _ = writeln!(
        text,
        "added by {} at {}",
        output.created_by, output.created_at
    );
    let receipt = output.output.as_ref().map(OutputReceiptOutput::line);
    let token = output.token.map(|token| format!("{token} (for --token)"));
    for (what, value) in [
        ("category", &output.category),
        ("reassigned:", &output.reassigned),
        ("about", &output.cwd),
        ("output file", &output.output_file),
        ("output", &receipt),
        ("claimed in session", &output.claimed_session),
        ("claimed until", &output.claimed_until),
        ("token", &token),
        ("done at", &output.completed_at),
    ] {
        if let Some(value) = value {
            let _ = writeln!(text, "{what} {}", on_one_line(value));
        }
    }
    for intent in &output.intents {
        let _ = writeln!(text, "intent {}", intent.line());
    }
    let _ = writeln!(text, "\n{}", output.prompt);
    if let Some(result) = &output.result {
        let _ = writeln!(text, "\nresult:\n{result}");
    }
    context.ui.read_by_all(&text)
}
