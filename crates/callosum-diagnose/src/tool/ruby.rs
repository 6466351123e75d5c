//! Ruby: uncaught exceptions, RSpec, Minitest, test-unit, Rake and Bundler.

use super::{
    ruby_test,
    scan::{
        bare_class, class_and_message, mentions, mentions_any, named, on_one_line, place,
        place_before, quoted, starts_any, text,
    },
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Lines of one failure that are read.
pub(super) const LONGEST_FAILURE: usize = 120;

/// Reads Ruby and its tools.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if lines.has(":in `")
        || lines.has(":in '")
        || lines.has("Error)")
        || lines.has("syntax error")
        || lines.has(": warning: ")
    {
        read_exceptions(lines, found);
    }
    if lines.has("Failure/Error: ")
        || lines.has("An error occurred while loading")
        || lines.has("No examples found.")
    {
        ruby_test::read_rspec(lines, found);
    }
    if lines.has(") Failure:")
        || lines.has(") Error:")
        || lines.has("Failure: ")
        || lines.has("Failure:")
        || lines.has("Error:")
    {
        ruby_test::read_minitest(lines, found);
    }
    if lines.has("rake aborted!") || lines.has("No Rakefile found") {
        read_rake(lines, found);
    }
    read_bundler(lines, found);
}

/// Whether a file is the project's, not Ruby's or a gem's.
pub(super) fn is_project(file: &str) -> bool {
    !(file.starts_with("<internal:")
        || mentions_any(
            file,
            &[
                "/gems/",
                "/lib/ruby/",
                "/usr/lib/ruby",
                "/rubygems",
                "/usr/share/rubygems",
                "/vendor_ruby/",
                "/vendor/bundle/",
            ],
        )
        || (file.starts_with("/usr/bin/") || file.starts_with("/usr/local/bin/")))
}

/// Returns the place and rest of `file.rb:2:in `name': rest` or `file.rb:2: rest`.
pub(super) fn frame(line: &str) -> Option<(&str, u32, &str)> {
    let line = line.trim_start();
    let line = line.strip_prefix("from ").unwrap_or(line);
    let line = line.strip_prefix("# ").unwrap_or(line);
    let at = line.find(":in ").or_else(|| {
        // `file.rb:2: message` and `file.rb:2` alone.
        let (file, number, _) = place_before(line)?;
        Some(line.find(file)? + file.len() + 1 + number.to_string().len())
    })?;
    let (file, number) = place(&line[..at])?;
    let rest = &line[at..];
    let rest = match rest.strip_prefix(":in ") {
        Some(name) => {
            let mark = name.chars().next()?;
            if !matches!(mark, '`' | '\'') {
                return None;
            }
            let inner = &name[1..];
            let end = inner
                .find("':")
                .map(|end| end + 1)
                .or_else(|| inner.rfind('\'').map(|end| end + 1))?;
            inner[end..].trim_start_matches(':').trim_start()
        }
        None => rest.trim_start_matches(':').trim_start(),
    };
    let is_file = !file.contains(' ') || file.starts_with("<internal:") || file == "(eval)";
    is_file.then_some((file, number, rest))
}

/// Returns the message and class of `message (Class)`.
fn with_class(rest: &str) -> Option<(&str, &str)> {
    let rest = rest.trim_end();
    let (message, class) = rest.strip_suffix(')')?.rsplit_once('(')?;
    let class = bare_class(class)?;
    Some((message.trim(), class))
}

