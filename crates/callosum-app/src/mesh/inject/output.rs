//! [`InjectOutput`]: the receipt of an injection, as `callosum mesh inject` prints it.

use callosum_panes::inject::{DeliveryRoute, Outcome, Receipt};
use schemars::JsonSchema;
use serde::Serialize;

/// `callosum mesh inject --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct InjectOutput {
    /// Name of the pane, or of the agent if it is in none.
    pub pane: String,
    /// The client in it.
    pub runtime: String,
    /// The way that the text went: `claude-socket`, `codex-queue`, `hook` or `tmux`.
    pub route: String,
    /// `submitted`, `queued`, `seen`, `acknowledged`, `unconfirmed`, `refused`, or `possible` with `--dry-run`.
    pub outcome: String,
    /// The obstacle, or what was seen last.
    pub reason: Option<String>,
    /// Id of the message that a hook delivers.
    pub message: Option<String>,
    /// Whether the text is still in the composer.
    pub text_left: bool,
    /// Bytes of the text.
    pub bytes: usize,
    /// Number of times Enter was pressed.
    pub enters: usize,
    /// Milliseconds it took.
    pub took_ms: u64,
    /// The phases that it reached, in order.
    pub steps: Vec<StepOutput>,
    /// Routes that were tried before and took nothing.
    pub skipped: Vec<SkippedOutput>,
}

/// A phase of an injection.
#[derive(Debug, JsonSchema, Serialize)]
pub struct StepOutput {
    /// `accepted`, `queued`, `written`, `submitted`, `seen` or `acknowledged`.
    pub phase: String,
    /// Milliseconds since the injection began.
    pub after_ms: u64,
    /// Text or event that proves it.
    pub evidence: String,
}

/// A route that took nothing.
#[derive(Clone, Debug, JsonSchema, PartialEq, Eq, Serialize)]
pub struct SkippedOutput {
    /// The route.
    pub route: String,
    /// The reason.
    pub reason: String,
}

impl SkippedOutput {
    pub(super) fn new(route: DeliveryRoute, reason: String) -> Self {
        Self {
            route: route.name().to_owned(),
            reason,
        }
    }
}

impl InjectOutput {
    pub(super) fn new(receipt: Receipt, runtime: &str, skipped: Vec<SkippedOutput>) -> Self {
        let (outcome, reason, message, text_left) = match &receipt.outcome {
            Outcome::Submitted => ("submitted", None, None, false),
            Outcome::Queued { message } => ("queued", None, Some(message), false),
            Outcome::Seen { message } => ("seen", None, Some(message), false),
            Outcome::Acknowledged { message } => ("acknowledged", None, Some(message), false),
            Outcome::Unconfirmed { seen, text_left } => {
                ("unconfirmed", Some(seen.clone()), None, *text_left)
            }
            Outcome::Refused { reason, text_left } => {
                ("refused", Some(reason.to_string()), None, *text_left)
            }
            Outcome::Possible => ("possible", None, None, false),
        };
        let steps = receipt.steps.iter().map(|step| StepOutput {
            phase: format!("{:?}", step.phase).to_lowercase(),
            after_ms: step.after_ms,
            evidence: step.evidence.clone(),
        });
        Self {
            runtime: runtime.to_owned(),
            route: receipt.route.name().to_owned(),
            outcome: outcome.to_owned(),
            reason,
            message: message.cloned(),
            text_left,
            bytes: receipt.bytes,
            enters: receipt.enters,
            took_ms: receipt.took_ms,
            steps: steps.collect(),
            skipped,
            pane: receipt.pane,
        }
    }

    /// Whether there is evidence that the agent got the text, or a dry run met no obstacle.
    pub fn is_success(&self) -> bool {
        matches!(
            self.outcome.as_str(),
            "submitted" | "seen" | "acknowledged" | "possible"
        )
    }
}
