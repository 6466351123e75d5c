//! [`usage`]: the token counts with which a session's first request and its next one begin.
//!
//! Each client writes a JSON object a line. The form of a request's numbers identifies the client:
//! Claude Code's answers have `message.usage`, Codex's events `token_count`, Gemini's answers
//! `tokens`, Qwen's `usageMetadata`. Only the ends of a file are read, so that a long session costs
//! as much as a short one.

use std::path::Path;

use callosum_host::{Disk, DiskError, OpenHow};
use callosum_session::budget::Usage;
use serde_json::Value;

/// Bytes of an end that are read first; eight times as many in the next step if they hold no
/// numbers.
const FIRST_READ: u64 = 64 * 1024;

/// Most bytes that are read of an end.
const MOST_READ: u64 = 32 * 1024 * 1024;

/// Most bytes of an end that are read if the caller may not wait: a few tool results.
const BRIEF_READ: u64 = 512 * 1024;

/// The numbers in a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The client that wrote it: `claude`, `codex`, `gemini` or `qwen`.
    pub client: &'static str,
    /// The numbers.
    pub usage: Usage,
}

/// Reads a transcript's numbers; `None` if no request has been answered in it yet, or no known
/// client wrote it.
pub fn usage(disk: &Disk, path: &Path) -> Result<Option<Reading>, DiskError> {
    read(disk, path, MOST_READ)
}

/// Reads the same between two calls of tools, from 512 KiB of each end; `None` also if the first or
/// the last request is not in them.
pub fn usage_in_brief(disk: &Disk, path: &Path) -> Result<Option<Reading>, DiskError> {
    let reading = read(disk, path, BRIEF_READ)?;
    Ok(reading.filter(|reading| reading.usage.first.is_some()))
}

fn read(disk: &Disk, path: &Path, most: u64) -> Result<Option<Reading>, DiskError> {
    let file = disk.open(path, OpenHow::READ)?;
    let size = file.size()?;
    let mut last = None;
    for read in reads(size, most) {
        let start = size - read;
        let bytes = file.read_range(start, usize::try_from(read).unwrap_or(usize::MAX))?;
        let text = String::from_utf8_lossy(&bytes);
        // Where it does not begin with the file, it begins within a line.
        let whole = if start == 0 {
            &text[..]
        } else {
            text.split_once('\n').map_or("", |(_, whole)| whole)
        };
        last = whole.rsplit('\n').find_map(counted);
        if last.is_some() {
            break;
        }
    }
    let Some(last) = last else { return Ok(None) };
    let mut first = None;
    for read in reads(size, most) {
        let bytes = file.read_range(0, usize::try_from(read).unwrap_or(usize::MAX))?;
        first = String::from_utf8_lossy(&bytes)
            .split('\n')
            .find_map(counted);
        if first.is_some() {
            break;
        }
    }
    Ok(Some(Reading {
        client: last.client,
        usage: Usage {
            in_use: last.after,
            first: first.map(|first| first.before),
            window: last.window,
        },
    }))
}

