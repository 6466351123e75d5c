//! Lines that quote an error: diffs, search hits, listings, logs of commits, documents and tests that pass.
//!
//! Start with [`blank_quotes`]. It empties lines and never removes one, so that findings keep their place.

use memchr::{memchr, memchr_iter, memchr3, memmem::find};

use crate::line::Line;

/// Most lines of a quoted block, such as the code in a document.
const BLOCK: usize = 400;

/// Empties each line that only quotes output, so that no reader takes it for an error.
///
/// Cost: it reads the first bytes of each line, and searches for the end of each block that begins.
pub(crate) fn blank_quotes(lines: &mut [Line]) {
    passing_tests(lines);
    let mut at = 0;
    while at < lines.len() {
        let end = block_end(lines, at);
        if end > at {
            blank(&mut lines[at..end]);
            at = end;
            continue;
        }
        if is_quoted_line(lines[at].text()) {
            lines[at].blank();
        }
        at += 1;
    }
}

fn blank(lines: &mut [Line]) {
    for line in lines {
        line.blank();
    }
}

/// Returns the end of the quoted block that begins at a line, or the line itself if none does.
fn block_end(lines: &[Line], at: usize) -> usize {
    let line = lines[at].text();
    match line.as_bytes().first() {
        Some(b'@') => hunk_end(lines, at),
        Some(b'c') if is_commit(line) => message_end(lines, at),
        Some(b'F') if is_mail(line) => mail_end(lines, at),
        Some(b'`' | b'~') => fence_end(lines, at),
        Some(b' ') if line.trim_start().starts_with("```") => fence_end(lines, at),
        Some(b' ') if line.trim_start().starts_with(">>> ") => doctest_end(lines, at),
        Some(_) => literal_end(lines, at),
        None => at,
    }
}

/// Returns the end of the hunk of a diff: as many lines as its head counts.
fn hunk_end(lines: &[Line], at: usize) -> usize {
    let line = lines[at].text();
    if line.starts_with("@@@ -") {
        // A merge's hunk counts each parent; its lines have a mark or a space.
        let length = lines[at + 1..]
            .iter()
            .take_while(|line| {
                matches!(
                    line.text().as_bytes().first(),
                    Some(b' ' | b'+' | b'-' | b'\\')
                )
            })
            .count();
        return at + 1 + length;
    }
    let Some((mut old, mut new)) = hunk_lengths(line) else {
        return at;
    };
    let mut end = at + 1;
    while end < lines.len() && (old > 0 || new > 0) {
        match lines[end].text().as_bytes().first() {
            Some(b' ') | None => {
                old = old.saturating_sub(1);
                new = new.saturating_sub(1);
            }
            Some(b'-') => old = old.saturating_sub(1),
            Some(b'+') => new = new.saturating_sub(1),
            Some(b'\\') => {}
            Some(_) => break,
        }
        end += 1;
    }
    end
}

/// Returns the lengths in `@@ -1,3 +1,4 @@`.
fn hunk_lengths(line: &str) -> Option<(usize, usize)> {
    let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let length = |range: &str| match range.split_once(',') {
        Some((start, length)) => start.parse::<usize>().ok().and(length.parse().ok()),
        None => range.parse::<usize>().ok().map(|_| 1),
    };
    Some((length(old)?, length(new)?))
}

/// Whether a line starts a commit of `git log`: `commit e6c24c6e…`.
fn is_commit(line: &str) -> bool {
    line.strip_prefix("commit ").is_some_and(|rest| {
        let hash = rest.split(' ').next().unwrap_or(rest);
        hash.len() >= 7 && is_hash(hash)
    })
}

/// Returns the end of a commit's head and message, which is indented.
fn message_end(lines: &[Line], at: usize) -> usize {
    let is_head = |line: &str| {
        [
            "Author:",
            "AuthorDate:",
            "Commit:",
            "CommitDate:",
            "Date:",
            "Merge:",
            "Reflog:",
            "Reflog message:",
            "gpg:",
            "tree ",
            "parent ",
            "author ",
            "committer ",
        ]
        .iter()
        .any(|word| line.starts_with(word))
    };
    let mut end = at + 1;
    if end >= lines.len() || !is_head(lines[end].text()) {
        return at;
    }
    while end < lines.len() {
        let line = lines[end].text();
        if !(line.is_empty() || line.starts_with("    ") || is_head(line)) {
            break;
        }
        end += 1;
    }
    end
}

/// Whether a line starts a patch as a mail: `From 1337c8a4… Mon Sep 17 00:00:00 2001`.
fn is_mail(line: &str) -> bool {
    line.strip_prefix("From ")
        .and_then(|rest| rest.split_once(' '))
        .is_some_and(|(hash, _)| hash.len() == 40 && is_hash(hash))
}

