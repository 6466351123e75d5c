//! [`code_spans`]: the code spans of a line, as Markdown has them.

use std::ops::Range;

use super::grammar::LONGEST;

/// A code span: the run of backticks, the text inside, and the end of it all.
pub(super) struct CodeSpan {
    pub(super) inner: Range<usize>,
    pub(super) end: usize,
}

/// Returns the code spans of a line, each with its range and its words.
pub(super) fn code_spans(line: &str) -> Vec<(Range<usize>, &str)> {
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(next) = line[at..].find('`') {
        at += next;
        at = match code_span(line, at) {
            Ok(span) => {
                spans.push((at..span.end, unpadded(&line[span.inner])));
                span.end
            }
            Err(run_end) => run_end,
        };
    }
    spans
}

/// Returns the code span that begins at `at`, or the end of a run of backticks that opens none.
pub(super) fn code_span(text: &str, at: usize) -> Result<CodeSpan, usize> {
    let bytes = text.as_bytes();
    let open = run_length(&bytes[at..]);
    let inner_start = at + open;
    let mut here = inner_start;
    let end = bytes.len().min(inner_start + LONGEST);
    while here < end && bytes[here] != b'\n' {
        if bytes[here] != b'`' {
            here += 1;
            continue;
        }
        let close = run_length(&bytes[here..]);
        if close == open {
            return Ok(CodeSpan {
                inner: inner_start..here,
                end: here + close,
            });
        }
        here += close;
    }
    Err(inner_start)
}

fn run_length(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| **byte == b'`').count()
}

/// Returns a quote without the one blank on each side that keeps a backtick off the fence.
pub(super) fn unpadded(inner: &str) -> &str {
    let stripped = inner
        .strip_prefix(' ')
        .and_then(|rest| rest.strip_suffix(' '));
    match stripped {
        Some(stripped) if !stripped.trim().is_empty() => stripped,
        _ => inner,
    }
}
