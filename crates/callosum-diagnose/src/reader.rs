//! [`OutputReader`]: reads a stream of tool output and reports its errors.

use memchr::memchr;

use crate::{
    error_type::is_class,
    event::{ErrorEvent, Severity, StreamSource},
    finding::Finding,
    line::{Line, LineSplitter},
    patterns::Patterns,
    prefix::strip_prefixes,
    quoted::blank_quotes,
    tool::READERS,
    window::Window,
};

/// Lines that the readers see at once.
const WINDOW: usize = 4_000;

/// Lines at the end of a window that the next one sees again, so that no error is cut in two.
const OVERLAP: usize = 400;

/// Bytes that the readers see at once, so that long lines take no more memory than short ones.
const WINDOW_BYTES: usize = 1 << 20;

/// Longest line whose memory is reused, in bytes, so that spare lines take at most 1 MiB.
const LONGEST_SPARE: usize = 256;

/// Bytes that are split at once, between looks for a line that repeats.
const BLOCK: usize = 64 << 10;

/// Bytes that are compared at once.
const STEP: usize = 1 << 10;

/// Most events of one stream. The reader counts the rest.
const MOST_EVENTS: usize = 200;

/// Longest `raw_output` and `message` of an event, in bytes.
const LONGEST_RAW: usize = 4_096;
const LONGEST_MESSAGE: usize = 512;

/// The errors of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnosis {
    /// The errors, the one to act on first: errors before warnings, then in the order of the output.
    pub events: Vec<ErrorEvent>,
    /// Errors of the stream that are not listed.
    pub more: usize,
}

/// Reads a stream of tool output in bounded memory (about 2 MiB).
#[derive(Debug)]
pub struct OutputReader {
    source: StreamSource,
    timestamp: String,
    splitter: LineSplitter,
    patterns: Patterns,
    window: Vec<Line>,
    window_bytes: usize,
    /// Old lines, kept so that new ones can reuse their memory.
    spare: Vec<Line>,
    /// The only line of the window before, if the next window may be the same.
    repeat: Option<Repeat>,
    /// Lines at the start of the window that belong to findings of the window before.
    claimed: usize,
    findings: Vec<(Finding, String)>,
    more: usize,
}

/// A line that filled a window without an error. Another window of it has none either, so its lines are only counted.
#[derive(Debug)]
struct Repeat {
    /// The line with its line feed.
    line: String,
    /// Lines after which the window is as it was.
    cycle: usize,
    /// Lines since then.
    more: usize,
}

impl Repeat {
    fn new(line: &str, cycle: usize) -> Self {
        Self {
            line: format!("{line}\n"),
            cycle,
            more: 0,
        }
    }

    fn is_line(&self, text: &str) -> bool {
        self.line.strip_suffix('\n') == Some(text)
    }

    fn add(&mut self, count: usize) {
        self.more = (self.more + count) % self.cycle;
    }

    /// Counts the lines at the start of the bytes, and returns their length.
    fn count(&mut self, bytes: &[u8]) -> usize {
        let line = self.line.as_bytes();
        if !bytes.starts_with(line) {
            return 0;
        }
        // While the bytes equal those one line earlier, they repeat the line.
        let mut same = line.len();
        for (next, before) in bytes[line.len()..].chunks(STEP).zip(bytes.chunks(STEP)) {
            if next == &before[..next.len()] {
                same += next.len();
                continue;
            }
            let pairs = next.iter().zip(before);
            same += pairs.take_while(|(next, before)| next == before).count();
            break;
        }
        let count = same / line.len();
        let length = count * line.len();
        self.add(count);
        length
    }
}

impl OutputReader {
    /// Returns a reader of one stream; `timestamp` is the time of its events, as RFC 3339.
    pub fn new(source: StreamSource, timestamp: impl Into<String>) -> Self {
        Self {
            source,
            timestamp: timestamp.into(),
            splitter: LineSplitter::default(),
            patterns: Patterns::default(),
            window: Vec::new(),
            window_bytes: 0,
            spare: Vec::new(),
            repeat: None,
            claimed: 0,
            findings: Vec::new(),
            more: 0,
        }
    }

    /// Adds patterns of the user. They are tried on lines that no reader of a tool has claimed.
    #[must_use]
    pub fn with_patterns(mut self, patterns: Patterns) -> Self {
        self.patterns = patterns;
        self
    }