/// Returns the end of a mail's message: the line `---`.
fn mail_end(lines: &[Line], at: usize) -> usize {
    lines[at..]
        .iter()
        .take(BLOCK)
        .position(|line| line.text() == "---")
        .map_or(at, |length| at + length)
}

/// Returns the end of a block of code in Markdown. Without its closing line there is none.
fn fence_end(lines: &[Line], at: usize) -> usize {
    let open = lines[at].text().trim_start();
    let mark = if open.starts_with("~~~") {
        "~~~"
    } else {
        "```"
    };
    // An information string is one word, perhaps with attributes.
    if !open.starts_with(mark) || open.len() > 60 || open[3..].contains('`') {
        return at;
    }
    lines[at + 1..]
        .iter()
        .take(BLOCK)
        .position(|line| line.text().trim() == mark)
        .map_or(at, |length| at + length + 2)
}

/// Returns the end of an example in a docstring: the next empty line.
fn doctest_end(lines: &[Line], at: usize) -> usize {
    let code = &lines[at].text().trim_start()[4..];
    // lld and rustc's notes have the same mark.
    if code.starts_with(' ') || code.starts_with("referenced by") || code.starts_with("defined at")
    {
        return at;
    }
    lines[at..]
        .iter()
        .take(BLOCK)
        .position(|line| line.text().trim().is_empty())
        .map_or(at, |length| at + length)
}

/// Returns the end of a string of several lines in a listing of source: `TEXT = """`, `cat <<'EOF'`, `r#"`.
fn literal_end(lines: &[Line], at: usize) -> usize {
    let line = lines[at].text();
    if memchr3(b'"', b'\'', b'<', line.as_bytes()).is_none() {
        return at;
    }
    for mark in ["\"\"\"", "'''"] {
        if let Some(start) = find_mark(line, mark)
            && !line[start + 3..].contains(mark)
        {
            let before = line[..start].trim_end_matches(['r', 'R', 'f', 'b', 'u', ' ']);
            let is_value = before.ends_with(['=', '(', ',', '[', ':']);
            if is_value && !line.starts_with(['>', 'E']) {
                return close(lines, at, |line| line.contains(mark));
            }
        }
    }
    if memchr(b'#', line.as_bytes()).is_some()
        && let Some(start) = find_mark(line, "r#\"")
        && !line[start + 3..].contains("\"#")
        && line[..start]
            .trim_end()
            .ends_with(['=', '(', ',', '[', '&'])
    {
        return close(lines, at, |line| line.contains("\"#"));
    }
    if let Some(start) = find_mark(line, "<<") {
        let word = line[start + 2..]
            .trim_start_matches('-')
            .trim_matches(['\'', '"', ' ', '\\']);
        let word = word.split(['\'', '"', ' ', ')']).next().unwrap_or(word);
        let is_word = word.len() > 2
            && word
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        // The trace of `set -x` prints the command, not its document.
        if is_word && !line.starts_with('+') {
            return close(lines, at, |line| line.trim() == word);
        }
    }
    at
}

/// Returns where a mark is first. For marks of a few rare bytes it is faster than a search for any word.
fn find_mark(line: &str, mark: &str) -> Option<usize> {
    let (line, mark) = (line.as_bytes(), mark.as_bytes());
    memchr_iter(mark[0], line).find(|at| line[*at..].starts_with(mark))
}

/// Returns the line behind the one that closes a block.
fn close(lines: &[Line], at: usize, is_end: impl Fn(&str) -> bool) -> usize {
    lines[at + 1..]
        .iter()
        .take(BLOCK)
        .position(|line| is_end(line.text()))
        .map_or(at, |length| at + length + 2)
}

fn is_hash(word: &str) -> bool {
    word.bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
}

/// Whether a line alone quotes text.
fn is_quoted_line(line: &str) -> bool {
    let bytes = line.as_bytes();
    match bytes.first() {
        None => false,
        Some(b'O') => line.starts_with("Operator (CAKE): "),
        Some(b'0'..=b'9') => is_numbered(line) || is_commit_line(line),
        Some(b' ') => is_listed(line),
        Some(b's') if line.starts_with("stash@{") => true,
        Some(b'[') => is_commit_summary(line),
        Some(b'H') if line.starts_with("HEAD is now at ") => true,
        Some(b'p')
            if is_search_hit(line) || line.strip_prefix("pick ").is_some_and(is_commit_line) =>
        {
            true
        }
        Some(b'|' | b'\\' | b'*') => {
            is_commit_line(line.trim_start_matches(['*', '|', '\\', '/', '_', ' ']))
                || is_search_hit(line)
        }
        Some(_) => is_commit_line(line) || is_search_hit(line),
    }
}

