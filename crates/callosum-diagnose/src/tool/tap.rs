//! The Test Anything Protocol: `not ok 1 - name` with its YAML block, and the comments of Perl's tests.

use std::borrow::Cow;

use super::{
    node::is_project,
    scan::{between, indent, mentions_any, number, on_one_line, place, starts_any, text},
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Lines of the block below a result.
const LONGEST_BLOCK: usize = 80;

/// Reads TAP of Node, tape, Bats and Perl.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if lines.has("not ok ") {
        for at in 0..lines.len() {
            found.extend(result(lines, at));
        }
    }
    if lines.has("#   Failed test") {
        read_perl(lines, found);
    }
}

/// Returns the finding of a failed result, unless its parts are the ones that failed.
fn result(lines: &Window<'_>, at: usize) -> Option<Finding> {
    let line = text(lines, at);
    let depth = indent(line);
    let rest = line.trim_start().strip_prefix("not ok ")?;
    let name = match number(rest) {
        Some((_, name)) => name.trim_start_matches([' ', '-']),
        None => rest.strip_prefix("- ")?,
    };
    let is_parent = name.trim_end().ends_with('{');
    if is_parent || mentions_any(&name.to_ascii_lowercase(), &["# todo", "# skip"]) {
        return None;
    }
    let name = name.split(" # time=").next().unwrap_or(name);
    let depth = match text(lines, at + 1).trim() {
        "---" => indent(text(lines, at + 1)).saturating_sub(2),
        _ => depth,
    };
    let mut last = at;
    let mut block = Block::default();
    if text(lines, at + 1).trim() == "---" {
        for below in at + 2..lines.len().min(at + LONGEST_BLOCK) {
            let line = text(lines, below);
            last = below;
            if line.trim() == "..." {
                break;
            }
            block.add(line, depth);
        }
    } else {
        // Perl's comments are read by `read_perl`; Bats has `# (in test file a.bats, line 3)`.
        for below in at + 1..lines.len().min(at + 20) {
            let Some(comment) = text(lines, below).trim_start().strip_prefix('#') else {
                break;
            };
            if comment.starts_with("   Failed test") {
                return None;
            }
            if let Some(inner) = between(comment, "(in test file ", ")")
                && let Some((file, rest)) = inner.rsplit_once(", line ")
            {
                block.location = Some((file.to_owned(), number(rest)?.0));
            } else if block.message.is_empty() {
                comment.trim().clone_into(&mut block.message);
            }
            last = below;
        }
        if is_perl(lines) {
            return None;
        }
    }
    if last == at {
        // Mocha: the message and the stack, deeper than the result.
        for below in at + 1..lines.len().min(at + LONGEST_BLOCK) {
            let line = text(lines, below);
            if indent(line) <= depth
                || line.trim_start().starts_with("not ok")
                || line.trim_start().starts_with("ok ")
            {
                break;
            }
            if let Some(frame) = super::node::frame(line) {
                let place = frame.place().filter(|(file, _)| is_project(file));
                block.frame = block
                    .frame
                    .or(place.map(|(file, line)| (file.to_owned(), line)));
            } else if let Some(header) =
                super::node::header(line).filter(|header| super::scan::is_exception(header.class))
            {
                block.class = Some(header.class.to_owned());
                header.message.clone_into(&mut block.message);
            }
            last = below;
        }
    }
    if block.is_parent {
        return None;
    }
    let (name_of, severity) = block.kind();
    let message = if block.message.is_empty() {
        name.to_owned()
    } else {
        on_one_line(&block.message)
    };
    let mut finding = Finding::new(at, last, name_of, severity, message);
    if let Some((file, line)) = block.frame.or(block.location) {
        finding = finding.at(file, line);
    }
    if block.rule.is_some() {
        let line = finding.line;
        finding = finding.at(name, line);
    }
    finding.code = block.code.or(block.rule);
    finding.test = Some(name.to_owned());
    Some(finding)
}

/// Whether Perl's own comments report the failures. Standard error may come before standard output.
fn is_perl(lines: &Window<'_>) -> bool {
    lines.has("#   Failed test")
}

/// The parts of a YAML block that describe the failure.
#[derive(Default)]
struct Block {
    message: String,
    class: Option<String>,
    code: Option<String>,
    frame: Option<(String, u32)>,
    location: Option<(String, u32)>,
    is_timeout: bool,
    is_parent: bool,
    rule: Option<String>,
    open: Option<Part>,
}

/// A value over several lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Message,
    Stack,
    Other,
}

