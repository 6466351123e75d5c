//! Finds the line of a key in a file, the end of its value, and the places to insert lines.

/// Whether a line gives the top-level key a value.
pub(super) fn is_key(line: &str, key: &str) -> bool {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    let rest = [key.to_owned(), format!("\"{key}\""), format!("'{key}'")]
        .iter()
        .find_map(|written| line.strip_prefix(written.as_str()));
    rest.is_some_and(|rest| {
        rest.trim_start_matches(' ')
            .strip_prefix(':')
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\r', '\n']))
    })
}

/// Returns the end of the value that begins in line `at`: the next line at column 0 that is not an
/// item, a comment or blank.
pub(super) fn span_end(lines: &[&str], at: usize) -> usize {
    let goes_on = |line: &&str| {
        let is_item = line.starts_with("- ") || line.trim_end() == "-";
        is_item || line.trim().is_empty() || line.starts_with([' ', '#', '\t', ']', '}'])
    };
    at + 1
        + lines[at + 1..]
            .iter()
            .take_while(|line| goes_on(line))
            .count()
}

/// Returns places in a span after all that belongs to the value, most likely first.
pub(super) fn ends(lines: &[&str], at: usize, end: usize, indent: usize) -> Vec<usize> {
    let last = |is: &dyn Fn(&str) -> bool| {
        (at..end)
            .rev()
            .find(|line| is(lines[*line]))
            .map_or(at + 1, |line| line + 1)
    };
    let mut ends = vec![
        last(&|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')),
        last(&|line| line.len() - line.trim_start().len() > indent && !line.trim().is_empty()),
        end,
    ];
    ends.dedup();
    ends
}

/// Returns the comment at the end of a line whose value is short, with its mark.
pub(super) fn comment(line: &str) -> Option<&str> {
    let line = line.trim_end();
    let (mut in_single, mut in_double, mut before) = (false, false, ' ');
    for (at, character) in line.char_indices() {
        match character {
            '\'' if !in_double => in_single = !in_single,
            '"' if !in_single && before != '\\' => in_double = !in_double,
            '#' if !in_single && !in_double && before.is_whitespace() => return Some(&line[at..]),
            _ => {}
        }
        before = character;
    }
    None
}

pub(super) fn joined(lines: &[&str], replaced: std::ops::Range<usize>, with: &str) -> String {
    [
        lines[..replaced.start].concat().as_str(),
        with,
        lines[replaced.end..].concat().as_str(),
    ]
    .concat()
}

/// Returns the lines with a text inserted before one of them, also if the line before has no end.
pub(super) fn put_in(lines: &[&str], at: usize, new: &str, eol: &str) -> String {
    let before = lines[..at].concat();
    let gap = if before.is_empty() || before.ends_with('\n') {
        ""
    } else {
        eol
    };
    [before.as_str(), gap, new, lines[at..].concat().as_str()].concat()
}