/// Whether a line is one of `git log --oneline`, `git reflog` or `git blame`: a short hash and a text.
fn is_commit_line(line: &str) -> bool {
    let line = line.strip_prefix('^').unwrap_or(line);
    let Some((hash, rest)) = line.split_once(' ') else {
        return false;
    };
    (7..=40).contains(&hash.len())
        && is_hash(hash)
        && hash.bytes().any(|byte| byte.is_ascii_digit())
        && !rest.is_empty()
}

/// Whether a line is the summary of a commit: `[main 517891a] fix: TypeError`.
fn is_commit_summary(line: &str) -> bool {
    line[1..].split_once("] ").is_some_and(|(inner, _)| {
        inner
            .rsplit_once(' ')
            .is_some_and(|(_, hash)| (7..=40).contains(&hash.len()) && is_hash(hash))
    })
}

/// Whether a line has a number and a mark before its text: `12:text` and `12-text` of grep, `12<tab>text` of `cat -n`.
fn is_numbered(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line.as_bytes()[digits..];
    match rest.first() {
        Some(b'\t') => true,
        Some(b':') => rest.get(1).is_some_and(|byte| {
            !byte.is_ascii_digit() && *byte != b' ' || rest.starts_with(b":  ")
        }),
        Some(b'-') => rest
            .get(1)
            .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b' '),
        _ => line[digits..].starts_with('→'),
    }
}

/// Whether a line is one of `cat -n`, `nl`, `bat` or an agent's listing: spaces, a number, and a tab, an arrow or a bar.
fn is_listed(line: &str) -> bool {
    let rest = line.trim_start_matches(' ');
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0
        && (rest[digits..].starts_with('\t')
            || rest[digits..].starts_with('→')
            || rest[digits..].trim_start().starts_with('│'))
}