    /// Reads the next bytes of the stream, divided anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        for block in bytes.chunks(BLOCK) {
            let rest = self.count_repeats(block);
            self.split(rest);
        }
    }

    fn split(&mut self, bytes: &[u8]) {
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.push(bytes, |line| self.add(line));
        self.splitter = splitter;
    }

    /// Counts the lines at the start of the bytes that repeat the window, and returns the bytes behind them.
    fn count_repeats<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let mut rest = bytes;
        if self.repeat.is_some()
            && self.splitter.is_begun()
            && let Some(end) = memchr(b'\n', rest)
        {
            self.split(&rest[..=end]);
            rest = &rest[end + 1..];
        }
        match &mut self.repeat {
            Some(repeat) if !self.splitter.is_begun() => {
                let length = repeat.count(rest);
                &rest[length..]
            }
            _ => rest,
        }
    }

    /// Reads the end of the stream and returns its errors.
    pub fn finish(mut self) -> Diagnosis {
        if let Some(line) = self.splitter.finish() {
            self.add(&line);
        }
        self.add_repeats();
        self.read_window(true);
        let mut findings = std::mem::take(&mut self.findings);
        drop_consequences(&mut findings);
        findings
            .sort_by_key(|(finding, _)| (finding.severity == Severity::Low, finding.is_secondary));
        let events = findings
            .into_iter()
            .map(|(finding, raw)| self.event(finding, raw))
            .collect();
        Diagnosis {
            events,
            more: self.more,
        }
    }

    fn add(&mut self, text: &str) {
        if let Some(repeat) = &mut self.repeat
            && repeat.is_line(text)
        {
            repeat.add(1);
            return;
        }
        self.add_repeats();
        self.add_line(text);
    }

    /// Adds the lines that were only counted.
    fn add_repeats(&mut self) {
        if let Some(repeat) = self.repeat.take() {
            for _ in 0..repeat.more {
                self.add_line(&repeat.line[..repeat.line.len() - 1]);
            }
        }
    }

    fn add_line(&mut self, text: &str) {
        let mut line = self.spare.pop().unwrap_or_default();
        line.replace(text);
        self.window_bytes += text.len();
        self.window.push(line);
        if self.window.len() >= WINDOW || self.window_bytes >= WINDOW_BYTES {
            self.read_window(false);
        }
    }

    /// Reports the findings of the window that begin before the overlap, or all at the end.
    fn read_window(&mut self, is_end: bool) {
        let lines = &mut self.window;
        let settled = if is_end {
            lines.len()
        } else {
            lines.len() - OVERLAP.min(lines.len() / 2)
        };
        // The overlap was stripped and blanked as part of the window before; this one decides again.
        for line in &mut lines[..] {
            line.restore();
        }
        strip_prefixes(lines);
        blank_quotes(lines);
        let found = find_with(lines, &self.patterns);
        if found.is_empty() && lines.iter().all(|line| line.raw() == lines[0].raw()) {
            self.repeat = lines.first().map(|line| Repeat::new(line.raw(), settled));
        }
        let mut claimed = settled;
        for finding in found {
            if finding.first < self.claimed || finding.first >= settled {
                continue;
            }
            let last = finding.last.min(self.window.len() - 1);
            claimed = claimed.max(last + 1);
            self.report(finding, last);
        }
        let read = self.window.drain(..settled);
        self.spare
            .extend(read.filter(|line| line.capacity() <= LONGEST_SPARE));
        self.window_bytes = self.window.iter().map(|line| line.raw().len()).sum();
        self.claimed = claimed - settled;
    }

    /// Keeps a finding, unless it repeats one or there are too many. A warning makes room for an error.
    fn report(&mut self, finding: Finding, last: usize) {
        let is_repeat = self.findings.iter().any(|(other, _)| {
            other.message == finding.message
                && other.line == finding.line
                && other.file == finding.file
                && other.error_type == finding.error_type
                && other.test == finding.test
        });
        if is_repeat {
            return;
        }
        if self.findings.len() >= MOST_EVENTS {
            self.more += 1;
            let warning = self
                .findings
                .iter()
                .rposition(|(other, _)| other.severity == Severity::Low)
                .filter(|_| finding.severity > Severity::Low);
            match warning {
                Some(at) => self.findings.remove(at),
                None => return,
            };
        }
        let mut text = String::new();
        for line in &self.window[finding.first..=last] {
            if text.len() > LONGEST_RAW {
                break;
            }
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(line.raw());
        }
        self.findings.push((finding, cut(&text, LONGEST_RAW)));
    }

    fn event(&self, finding: Finding, raw: String) -> ErrorEvent {
        let message = finding.message.replace(['\n', '\r'], " ");
        let message = cut(&message, LONGEST_MESSAGE);
        // The message is better than blank lines.
        let raw = if raw.is_empty() {
            format!("{}: {message}", finding.error_type)
        } else {
            raw
        };
        ErrorEvent {
            error_type: finding.error_type.into_owned(),
            file_path: finding.file.filter(|file| !file.is_empty()),
            line_number: finding.line.filter(|line| *line > 0),
            message,
            code: finding.code,
            module: finding.module,
            test: finding.test,
            severity: finding.severity,
            stream_source: self.source,
            timestamp: self.timestamp.clone(),
            raw_output: raw,
        }
    }
}