/// Returns the number of bytes of an end to read, step by step.
fn reads(size: u64, most: u64) -> impl Iterator<Item = u64> {
    let steps = std::iter::successors(Some(FIRST_READ), |read| Some(read * 8));
    let steps = steps.take_while(move |read| *read <= most);
    let mut is_all = false;
    steps
        .map(move |read| read.min(size))
        .take_while(move |read| !std::mem::replace(&mut is_all, *read == size))
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counted {
    client: &'static str,
    /// Tokens that it began with.
    before: u64,
    /// Tokens that the next one begins with.
    after: u64,
    window: Option<u64>,
}

/// Returns the numbers of a line, if it has some. A line that is torn has none.
fn counted(line: &str) -> Option<Counted> {
    // Most lines are long and have none: they are not parsed.
    let words = ["\"usage\"", "token_count", "\"tokens\"", "usageMetadata"];
    if !words.iter().any(|word| line.contains(word)) {
        return None;
    }
    let line: Value = serde_json::from_str(line).ok()?;
    claude(&line)
        .or_else(|| codex(&line))
        .or_else(|| gemini(&line))
        .or_else(|| qwen(&line))
}

/// An answer of Claude Code's own conversation, not of a sub-agent's.
fn claude(line: &Value) -> Option<Counted> {
    if line.get("type")? != "assistant" || line.get("isSidechain") == Some(&Value::Bool(true)) {
        return None;
    }
    let usage = line.get("message")?.get("usage")?;
    let part = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
    let before = [
        "input_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
    ]
    .map(part)
    .into_iter()
    .fold(0_u64, u64::saturating_add);
    // What it writes itself instead of an answer, such as an error, has been asked of no model.
    (before > 0).then(|| Counted {
        client: "claude",
        before,
        after: before.saturating_add(part("output_tokens")),
        window: None,
    })
}

fn codex(line: &Value) -> Option<Counted> {
    let event = line.get("payload")?;
    if event.get("type")? != "token_count" {
        return None;
    }
    let info = event.get("info")?;
    let last = info.get("last_token_usage")?;
    let before = last.get("input_tokens")?.as_u64()?;
    let after = last.get("total_tokens").and_then(Value::as_u64);
    Some(Counted {
        client: "codex",
        before,
        after: after.unwrap_or(before),
        window: info.get("model_context_window").and_then(Value::as_u64),
    })
}

fn gemini(line: &Value) -> Option<Counted> {
    if line.get("type")? != "gemini" {
        return None;
    }
    let tokens = line.get("tokens")?;
    let before = tokens.get("input")?.as_u64()?;
    let after = tokens.get("total").and_then(Value::as_u64);
    Some(Counted {
        client: "gemini",
        before,
        after: after.unwrap_or(before),
        window: None,
    })
}

fn qwen(line: &Value) -> Option<Counted> {
    let usage = line.get("usageMetadata")?;
    let before = usage.get("promptTokenCount")?.as_u64()?;
    let after = usage.get("totalTokenCount").and_then(Value::as_u64);
    Some(Counted {
        client: "qwen",
        before,
        after: after.unwrap_or(before),
        window: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Option<Reading> {
        read_by(usage, text)
    }

    fn read_by(
        read: impl Fn(&Disk, &Path) -> Result<Option<Reading>, DiskError>,
        text: &[u8],
    ) -> Option<Reading> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        let disk = Disk::real();
        disk.replace(&path, text, 0o600).unwrap();
        read(&disk, &path).unwrap()
    }

    fn numbers(text: &[u8]) -> Option<(&'static str, u64, Option<u64>, Option<u64>)> {
        let read = read(text)?;
        let Usage {
            in_use,
            first,
            window,
        } = read.usage;
        Some((read.client, in_use, first, window))
    }

    /// LOA-BUD-1: the numbers are each client's own, as it wrote them.
    #[test]
    fn each_client_s_own_numbers_are_read() {
        for (text, expected) in [
            (
                &include_bytes!("recorded/claude.jsonl")[..],
                ("claude", 12_572, Some(12_493), None),
            ),
            (
                include_bytes!("recorded/codex.jsonl"),
                ("codex", 11_006, Some(10_714), Some(258_400)),
            ),
            (
                include_bytes!("recorded/gemini.jsonl"),
                ("gemini", 8_567, Some(8_563), None),
            ),
            (
                include_bytes!("recorded/qwen.jsonl"),
                ("qwen", 15_814, Some(15_782), None),
            ),
        ] {
            assert_eq!(numbers(text), Some(expected));
        }
    }

    #[test]
    fn what_no_client_wrote_has_no_numbers_and_a_torn_end_is_passed_over() {
        assert_eq!(numbers(b""), None);
        assert_eq!(numbers(b"\xff\x00\n{\"usage\":1}\n[\"tokens\"]\n"), None);
        let mut torn = include_bytes!("recorded/claude.jsonl").to_vec();
        torn.extend(b"{\"type\":\"assistant\",\"message\":{\"usage\":{\"input_tokens\":99");
        assert_eq!(numbers(&torn).unwrap().1, 12_572);
        let hostile = br#"{"type":"assistant","message":{"usage":{"input_tokens":18446744073709551615,"output_tokens":7}}}"#;
        assert_eq!(numbers(hostile).unwrap().1, u64::MAX);
    }

    #[test]
    fn a_sub_agent_s_answers_and_those_of_no_model_do_not_count() {
        let text = concat!(
            r#"{"type":"assistant","isSidechain":false,"message":{"usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":1}}}"#,
            "\n",
            r#"{"type":"assistant","isSidechain":true,"message":{"usage":{"input_tokens":900,"output_tokens":1}}}"#,
            "\n",
            r#"{"type":"assistant","isSidechain":false,"message":{"usage":{"input_tokens":0,"output_tokens":0}}}"#,
            "\n",
        );
        assert_eq!(
            numbers(text.as_bytes()),
            Some(("claude", 16, Some(15), None))
        );
    }

    /// A long session costs what a short one does: what lies between its ends is not read.
    #[test]
    fn the_ends_of_a_long_transcript_are_enough() {
        let answer = |tokens: u64| {
            format!(
                "{{\"type\":\"assistant\",\"message\":{{\"usage\":{{\"input_tokens\":{tokens},\"output_tokens\":1}}}}}}\n"
            )
        };
        let filler = format!(
            "{{\"type\":\"user\",\"message\":\"{}\"}}\n",
            "x".repeat(100_000)
        );
        let text = [
            answer(100),
            filler.repeat(30),
            answer(5_000),
            filler.repeat(3),
        ]
        .concat();
        assert_eq!(
            numbers(text.as_bytes()),
            Some(("claude", 5_001, Some(100), None))
        );
        // Numbers behind the results of many tools are not waited for.
        let brief = read_by(usage_in_brief, text.as_bytes()).unwrap();
        assert_eq!((brief.usage.in_use, brief.usage.first), (5_001, Some(100)));
        let hidden = [text, filler.repeat(6)].concat();
        assert_eq!(read_by(usage_in_brief, hidden.as_bytes()), None);
        assert_eq!(numbers(hidden.as_bytes()).unwrap().1, 5_001);
        assert_eq!(
            reads(70_000, MOST_READ).collect::<Vec<_>>(),
            [65_536, 70_000]
        );
        assert_eq!(reads(10, MOST_READ).collect::<Vec<_>>(), [10]);
    }
}
