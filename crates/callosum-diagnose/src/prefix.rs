//! Prefixes that scripts and services add to every line: time stamps, names of jobs, containers and build steps.
//!
//! Start with [`strip_prefixes`]. Readers see lines without them; `raw_output` keeps them.

use std::ops::Range;

use memchr::memchr2;

use crate::line::Line;

/// The mark of an error in the log of a step of GitHub Actions.
const ERROR_MARK: &str = "##[error]";

/// Fewest lines in a row that must have a prefix, unless the whole output has it.
const FEWEST: usize = 3;

/// Passes over the lines: a time stamp, a name and a second time stamp.
const PASSES: usize = 3;

/// Removes time stamps and names that lines in a row start with.
///
/// A prefix is removed from runs of at least three lines, or of two if they are the whole output, and a time stamp of
/// RFC 3339 from every line. A single line that seems to start with a name keeps it. Cost: it reads the first bytes of each line.
pub(crate) fn strip_prefixes(lines: &mut [Line]) {
    for line in lines.iter_mut() {
        if line.text().starts_with(ERROR_MARK) {
            line.skip(ERROR_MARK.len());
        }
    }
    for _ in 0..PASSES {
        let mut is_stripped = false;
        is_stripped |= strip(lines, full_stamp_length, 1);
        is_stripped |= strip(lines, stamp_length, FEWEST);
        is_stripped |= strip(lines, column_length, FEWEST);
        is_stripped |= strip(lines, name_length, FEWEST);
        is_stripped |= strip(lines, task_length, FEWEST);
        if !is_stripped {
            return;
        }
    }
}

/// Removes the prefix that `length` measures from each run of lines that have it, and returns whether there was one.
fn strip(lines: &mut [Line], length: impl Fn(&str) -> Option<usize>, fewest: usize) -> bool {
    let mut is_stripped = false;
    let mut lengths = Vec::new();
    for at in 0..=lines.len() {
        if let Some(length) = lines.get(at).and_then(|line| length(line.text())) {
            lengths.push(length);
            continue;
        }
        if lengths.is_empty() {
            continue;
        }
        let start = at - lengths.len();
        if lengths.len() >= fewest || (lengths.len() > 1 && is_rest_empty(lines, start..at)) {
            is_stripped = true;
            for (line, length) in lines[start..at].iter_mut().zip(&lengths) {
                line.skip(*length);
            }
        }
        lengths.clear();
    }
    is_stripped
}

fn is_rest_empty(lines: &[Line], run: Range<usize>) -> bool {
    lines[..run.start]
        .iter()
        .chain(&lines[run.end..])
        .all(|line| line.text().is_empty())
}

/// Returns the length of a time stamp of RFC 3339 in UTC, which no tool starts a message with.
fn full_stamp_length(text: &str) -> Option<usize> {
    let length = stamp_length(text)?;
    let is_full = text.as_bytes().get(10) == Some(&b'T') && text[..length].contains('Z');
    is_full.then_some(length)
}

/// Returns the length of a time stamp and the space behind it.
///
/// Forms: `2026-03-02T10:00:00.007Z `, `[2026-03-02 10:00:00] `, `2026-03-02 10:00:00,123 `, `10:00:00 `, `[10:00:00] ` and
/// `Mar 02 10:00:00 ` of `ts`. Not `2026/03/02 10:00:00`, which Go programs print themselves.
fn stamp_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let first = bytes.first()?;
    if !(first.is_ascii_digit() || first.is_ascii_uppercase() || *first == b'[') {
        return None;
    }
    let is_bracketed = *first == b'[';
    let start = usize::from(is_bracketed);
    let mut at = start;
    if let Some(after) = pattern(bytes, at, b"dddd-dd-dd") {
        at = after;
        if !matches!(bytes.get(at), Some(b'T' | b' ')) {
            return None;
        }
        at += 1;
    } else if let Some(after) = pattern(bytes, at, b"Aaa dd ") {
        at = after;
    }
    at = pattern(bytes, at, b"dd:dd:dd")?;
    if matches!(bytes.get(at), Some(b'.' | b',')) {
        at += 1;
        let digits = bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        at += digits;
    }
    if bytes.get(at) == Some(&b'Z') {
        at += 1;
    } else if matches!(bytes.get(at), Some(b'+' | b'-')) {
        at = pattern(bytes, at + 1, b"dd:dd").or_else(|| pattern(bytes, at + 1, b"dddd"))?;
    }
    if is_bracketed {
        if bytes.get(at) != Some(&b']') {
            return None;
        }
        at += 1;
    }
    match bytes.get(at) {
        Some(b' ' | b'\t') => {
            // GitLab: `2026-03-02T10:00:00.000000Z 00O text`, the number of the stream and whether a line goes on.
            let stream = pattern(bytes, at + 1, b"dd")
                .filter(|after| matches!(bytes.get(*after), Some(b'O' | b'E')))
                .filter(|after| matches!(bytes.get(after + 1), Some(b' ' | b'+')));
            Some(stream.map_or(at + 1, |after| after + 2))
        }
        None => Some(at),
        _ => None,
    }
}

/// Returns the end of a pattern of digits (`d`), letters (`A`, `a`) and other bytes as they are.
fn pattern(bytes: &[u8], at: usize, form: &[u8]) -> Option<usize> {
    let part = bytes.get(at..at + form.len())?;
    let is_match = part.iter().zip(form).all(|(byte, form)| match form {
        b'd' => byte.is_ascii_digit(),
        b'A' => byte.is_ascii_uppercase(),
        b'a' => byte.is_ascii_lowercase(),
        other => byte == other,
    });
    is_match.then_some(at + form.len())
}