/// Returns the errors of a whole output.
pub fn read(output: &[u8], source: StreamSource, timestamp: &str) -> Diagnosis {
    let mut reader = OutputReader::new(source, timestamp);
    reader.push(output);
    reader.finish()
}

/// Calls `each` with the name of every stage and reader, and a function that runs it over the output and counts its findings.
///
/// For `benches/reader.rs`, which measures them one by one. The whole output is one window.
#[doc(hidden)]
pub fn each_reader(output: &[u8], mut each: impl FnMut(&str, &dyn Fn() -> usize)) {
    let split = || {
        let mut lines = Vec::new();
        let mut splitter = LineSplitter::default();
        splitter.push(output, |line| lines.push(Line::new(line)));
        lines.extend(splitter.finish().map(Line::new));
        lines
    };
    let mut lines = split();
    each("(lines)", &|| split().len());
    each("(copy)", &|| lines.clone().len());
    each("(copy and prefixes)", &|| {
        let mut lines = lines.clone();
        strip_prefixes(&mut lines);
        lines.len()
    });
    strip_prefixes(&mut lines);
    each("(copy and quotes)", &|| {
        let mut lines = lines.clone();
        blank_quotes(&mut lines);
        lines.len()
    });
    blank_quotes(&mut lines);
    each("(window)", &|| Window::new(&lines).len());
    let window = Window::new(&lines);
    for reader in READERS {
        each(reader.name, &|| {
            let mut found = Vec::new();
            (reader.read)(&window, &mut found);
            found.len()
        });
    }
}

/// Returns the findings of every reader, without those that begin in lines that an earlier reader claimed.
pub(crate) fn find(lines: &[Line]) -> Vec<Finding> {
    find_with(lines, &Patterns::default())
}

/// Returns what [`find`] returns, and what patterns of the user find in the other lines.
fn find_with(lines: &[Line], patterns: &Patterns) -> Vec<Finding> {
    let mut accepted: Vec<Finding> = Vec::new();
    let mut claimed = vec![false; lines.len()];
    let mut found = Vec::new();
    let window = Window::new(lines);
    for reader in READERS {
        if !(reader.words.is_empty() || window.may_have_any(reader.words)) {
            continue;
        }
        (reader.read)(&window, &mut found);
        let start = accepted.len();
        for finding in found.drain(..) {
            // A damaged output may put anything where a format has a class.
            let is_sound = is_class(&finding.error_type);
            if is_sound && !claimed.get(finding.first).copied().unwrap_or(true) {
                accepted.push(finding);
            }
        }
        for finding in &accepted[start..] {
            let last = finding.last.min(lines.len() - 1);
            claimed[finding.first..=last].fill(true);
        }
    }
    patterns.read(lines, &claimed, &mut accepted);
    accepted.sort_by_key(|finding| finding.first);
    accepted
}

/// Removes consequences of errors that are reported. If there are only consequences, it keeps the first.
fn drop_consequences(findings: &mut Vec<(Finding, String)>) {
    let mut has_error = findings
        .iter()
        .any(|(finding, _)| !finding.is_consequence && finding.severity > Severity::Low);
    findings.retain(|(finding, _)| {
        if !finding.is_consequence {
            return true;
        }
        !std::mem::replace(&mut has_error, true)
    });
}

/// Returns text of at most `longest` bytes, cut at a character.
fn cut(text: &str, longest: usize) -> String {
    text[..text.floor_char_boundary(longest)].to_owned()
}