impl Block {
    fn add(&mut self, line: &str, depth: usize) {
        let trimmed = line.trim();
        let is_key = indent(line) == depth + 2;
        if !is_key {
            match self.open {
                Some(Part::Message) => {
                    self.message.push_str(trimmed);
                    self.message.push(' ');
                }
                Some(Part::Stack) => self.add_frame(trimmed),
                // Vitest has `error:` with `name:` and `message:` below.
                _ => match trimmed.split_once(": ") {
                    Some(("name", class)) => {
                        self.class = super::scan::bare_class(class.trim_matches(['"', '\'']))
                            .map(str::to_owned);
                    }
                    Some(("message", message)) => message
                        .trim_matches(['"', '\''])
                        .clone_into(&mut self.message),
                    _ => {}
                },
            }
            return;
        }
        let Some((key, value)) = trimmed.split_once(':') else {
            return;
        };
        let value = value.trim().trim_matches(['"', '\'']);
        let is_long = starts_any(value, &["|", ">"]) || value.is_empty();
        self.open = Some(match key {
            "error" | "message" if !value.is_empty() => Part::Message,
            "stack" | "at" => Part::Stack,
            _ => Part::Other,
        });
        match key {
            "ruleId" => self.rule = Some(value.to_owned()),
            "failureType" => {
                self.is_timeout = value == "testTimeoutFailure";
                self.is_parent = value == "subtestsFailed";
            }
            "error" | "message" if !is_long => value.clone_into(&mut self.message),
            "code" => self.code = Some(value.to_owned()).filter(|code| code != "ERR_TEST_FAILURE"),
            "name" => self.class = super::scan::bare_class(value).map(str::to_owned),
            "location" => self.location = place(value).map(|(file, line)| (file.to_owned(), line)),
            "line" if self.location.is_none() => {
                self.location = value.parse().ok().map(|line| (String::new(), line));
            }
            "file" => self.location = Some((value.to_owned(), 0)),
            "line" => {
                if let (Some((_, line)), Ok(number)) = (&mut self.location, value.parse()) {
                    *line = number;
                }
            }
            "at" if !is_long => self.add_frame(value),
            _ => {}
        }
    }

    fn add_frame(&mut self, text: &str) {
        let text = text.strip_prefix("at ").unwrap_or(text);
        let inner = text
            .strip_suffix(')')
            .and_then(|text| text.rsplit_once(" ("))
            .map_or(text, |(_, inner)| inner);
        if self.frame.is_none()
            && let Some((file, line)) =
                place(inner).filter(|(file, _)| is_project(file) && file.contains('.'))
        {
            self.frame = Some((file.trim_start_matches("async ").to_owned(), line));
        }
    }

    fn kind(&self) -> (Cow<'static, str>, Severity) {
        let is_mocha =
            self.message.starts_with("Timeout of ") && self.message.contains("ms exceeded");
        if self.rule.is_some() {
            return ("LintError".into(), Severity::Medium);
        }
        if is_mocha || self.is_timeout || self.message.starts_with("test timed out after ") {
            return ("TestTimeout".into(), Severity::Medium);
        }
        let name = match self.class.as_deref() {
            Some("AssertionError") | None => "TestFailure".into(),
            Some(class) => super::node::error_type(class, self.code.as_deref(), &self.message),
        };
        (name, Severity::Medium)
    }
}

/// Reads `#   Failed test 'adds'` and `#   at t/a.t line 3.` of Perl.
fn read_perl(lines: &[Line], found: &mut Vec<Finding>) {
    for at in 0..lines.len() {
        let Some(rest) = text(lines, at).trim_start().strip_prefix("#   Failed test") else {
            continue;
        };
        let test = between(rest, "'", "'").map(str::to_owned);
        let mut message = String::new();
        let mut location = None;
        let mut last = at;
        // The place may be on the same line if the test has no name.
        for below in at..lines.len().min(at + 16) {
            let Some(comment) = text(lines, below).trim_start().strip_prefix('#') else {
                break;
            };
            let comment = comment.trim();
            if below > at && starts_any(comment, &["Failed test", "Looks like"]) {
                break;
            }
            last = below;
            let place_text = comment.strip_prefix("at ").or_else(|| {
                comment
                    .split_once(" at ")
                    .map(|(_, rest)| rest)
                    .filter(|_| below == at)
            });
            if let Some((file, rest)) = place_text.and_then(|text| text.rsplit_once(" line "))
                && location.is_none()
            {
                location = number(rest).map(|(line, _)| (file.to_owned(), line));
            } else if below > at {
                message.push_str(comment);
                message.push(' ');
            }
        }
        if message.is_empty() {
            message = test.clone().unwrap_or_else(|| "failed test".to_owned());
        }
        let mut finding = Finding::new(
            at,
            last,
            "TestFailure",
            Severity::Medium,
            on_one_line(&message),
        );
        if let Some((file, line)) = location {
            finding = finding.at(file, line);
        }
        finding.test = test;
        found.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: the blocks of tape and the comments of Bats have the place.
    #[test]
    fn tape_and_bats_are_read() {
        let text = "TAP version 13\n# adds\nnot ok 1 should be equal\n  ---\n    operator: equal\n    expected: 3\n    actual: 4\n    at: Test.<anonymous> (/w/a.js:5:5)\n    stack: |-\n      Error: should be equal\n          at Test.run (/w/node_modules/tape/x.js:1:2)\n  ...\n";
        assert_eq!(first(read, text).0, "TestFailure");
        let text =
            "1..1\nnot ok 1 adds\n# (in test file a.bats, line 3)\n#   `[ 1 -eq 2 ]' failed\n";
        assert_eq!(first(read, text), event("TestFailure", "a.bats", 3));
    }

    /// CAKE-WATCH-1: tests that are to be done, and the parents of failed ones, are no failures.
    #[test]
    fn expected_failures_are_quiet() {
        assert!(
            findings(
                read,
                "not ok 2 - later # TODO bug\nnot ok 3 # SKIP no net\n"
            )
            .is_empty()
        );
        let text = "not ok 1 - suite\n  ---\n  failureType: 'subtestsFailed'\n  ...\n";
        assert!(findings(read, text).is_empty());
    }
}