/// Returns the length of `name  | ` and `name\tstep\t`, as Compose and `gh run view --log` print them.
fn column_length(text: &str) -> Option<usize> {
    if !text.as_bytes().first()?.is_ascii_alphabetic() {
        return None;
    }
    memchr2(b'|', b'\t', text.as_bytes())?;
    let name = word_length(text)?;
    let rest = &text[name..];
    let spaces = rest.len() - rest.trim_start_matches(' ').len();
    if spaces > 0 && rest[spaces..].starts_with('|') {
        let bar = name + spaces + 1;
        return Some(bar + usize::from(text[bar..].starts_with(' ')));
    }
    // Job, step and time stamp, divided by tabs.
    let mut columns = text.splitn(3, '\t');
    let job = columns.next()?;
    let step = columns.next()?;
    let rest = columns.next()?;
    let length = job.len() + step.len() + 2;
    (stamp_length(rest.trim_start_matches('\u{feff}')).is_some())
        .then_some(length + rest.len() - rest.trim_start_matches('\u{feff}').len())
}

/// Returns the length of `[name] `, as `concurrently` prints it, unless the word is a level of a log.
fn name_length(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('[')?;
    let name = word_length(inner)?;
    let word = &inner[..name];
    const LEVELS: [&str; 18] = [
        "info",
        "warning",
        "warn",
        "error",
        "fatal",
        "debug",
        "trace",
        "notice",
        "err",
        "failed",
        "pass",
        "fail",
        "help",
        "parse_error",
        "tsl",
        "webpack-cli",
        "deprecated",
        "vite",
    ];
    if LEVELS.iter().any(|level| word.eq_ignore_ascii_case(level)) {
        return None;
    }
    let rest = inner[name..].strip_prefix(']')?;
    // `[CI/build]   | text` of act.
    let spaces = rest.len() - rest.trim_start_matches(' ').len();
    if spaces > 0 && rest[spaces..].starts_with('|') {
        let bar = name + 2 + spaces + 1;
        return Some(bar + usize::from(text[bar..].starts_with(' ')));
    }
    match rest.as_bytes().first() {
        Some(b' ') => Some(name + 3),
        None => Some(name + 2),
        _ => None,
    }
}

/// Returns the length of `@acme/web:build: ` and `packages/web build: `, as Turborepo and pnpm print them.
fn task_length(text: &str) -> Option<usize> {
    const TASKS: [&str; 10] = [
        "build",
        "test",
        "lint",
        "dev",
        "start",
        "check",
        "typecheck",
        "type-check",
        "check-types",
        "compile",
    ];
    let package = text
        .bytes()
        .take_while(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'@' | b'.' | b'_' | b'/' | b'-')
        })
        .count();
    if package == 0 || !matches!(text.as_bytes().get(package), Some(b':' | b' ')) {
        return None;
    }
    let rest = &text[package + 1..];
    TASKS.iter().find_map(|task| {
        let end = rest.strip_prefix(task)?.strip_prefix(':')?;
        let is_end = end.is_empty() || end.starts_with(' ');
        is_end.then(|| text.len() - end.len() + usize::from(!end.is_empty()))
    })
}

/// Returns the length of a name of letters, digits and `._/-` that starts with a letter.
fn word_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    bytes.first()?.is_ascii_alphabetic().then(|| {
        bytes
            .iter()
            .take_while(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'/' | b'-')
            })
            .count()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(text: &str) -> Vec<String> {
        let mut lines: Vec<Line> = text.lines().map(Line::new).collect();
        strip_prefixes(&mut lines);
        lines.iter().map(|line| line.text().to_owned()).collect()
    }

    /// CAKE-WATCH-1: time stamps, containers and jobs before every line are no part of it.
    #[test]
    fn prefixes_of_all_lines_are_removed() {
        let forms: [fn(&str) -> String; 12] = [
            |line| format!("2026-03-02T10:00:00.1234567Z {line}"),
            |line| format!("[2026-03-02 10:00:00] {line}"),
            |line| format!("Mar 02 10:00:00 {line}"),
            |line| format!("10:00:00 web.1   | {line}"),
            |line| format!("web-1  | {line}"),
            |line| format!("[api] {line}"),
            |line| format!("2026-03-02T10:00:00.123456Z 00O {line}"),
            |line| format!("[CI/build]   | {line}"),
            |line| format!("@acme/web:build: {line}"),
            |line| format!("packages/web test: {line}"),
            |line| format!("build\tRun tests\t2026-03-02T10:00:00.1Z {line}"),
            |line| format!("2026-03-02T10:00:00.1Z ##[error]{line}"),
        ];
        for form in forms {
            let text = ["  at a", "error: b", "", "c"].map(form).join("\n");
            let expected = ["  at a", "error: b", "", "c"];
            let found: Vec<String> = stripped(&text)
                .into_iter()
                .map(|line| line.replace("##[error]", ""))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    /// CAKE-WATCH-1: levels of a build's log and single names are part of the line.
    #[test]
    fn levels_and_single_names_stay() {
        let maven = "[INFO] a\n[ERROR] b\n[INFO] c\n[WARNING] d";
        assert_eq!(stripped(maven).join("\n"), maven);
        let single = "one\n[web] Error: x\ntwo";
        assert_eq!(stripped(single).join("\n"), single);
        let source = "  1 | let a\n  2 | let b\n  3 | let c";
        assert_eq!(stripped(source).join("\n"), source);
    }
}
