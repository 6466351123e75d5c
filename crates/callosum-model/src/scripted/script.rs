//! [`Line`]: one reply of a script, and [`ScriptError`], which names the line of a fault and its key.

use serde::Deserialize;
use thiserror::Error;

/// One reply of a script.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    /// Words that must all be in the prompt; none fit every prompt.
    #[serde(default)]
    pub(super) when: Vec<String>,
    /// The reply: a text, or JSON that is written out.
    pub(super) reply: serde_json::Value,
    /// Whether it is given once.
    #[serde(default)]
    pub(super) once: bool,
}

/// A script in TOML.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answers {
    answers: Vec<Line>,
}

/// Error of an unusable script.
#[derive(Debug, Error)]
#[error("line {line}: {why}")]
pub struct ScriptError {
    /// The line, from 1.
    pub line: usize,
    /// The reason, with the key.
    pub why: String,
}

/// Reads JSON lines. Blank lines are skipped.
pub(super) fn of_lines(script: &str) -> Result<Vec<Line>, ScriptError> {
    let lines = script.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            serde_json::from_str(line).map_err(|error| ScriptError {
                line: index + 1,
                why: error.to_string(),
            })
        })
        .collect()
}

/// Reads tables `[[answers]]`.
pub(super) fn of_toml(script: &str) -> Result<Vec<Line>, ScriptError> {
    let answers: Answers = toml::from_str(script).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let before = script.get(..at).unwrap_or_default();
        ScriptError {
            line: before.matches('\n').count() + 1,
            why: error.message().to_owned(),
        }
    })?;
    Ok(answers.answers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CCOS-MOD-1: a fault of a script names its line and its key.
    #[test]
    fn a_malformed_script_names_its_line_and_key() {
        let lines = of_lines("{\"reply\": 1}\n\n{\"replies\": 2}");
        let toml = of_toml("[[answers]]\nreply = 1\n\n[[answers]]\nreply = 2\nunless = []\n");
        for (error, start, key) in [
            (lines.unwrap_err(), "line 3: unknown field", "`replies`"),
            (toml.unwrap_err(), "line 6: unknown field", "`unless`"),
            (
                of_lines("{\"when\": []}").unwrap_err(),
                "line 1: missing field",
                "`reply`",
            ),
            (
                of_toml("answers = 1\n").unwrap_err(),
                "line 1: ",
                "expected",
            ),
        ] {
            let shown = error.to_string();
            assert!(shown.starts_with(start) && shown.contains(key), "{shown}");
        }
    }
}