/// Whether a line is a hit of a search: `src/a.py:12:text` or `src/a.py-12-text`.
///
/// A compiler has a space or a column behind the line's number.
fn is_search_hit(line: &str) -> bool {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len().min(300) {
        let mark = bytes[at];
        if matches!(mark, b':' | b'-') && at > 0 {
            let digits = bytes[at + 1..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            let end = at + 1 + digits;
            if digits > 0 && bytes.get(end) == Some(&mark) {
                return is_hit(&line[..at], &line[end + 1..], mark);
            }
        }
        if mark == b' ' {
            return false;
        }
        at += 1;
    }
    false
}

fn is_hit(file: &str, text: &str, mark: u8) -> bool {
    let is_file = file.contains(['.', '/']) && !file.contains(['(', '"', '\'', '<', '@']);
    if mark == b'-' {
        // `python-3.11-2-x` is a name: a line of context has a file with an ending.
        return is_file
            && file
                .rsplit(['/', '.'])
                .next()
                .is_some_and(|end| end.len() <= 8 && file.contains('.'))
            && !text.is_empty();
    }
    let first = text.chars().next();
    is_file
        && match first {
            None | Some('0'..='9') => false,
            Some(' ') => text.starts_with("  "),
            // Ruby: `a.rb:1:in 'run': text`.
            Some('i') => !text.starts_with("in `") && !text.starts_with("in '"),
            Some(_) => true,
        }
}

/// Empties the output of test runs that passed.
fn passing_tests(lines: &mut [Line]) {
    passes_section(lines);
    let mut start: Option<usize> = None;
    let mut has_failed = false;
    for at in 0..lines.len() {
        let line = lines[at].text();
        match line.as_bytes().first() {
            // libtest: `running 2 tests` to `test result: ok.`
            Some(b'r') if is_libtest_start(line) => (start, has_failed) = (Some(at), false),
            Some(b't') if line.starts_with("test result: ") => {
                if let Some(start) = start
                    .take()
                    .filter(|_| line.starts_with("test result: ok.") && !has_failed)
                {
                    // The result itself shows whether a filter left no test.
                    blank(&mut lines[start..at]);
                }
            }
            Some(b't') if line.starts_with("test ") && line.ends_with("... FAILED") => {
                has_failed = true;
            }
            // go test -v: `=== RUN` to `ok  `
            Some(b'=') if line.starts_with("=== RUN ") && start.is_none() => {
                (start, has_failed) = (Some(at), false);
            }
            Some(b'-') if line.starts_with("--- FAIL") => has_failed = true,
            Some(b'F') if line == "FAIL" || line.starts_with("FAIL\t") => {
                (start, has_failed) = (None, false);
            }
            Some(b'o') if line.starts_with("ok  \t") => {
                if let Some(start) = start.take().filter(|_| !has_failed) {
                    blank(&mut lines[start..=at]);
                }
            }
            Some(b'=') if line.contains(" test session starts ") => {
                (start, has_failed) = (Some(at), false);
            }
            Some(b'=') if is_pytest_end(line) => {
                if let Some(start) = start.take()
                    && is_pytest_pass(line)
                {
                    blank(&mut lines[start..=at]);
                }
            }
            _ => {}
        }
    }
}

/// Empties the section in which pytest's `-rP` and `-rA` show the output of tests that passed.
fn passes_section(lines: &mut [Line]) {
    let is_heading =
        |line: &str| line.len() > 20 && line.starts_with("===") && line.ends_with("===");
    let mut is_passes = false;
    for line in lines {
        if is_heading(line.text()) {
            is_passes = line.text().trim_matches('=') == " PASSES ";
        }
        if is_passes {
            line.blank();
        }
    }
}

fn is_libtest_start(line: &str) -> bool {
    line.starts_with("running ") && (line.ends_with(" tests") || line.ends_with(" test"))
}

fn is_pytest_end(line: &str) -> bool {
    let inner = line.trim_matches('=').trim();
    line.ends_with('=')
        && find(inner.as_bytes(), b" in ").is_some()
        && inner.starts_with(|digit: char| digit.is_ascii_digit())
}

fn is_pytest_pass(line: &str) -> bool {
    // Warnings of a run that passed are events of their own.
    line.contains(" passed")
        && ![" failed", " error", " warning"]
            .iter()
            .any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let mut lines: Vec<Line> = text.lines().map(Line::new).collect();
        blank_quotes(&mut lines);
        lines
            .iter()
            .map(|line| line.text().to_owned())
            .filter(|line| !line.is_empty())
            .collect()
    }

    /// CAKE-WATCH-1: a hunk is as long as its head counts, and an error behind it is read.
    #[test]
    fn a_hunk_ends_where_its_head_says() {
        let text = "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n one\n+error: two\nerror: real";
        assert_eq!(shown(text), ["--- a/x", "+++ b/x", "error: real"]);
        assert_eq!(shown("@@ -1,9 +1,9 @@\n a\nfatal: real"), ["fatal: real"]);
    }

    /// CAKE-WATCH-1: hits of a search and listings are quotes; messages of compilers with a place are not.
    #[test]
    fn hits_and_listings_are_quotes() {
        for quote in [
            "src/log.py:2:raise ValueError(\"error\")",
            "src/main.rs:3:    // error[E0308]: mismatched types",
            "src/app.log-4-fatal: not a git repository",
            "1:Traceback (most recent call last):",
            "2-  File \"a.py\", line 3",
            "     1\terror: x",
            "    12\u{2192}error: x",
            "517891a tests: expect AssertionError",
            "* 517891a (HEAD -> main) error: x",
            "[main 517891a] fatal: fix it",
            "Operator (CAKE): Stop. Run cargo check.",
        ] {
            assert!(shown(quote).is_empty(), "{quote}");
        }
        for message in [
            "main.c:5:5: error: expected",
            "cart.py:2: error: Incompatible return value",
            "a.rb:1:in `run': no (RuntimeError)",
            "deploy.zsh:4: parse error near `\\n'",
            "main.c:(.text+0x5): undefined reference to `total'",
            "./main.go:4:14: undefined: x",
            "thread 'main' panicked at src/main.rs:3:21:",
            "bash: line 1: 19667 Segmentation fault      ./shop",
            "10:00:01 error: x",
            "2026-01-02 error: x",
            "curl: (7) Failed to connect to 127.0.0.1 port 9",
        ] {
            assert_eq!(shown(message), [message]);
        }
    }

    /// CAKE-WATCH-1: documents, mails, logs and literals in source quote what they hold.
    #[test]
    fn blocks_are_quotes() {
        for block in [
            "```\nerror: x\n```",
            "```text\nerror: x\n```",
            "commit e6c24c6e75b01f66bc273c56defab1307f1984af\nAuthor: A <a@b>\n\n    x\n    \n    error: x",
        ] {
            assert!(shown(block).is_empty(), "{block}");
        }
        assert_eq!(
            shown("TEXT = \"\"\"\nerror: x\n\"\"\"\nfatal: y"),
            ["fatal: y"]
        );
        assert_eq!(
            shown("cat <<'EOF' > x\nerror: x\nEOF\nfatal: y"),
            ["fatal: y"]
        );
        assert_eq!(
            shown("```\nerror: never closed"),
            ["```", "error: never closed"]
        );
    }

    /// CAKE-WATCH-1: what tests print is quoted if the run passed, and only then.
    #[test]
    fn tests_that_pass_are_quotes() {
        let run = |result: &str| {
            format!("running 1 test\nfatal: x\ntest a ... ok\n\ntest result: {result}. 1 passed\n")
        };
        assert_eq!(shown(&run("ok")), ["test result: ok. 1 passed"]);
        assert!(shown(&run("FAILED")).contains(&"fatal: x".to_owned()));
    }
}
