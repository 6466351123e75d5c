//! [`StatusLine`]: the input that Claude Code sends to the program that draws its status line.

use std::path::PathBuf;

use callosum_session::budget::Usage;
use serde::Deserialize;

/// The part of it that tells how full the context is. A version that leaves a member out or adds one
/// is read as far as it goes.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct StatusLine {
    /// The session's transcript.
    #[serde(default)]
    pub transcript_path: Option<PathBuf>,
    #[serde(default)]
    context_window: Option<ContextWindow>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct ContextWindow {
    #[serde(default, rename = "context_window_size")]
    size: Option<u64>,
    #[serde(default)]
    current_usage: Option<CurrentUsage>,
    #[serde(default)]
    total_input_tokens: Option<u64>,
    #[serde(default)]
    total_output_tokens: Option<u64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct CurrentUsage {
    #[serde(default, rename = "input_tokens")]
    input: u64,
    #[serde(default, rename = "output_tokens")]
    output: u64,
    #[serde(default, rename = "cache_creation_input_tokens")]
    cache_creation: u64,
    #[serde(default, rename = "cache_read_input_tokens")]
    cache_read: u64,
}

impl StatusLine {
    /// The numbers that it says itself, without those of the first request; `None` before the first
    /// answer.
    pub fn usage(&self) -> Option<Usage> {
        let context = self.context_window.as_ref()?;
        let current = context.current_usage.as_ref().map(|usage| {
            usage
                .input
                .saturating_add(usage.cache_creation)
                .saturating_add(usage.cache_read)
                .saturating_add(usage.output)
        });
        let total = || {
            let output = context.total_output_tokens.unwrap_or(0);
            Some(context.total_input_tokens?.saturating_add(output))
        };
        Some(Usage {
            in_use: current.or_else(total)?,
            first: None,
            window: context.size,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-BUD-1: the status line's own numbers are used if it has them.
    #[test]
    fn the_numbers_of_a_status_line_are_read_as_far_as_it_has_some() {
        let of = |text: &str| serde_json::from_str::<StatusLine>(text).unwrap().usage();
        let recorded = of(include_str!("recorded/statusline.json")).unwrap();
        assert_eq!(recorded.in_use, 14_499);
        assert_eq!(recorded.window, Some(1_000_000));
        assert_eq!(of("{}"), None);
        assert_eq!(of(r#"{"context_window":{"current_usage":null}}"#), None);
    }
}