/// Reads uncaught exceptions with their causes, syntax errors and warnings.
fn read_exceptions(lines: &[Line], found: &mut Vec<Finding>) {
    // What a passing test prints about an exception is no error; a file that does not parse is.
    let is_quiet = super::passing::is_passing(lines);
    let mut at = 0;
    while at < lines.len() {
        let line = text(lines, at);
        if line.starts_with([' ', '\t']) || line.is_empty() {
            at += 1;
            continue;
        }
        if let Some(finding) = ruby_itself(at, line) {
            found.push(finding);
            at += 1;
            continue;
        }
        let Some((file, number, rest)) = frame(line) else {
            at += 1;
            continue;
        };
        if let Some(message) = rest.strip_prefix("warning: ")
            && is_ruby_file(file)
        {
            let name = if mentions(message, "deprecated") {
                "DeprecationWarning"
            } else {
                "CompileWarning"
            };
            found.push(Finding::new(at, at, name, Severity::Low, message).at(file, number));
            at += 1;
            continue;
        }
        if let Some(message) = rest
            .strip_prefix("syntax error, ")
            .or_else(|| rest.strip_prefix("syntax error found"))
            && is_ruby_file(file)
        {
            let mut last = at;
            while starts_any(text(lines, last + 1), &["  ", "> ", "..."]) && last < at + 12 {
                last += 1;
            }
            // The new parser points at the source with `^ expected …`.
            let pointed = (at + 1..=last).find_map(|at| {
                text(lines, at)
                    .split_once("^ ")
                    .map(|(_, reason)| reason.trim_start_matches(['^', '~', ' ']))
            });
            let message = match message.trim() {
                "" | "(SyntaxError)" => pointed.unwrap_or("syntax error"),
                message => message,
            };
            found.push(
                Finding::new(at, last, "SyntaxError", Severity::High, message).at(file, number),
            );
            at = last + 1;
            continue;
        }
        if is_ruby_file(file) && is_parse_error(rest) {
            found.push(Finding::new(at, at, "SyntaxError", Severity::High, rest).at(file, number));
            at += 1;
            continue;
        }
        if let Some(message) = rest.strip_prefix("[BUG] ") {
            let (name, severity) = if message.starts_with("Segmentation fault") {
                ("SegFault", Severity::Critical)
            } else {
                ("Abort", Severity::High)
            };
            found.push(Finding::new(at, at, name, severity, message).at(file, number));
            at += 1;
            continue;
        }
        if rest == "unhandled exception" {
            found.push(Finding::new(at, at, "RuntimeError", Severity::High, rest).at(file, number));
            at += 1;
            continue;
        }
        if !mentions(line, ":in ") && with_class(rest).is_none() {
            at += 1;
            continue;
        }
        let Some((findings, last)) = exceptions(lines, at) else {
            at += 1;
            continue;
        };
        if is_quiet {
            at = last + 1;
            continue;
        }
        // A thread reports its exception, and the main thread prints it again.
        let is_repeat = |finding: &Finding| {
            found.iter().any(|other| {
                other.error_type == finding.error_type
                    && other.line == finding.line
                    && other.message == finding.message
            })
        };
        let findings: Vec<Finding> = findings
            .into_iter()
            .filter(|finding| !is_repeat(finding))
            .collect();
        found.extend(findings);
        at = last + 1;
    }
}

/// Whether a message of Ruby's parser, which does not start with `syntax error`, is one.
fn is_parse_error(message: &str) -> bool {
    mentions_any(
        message,
        &[
            "meets end of file",
            "dynamic constant assignment",
            "formal argument cannot be",
            "class definition in method body",
            "module definition in method body",
            "duplicated argument name",
            "numeric literal without digits",
            "invalid multibyte char",
            "void value expression",
            "unknown regexp option",
        ],
    ) || starts_any(
        message,
        &[
            "Can't assign to ",
            "Invalid break",
            "Invalid next",
            "Invalid return",
            "Invalid retry",
            "Invalid yield",
        ],
    )
}

pub(super) fn is_ruby_file(file: &str) -> bool {
    file == "-e"
        || file == "-"
        || mentions_any(file, &[".rb", ".rake", ".ru", ".gemspec"])
        || file.ends_with("Rakefile")
        || file.ends_with("Gemfile")
}

/// Returns the finding of what `ruby` prints about itself.
fn ruby_itself(at: usize, line: &str) -> Option<Finding> {
    let rest = line.strip_prefix("ruby: ")?;
    let (message, class) = with_class(rest)?;
    let finding = Finding::new(at, at, named(class), Severity::High, message);
    Some(match message.split_once(" -- ") {
        Some((_, file)) => finding.at(file, None),
        None => finding,
    })
}

