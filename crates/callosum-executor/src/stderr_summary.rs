//! [`telling`]: finds the line of a program's standard error that explains its failure.
//!
//! The last line is often no cause: a banner, a warning that every healthy run prints too, or the
//! calls below an error. Pure. The meaning of a client's own words is the business of
//! [`output_format`](crate::output_format); the caller keeps the whole text.

use crate::sanitize::without_usage;

/// Explanation for a program whose output explains nothing.
pub(crate) const NOTHING_TELLING: &str = "printed nothing that explains it";

/// Texts that every healthy run of a client, or of what it runs on, may print.
const EVERYDAY: [&str; 17] = [
    "metricreader",
    "safe mode",
    "deprecationwarning",
    "experimentalwarning",
    "--trace-deprecation",
    "--trace-warnings",
    "loaded cached credentials",
    "data collection is disabled",
    "option is deprecated",
    "update available",
    "yolo mode is enabled",
    "true color",
    "256-color",
    "ripgrep not available",
    "npm notice",
    "npm warn",
    "reading prompt from stdin",
];

/// Beginnings of lines that mark themselves as no error.
const MILD: [&str; 8] = [
    "debug", "info", "note", "notice", "tip", "trace", "warn", "warning",
];

/// Texts in lines about a failure, with any start.
const FAILURES: [&str; 31] = [
    "aborted",
    "can't ",
    "cannot ",
    "corrupt",
    "could not",
    "couldn't",
    "crashed",
    "denied",
    "expired",
    "failed",
    "failure",
    "invalid",
    "is missing",
    "is not a message",
    "killed",
    "must ",
    "no such ",
    "no space left",
    "not found",
    "not installed",
    "not logged in",
    "not permitted",
    "not supported",
    "out of memory",
    "refused",
    "requires ",
    "timed out",
    "unable to",
    "unexpected",
    "unknown ",
    "unsupported",
];

/// Words of a line among which its kind of error is looked for.
const FIRST_WORDS: usize = 6;

/// Returns the line that explains why a program failed: the last that names an error, else the last
/// about a failure.
///
/// A line that ends with a colon includes the next.
pub(crate) fn telling(output: &str) -> Option<String> {
    let output = without_usage(output);
    let lines: Vec<&str> = output
        .lines()
        .map(str::trim)
        .filter(|line| says(line))
        .collect();
    let last = |is_it: fn(&str) -> bool| lines.iter().rposition(|line| is_it(line));
    let at = last(names_an_error).or_else(|| last(speaks_of_a_failure))?;
    Some(match lines.get(at + 1) {
        Some(next) if lines[at].ends_with(':') => format!("{} {next}", lines[at]),
        _ => lines[at].to_owned(),
    })
}

/// Returns the last line with any content, for an unknown program.
pub(crate) fn last_line(output: &str) -> Option<&str> {
    output.lines().map(str::trim).rfind(|line| says(line))
}

/// The words without what every healthy run prints.
pub(crate) fn without_everyday(output: &str) -> String {
    let kept: Vec<&str> = output.lines().filter(|line| !is_everyday(line)).collect();
    kept.join("\n")
}

/// Whether a line is neither blank, nor a call or a mark below an error, nor everyday.
fn says(line: &str) -> bool {
    let is_call =
        line.starts_with("at ") || line.starts_with("Node.js v") || line == "Require stack:";
    let is_mark = line
        .trim_matches(['^', '~', '{', '}', '[', ']', ' ', '-', '='])
        .is_empty();
    !is_call && !is_mark && !is_everyday(line)
}

fn is_everyday(line: &str) -> bool {
    let lower = line.to_lowercase();
    // Node's own warnings, with the process id: `(node:41) Warning: ...`, `(node:41) [DEP0180] DeprecationWarning: ...`.
    let is_of_node = lower.starts_with("(node:") && lower.contains("warning");
    let tells_of_it = lower.starts_with("(use `node --trace-");
    is_of_node || tells_of_it || EVERYDAY.iter().any(|phrase| lower.contains(phrase))
}

