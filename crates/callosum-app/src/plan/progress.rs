//! Progress lines for a person while a run goes on: its steps and calls, a line each, deeper ones
//! further in.

use callosum_plan_run::run::CallState;
use callosum_redact::terminal_escape::on_one_line;

/// Most characters of what a call takes that are shown.
const SHOWN: usize = 60;

/// Returns how many steps a call is nested in.
pub fn depth_of(call: &CallState) -> usize {
    call.intended.steps.len()
}

/// Returns a call as a short line.
pub fn shown(call: &CallState) -> String {
    let arguments = call.intended.arguments.text.as_deref().unwrap_or("[…]");
    let arguments = on_one_line(arguments);
    let mut short: String = arguments.chars().take(SHOWN).collect();
    if short.len() < arguments.len() {
        short.push('…');
    }
    format!(":{} {short}", call.intended.capability)
}