/// Returns the exceptions from a line on and their last line.
fn exceptions(lines: &[Line], at: usize) -> Option<(Vec<Finding>, usize)> {
    let mut chain = Vec::new();
    let mut start = at;
    loop {
        let (file, number, rest) = frame(text(lines, start))?;
        let (message, class) = if let Some(parts) = with_class(rest) {
            parts
        } else {
            // The class may end a message of several lines.
            let end = (start + 1..lines.len().min(start + 8))
                .take_while(|at| !text(lines, *at).trim_start().starts_with("from "))
                .find_map(|at| with_class(text(lines, at)));
            match end {
                Some((_, class)) => (rest, class),
                None => break,
            }
        };
        let mut last = start;
        let mut place = is_project(file).then_some((file, number));
        let mut below = start + 1;
        while below < lines.len() && below - start < LONGEST_FAILURE {
            let line = text(lines, below);
            let trimmed = line.trim_start();
            if line.starts_with('\t') || trimmed.starts_with("from ") {
                if place.is_none()
                    && let Some((file, number, _)) = frame(line)
                    && is_project(file)
                {
                    place = Some((file, number));
                }
                last = below;
            } else if trimmed.starts_with("... ") && trimmed.ends_with(" levels...") {
                last = below;
            } else if !(line.is_empty()
                || line.starts_with(' ')
                || trimmed.starts_with("Did you mean?"))
            {
                break;
            } else if !line.is_empty() {
                last = below;
            }
            below += 1;
        }
        // Ruby 2.5 to 2.7 print the deepest frame last.
        if place.is_none() {
            place = (start.saturating_sub(60)..start)
                .rev()
                .map_while(|at| {
                    let (_, frame_text) = text(lines, at).trim_start().split_once(": from ")?;
                    frame(frame_text)
                })
                .map(|(file, number, _)| (file, number))
                .find(|(file, _)| is_project(file));
        }
        chain.push((start, last, class, message, place));
        let is_cause = below < lines.len()
            && below == last + 1
            && frame(text(lines, below)).is_some_and(|(_, _, rest)| with_class(rest).is_some())
            && mentions(text(lines, below), ":in ");
        if !is_cause {
            break;
        }
        start = below;
    }
    let last = chain.last()?.1;
    let count = chain.len();
    let findings = chain
        .into_iter()
        .enumerate()
        .map(|(index, (first, end, class, message, place))| {
            let is_primary = index + 1 == count;
            let mut finding = Finding::new(
                if is_primary { at } else { first },
                end,
                named(class),
                Severity::High,
                on_one_line(message),
            );
            // A file that does not parse is named in the message.
            let parsed = place_before(message).filter(|(file, _, rest)| {
                class == "SyntaxError" && is_ruby_file(file) && mentions(rest, "syntax error")
            });
            if let Some((file, number, _)) = parsed {
                finding = finding.at(file, number);
            } else if let Some((file, number)) = place {
                finding = finding.at(file, number);
            }
            finding.module = message
                .strip_prefix("cannot load such file -- ")
                .or_else(|| message.strip_prefix("uninitialized constant "))
                .map(str::to_owned);
            finding.is_secondary = !is_primary;
            finding
        })
        .collect();
    Some((findings, last))
}

fn read_rake(lines: &[Line], found: &mut Vec<Finding>) {
    for at in 0..lines.len() {
        let line = text(lines, at);
        if line.starts_with("rake aborted!") {
            let message = text(lines, at + 1).trim();
            let mut end = at + 2;
            while end < lines.len()
                && end - at < LONGEST_FAILURE
                && !text(lines, end).starts_with("(See full trace")
            {
                end += 1;
            }
            if starts_any(
                message,
                &["Command failed with status", "Command failed with exit"],
            ) {
                continue;
            }
            let class = class_and_message(message)
                .filter(|(class, _)| *class != "RuntimeError" && message.contains(':'));
            let name = class.map_or("BuildError".into(), |(class, _)| named(class));
            let mut finding =
                Finding::new(at, end.min(lines.len() - 1), name, Severity::High, message);
            if let Some((file, number)) = ruby_test::project_place(lines, at + 1, end) {
                finding = finding.at(file, number);
            }
            finding.module = message
                .strip_prefix("Don't know how to build task ")
                .and_then(quoted)
                .or_else(|| message.split("cannot load such file -- ").nth(1))
                .map(str::to_owned);
            found.push(finding);
        } else if line.starts_with("No Rakefile found") {
            found.push(
                Finding::new(at, at, "FileNotFoundError", Severity::High, line)
                    .at("Rakefile", None),
            );
        }
    }
}