/// Whether a line begins as an error does: `Error: …`, `fatal: …`, `x.py: SyntaxError: …`, `thread 'main' panicked …`.
fn names_an_error(line: &str) -> bool {
    let lower = line.to_lowercase();
    if is_mild(&lower) {
        return false;
    }
    let mut words = lower.split_whitespace().take(FIRST_WORDS);
    words.any(|word| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        ["error", "exception", "fatal", "panicked"]
            .iter()
            .any(|name| bare.ends_with(name))
    })
}

fn speaks_of_a_failure(line: &str) -> bool {
    let lower = line.to_lowercase();
    !is_mild(&lower) && FAILURES.iter().any(|phrase| lower.contains(phrase))
}

fn is_mild(lower: &str) -> bool {
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    let first = words.find(|word| !word.is_empty());
    first.is_some_and(|first| MILD.contains(&first))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-ERR-1: the reported cause is the error, and not the text around it.
    #[test]
    fn the_line_that_names_the_error_is_reported() {
        for (output, cause) in [
            (
                "node:internal/modules/cjs/loader:1228\n  throw err;\n  ^\n\nError: Cannot find module '@google/core'\n\
                 Require stack:\n- /usr/lib/x.js\n    at Module._load (node:internal:1:2) {\n  code: 'MODULE_NOT_FOUND',\n\
                 }\n\nNode.js v20.20.2",
                Some("Error: Cannot find module '@google/core'"),
            ),
            (
                "/x/cli.js:3\n  a ??= b\n    ^^^\n\nSyntaxError: Unexpected token '??='\n    at wrapSafe (x:1:1)\n",
                Some("SyntaxError: Unexpected token '??='"),
            ),
            (
                "Traceback (most recent call last):\n  File \"x.py\", line 1\nModuleNotFoundError: No module named 'y'\n",
                Some("ModuleNotFoundError: No module named 'y'"),
            ),
            (
                "thread 'main' panicked at src/main.rs:1:2:\nno room\nnote: run with `RUST_BACKTRACE=1`",
                Some("thread 'main' panicked at src/main.rs:1:2: no room"),
            ),
            (
                "Unknown arguments: safe-mode, safeMode\n\nUsage: qwen [options]\n  --x  Skills that cannot be used",
                Some("Unknown arguments: safe-mode, safeMode"),
            ),
            (
                "env: 'node': No such file or directory",
                Some("env: 'node': No such file or directory"),
            ),
            (
                "error: login expired\nSAFE MODE: extensions are off\nWarning: the cache cannot be written",
                Some("error: login expired"),
            ),
            (
                "The 'metricReader' option is deprecated. Please use 'metricReaders' instead.",
                None,
            ),
            (
                "⚠ SAFE MODE — all customizations disabled (hooks, extensions).\n\
                 Ripgrep not available: spawn /x/rg EACCES. Falling back to built-in grep.",
                None,
            ),
            (
                "Current meter provider: PeriodicExportingMetricReader: metrics export failed\n",
                None,
            ),
            (
                "(node:9) [DEP0040] DeprecationWarning: The `punycode` module is deprecated.\n\
                 (Use `node --trace-deprecation ...` to show where the warning was created)",
                None,
            ),
            ("Welcome!\nThinking about it", None),
            ("", None),
        ] {
            assert_eq!(telling(output).as_deref(), cause, "{output}");
        }
    }

    /// For an unknown program, the last line is reported, unless it is a banner.
    #[test]
    fn the_last_line_is_no_call_and_no_banner() {
        assert_eq!(
            last_line("one\nI give up\n\n    at x (y:1)\n"),
            Some("I give up")
        );
        assert_eq!(last_line("SAFE MODE\n"), None);
        assert_eq!(without_everyday("a\nSAFE MODE: on\nb"), "a\nb");
    }
}