/// Reads Bundler and `gem`.
fn read_bundler(lines: &Window<'_>, found: &mut Vec<Finding>) {
    const WORDS: &[&str] = &[
        "Could not ",
        "Bundler could not ",
        "Your Ruby version is ",
        "Your bundle is locked to ",
        "The gemspecs for path gems changed",
        "The dependencies in your gemfile changed",
        "bundler: command not found: ",
        "[!] There was an error parsing",
        "An error occurred while installing ",
        "Gem::Ext::BuildError: ",
        "[DEPRECATED] ",
    ];
    for at in lines.lines_with(WORDS) {
        let line = text(lines, at);
        let Some(first) = line.as_bytes().first() else {
            continue;
        };
        if !matches!(
            first,
            b'C' | b'B' | b'b' | b'Y' | b'[' | b'E' | b'A' | b'G' | b'T'
        ) {
            continue;
        }
        let new = |name: &'static str| Finding::new(at, at, name, Severity::High, line);
        let named_gem = |name: &'static str| {
            let mut finding = new(name);
            finding.module = gem(line).map(str::to_owned);
            finding
        };
        let finding = if starts_any(line, &["Could not locate Gemfile"]) {
            new("FileNotFoundError").at("Gemfile", None)
        } else if starts_any(
            line,
            &[
                "Could not find gem ",
                "Bundler could not find compatible versions",
                "Could not find compatible versions",
                "ERROR:  Could not find a valid gem ",
            ],
        ) || (line.starts_with("Could not find ")
            && mentions_any(
                line,
                &[
                    "in any of the sources",
                    "in locally installed gems",
                    "in cached gems",
                    "in rubygems repository",
                ],
            ))
        {
            named_gem("DependencyError")
        } else if line.starts_with("Your Ruby version is ")
            || line.starts_with("Your bundle is locked to ")
            || line.starts_with("The gemspecs for path gems changed")
            || line.starts_with("The dependencies in your gemfile changed")
        {
            new("DependencyError")
        } else if let Some(rest) = line.strip_prefix("bundler: command not found: ") {
            let mut finding = new("CommandNotFound");
            finding.module = Some(rest.trim().to_owned());
            finding
        } else if starts_any(
            line,
            &["Could not reach host ", "Could not fetch specs from "],
        ) {
            new("ConnectionError")
        } else if line.starts_with("[!] There was an error parsing `Gemfile`") {
            let place = (at..lines.len().min(at + 14)).find_map(|at| {
                let (_, rest) = text(lines, at)
                    .trim_start_matches([' ', '#'])
                    .split_once("from ")?;
                place(rest.trim())
            });
            match place {
                Some((file, number)) => new("BuildError").at(file, number),
                None => new("BuildError"),
            }
        } else if line.starts_with("An error occurred while installing ")
            || line.starts_with("Gem::Ext::BuildError: ")
        {
            let mut finding = new("BuildError");
            finding.module = line
                .strip_prefix("An error occurred while installing ")
                .and_then(|rest| rest.split(' ').next())
                .map(str::to_owned);
            finding
        } else if line.starts_with("Could not find command \"") {
            let mut finding = new("CommandNotFound");
            finding.module = quoted(line).map(str::to_owned);
            finding
        } else if let Some(rest) = line.strip_prefix("[DEPRECATED] ") {
            Finding::new(at, at, "DeprecationWarning", Severity::Low, rest)
        } else {
            continue;
        };
        found.push(finding);
    }
}

/// Returns the gem of a message of Bundler.
fn gem(line: &str) -> Option<&str> {
    if let Some(name) = quoted(line) {
        return name.split(' ').next();
    }
    line.strip_prefix("Could not find ")?.split(' ').next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: Ruby 3.4, the reverse order of Ruby 2.7 and gems above the project are read.
    #[test]
    fn traces_of_other_versions_are_read() {
        let text = "main.rb:2:in 'Integer#/': divided by 0 (ZeroDivisionError)\n\tfrom main.rb:2:in 'Object#mean'\n";
        assert_eq!(first(read, text), event("ZeroDivisionError", "main.rb", 2));
        let text = "Traceback (most recent call last):\n\t1: from main.rb:4:in `<main>'\nmain.rb:2:in `total': undefined method `x' for nil:NilClass (NoMethodError)\n";
        assert_eq!(first(read, text), event("NoMethodError", "main.rb", 2));
        let text = "/usr/lib/ruby/gems/3.1.0/gems/pg-1.5/lib/pg.rb:9:in `connect': no (PG::ConnectionBad)\n\tfrom app/db.rb:3:in `open'\n";
        assert_eq!(first(read, text), event("ConnectionBad", "app/db.rb", 3));
    }

    /// CAKE-WATCH-1: test-unit, Rails and Bundler name their parts.
    #[test]
    fn other_runners_and_bundler_are_read() {
        let text = "Failure: test_total(ShopTest): <4> expected but was <3>.\n/w/test_shop.rb:6:in `test_total'\n";
        assert_eq!(
            first(read, text),
            event("TestFailure", "/w/test_shop.rb", 6)
        );
        let text = "Failure:\nCartTest#test_total [test/cart_test.rb:9]:\nExpected: 4\n  Actual: 3\n\nbin/rails test test/cart_test.rb:8\n";
        assert_eq!(
            first(read, text),
            event("TestFailure", "test/cart_test.rb", 9)
        );
        let text = "Could not find rake-13.0.6 in any of the sources\n";
        assert_eq!(
            findings(read, text)[0].module.as_deref(),
            Some("rake-13.0.6")
        );
        let text = "bundler: command not found: rspec\nInstall missing gem executables with `bundle install`\n";
        assert_eq!(first(read, text), event("CommandNotFound", "", 0));
    }

    /// CAKE-WATCH-1: prose and passing runs have no exception.
    #[test]
    fn prose_is_quiet() {
        for text in [
            "see main.rb:2 (an Error)\n",
            "errors\n  raises NoMethodError\n\n2 examples, 0 failures\n",
        ] {
            assert!(findings(read, text).is_empty(), "{text}");
        }
    }
}
