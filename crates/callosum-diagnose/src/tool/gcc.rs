//! GCC, Clang, MSVC and analyzers that print as they do: `file:2:12: error: text`, and errors of the drivers.

use super::scan::{
    between, mentions, mentions_any, number, place_before, quoted, reason, starts_any, text,
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Endings of files of C, C++ and the other languages of these compilers.
const ENDINGS: &[&str] = &[
    "c", "h", "cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "inl", "tpp", "tcc",
    "inc", "m", "mm", "cu", "cuh", "S", "s", "asm", "f", "F", "f90", "F90", "f95", "f03", "f08",
    "for", "d", "adb", "ads", "y", "yy", "l", "ll", "lex", "def", "i", "ii", "ino", "cl", "zig",
    "swift", "hs", "v", "sv", "vhd", "vhdl", "rc", "glsl", "metal", "C", "H", "cppm", "ixx",
    "proto", "ld", "lds",
];

/// Drivers and passes that print errors without a place.
const DRIVERS: &[&str] = &[
    "gcc",
    "g++",
    "cc",
    "c++",
    "cc1",
    "cc1plus",
    "cc1obj",
    "clang",
    "clang++",
    "clang-cl",
    "f951",
    "gfortran",
    "lto1",
    "lto-wrapper",
    "collect2",
    "as",
    "cpp",
    "nvcc",
    "gnat1",
    "cl",
    "flang",
];

/// Without one of these there is no message.
pub(super) const WORDS: &[&str] = &["rror", "warning", "style:", "exhausted"];

/// A line that starts a message has one of these.
const STARTS: &[&str] = &[
    "rror",
    "arning",
    "style: ",
    "sorry, unimplemented: ",
    "performance: ",
    "portability: ",
    "information: ",
    "virtual memory exhausted",
];

/// Most lines that a message's source and notes take.
const BLOCK: usize = 12;

/// Reads messages of compilers.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if !lines.has_any(WORDS) {
        return;
    }
    for at in lines.lines_with(STARTS) {
        let line = text(lines, at);
        if let Some(finding) = message(lines, at, line)
            .or_else(|| msvc(at, line))
            .or_else(|| driver(at, line))
        {
            found.push(finding);
        }
    }
}

/// Whether a file is one of these compilers.
fn is_source(file: &str) -> bool {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    if file.is_empty() || file.len() > 300 || file.contains(['"', '`', '<', '(', '*']) {
        return false;
    }
    // A quoted line is no file: `+main.c`, `// see main.c`.
    if starts_any(file, &["//", "-", "+", ">", "#", "*", "|", " ", "\t"]) {
        return false;
    }
    match name.rsplit_once('.') {
        Some((_, ending)) => ENDINGS.contains(&ending),
        // Headers of the standard library have no ending.
        None => mentions(file, "/include/"),
    }
}

/// Whether a file is a header of the system or of the compiler.
fn is_system(file: &str) -> bool {
    mentions_any(
        file,
        &[
            "/include/c++/",
            "/lib/gcc/",
            "/lib/clang/",
            "/c++/v1/",
            "\\MSVC\\",
        ],
    ) || starts_any(
        file,
        &[
            "/usr/include/",
            "/usr/lib/",
            "/usr/local/include/",
            "/opt/",
            "/Applications/",
            "/Library/",
        ],
    )
}

/// Level of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Error,
    Warning,
    Style,
}

/// Returns level and text of `error: text`, `fatal error: text` and so on.
fn level(rest: &str) -> Option<(Level, &str)> {
    const LEVELS: [(&str, Level); 13] = [
        ("error: ", Level::Error),
        ("fatal error: ", Level::Error),
        ("Error: ", Level::Error),
        ("Fatal Error: ", Level::Error),
        ("Fatal error: ", Level::Error),
        ("internal compiler error: ", Level::Error),
        ("sorry, unimplemented: ", Level::Error),
        ("warning: ", Level::Warning),
        ("Warning: ", Level::Warning),
        ("style: ", Level::Style),
        ("performance: ", Level::Style),
        ("portability: ", Level::Style),
        ("information: ", Level::Style),
    ];
    LEVELS
        .iter()
        .find_map(|(word, level)| rest.strip_prefix(word).map(|text| (*level, text.trim())))
}

fn message(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
    let (file, row, rest) = place_before(line)?;
    if !is_source(file) {
        return None;
    }
    let (level, message) = level(rest)?;
    let (name, severity, code) = kind(level, message);
    let mut last = at;
    while last + 1 < lines.len() && last - at < BLOCK && is_detail(text(lines, last + 1)) {
        last += 1;
    }
    let (start, spot) = instance(lines, at, last);
    let (file, row) = spot.unwrap_or((file, row));
    let mut finding = Finding::new(start, last, name, severity, message).at(file, row);
    finding.code = code;
    if mentions_any(
        message,
        &[
            "No such file",
            "file not found",
            "undeclared",
            "was not declared",
            "does not name a type",
            "unknown type name",
            "no member named",
            "has no member",
        ],
    ) {
        finding.module = if message.ends_with("No such file or directory") {
            message.split(": ").next().map(str::to_owned)
        } else {
            quoted(message).map(str::to_owned)
        };
    }
    Some(finding)
}

/// Whether a line is the source below a message of GCC.
fn is_detail(line: &str) -> bool {
    let rest = line.trim_start_matches([' ', '\t']);
    let rest = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
    line.starts_with(' ') && rest.trim_start().starts_with('|')
}

/// Returns the lines above that belong to a message, and the line of the project that asks for a template's instance.
fn instance(lines: &[Line], at: usize, last: usize) -> (usize, Option<(&str, u32)>) {
    let mut start = at;
    let mut spot = None;
    // GCC names the instances above the error, the one in the project last.
    for before in (at.saturating_sub(30)..at).rev() {
        let line = text(lines, before);
        let is_required = mentions(line, "required from") || mentions(line, "required by");
        let is_context = is_required
            || mentions_any(
                line,
                &[
                    "In instantiation of",
                    "In substitution of",
                    "In file included from",
                    ": In function ",
                    ": In member function",
                    ": In constructor",
                    ": At global scope",
                ],
            )
            || line.starts_with("                 from ");
        if !is_context {
            break;
        }
        start = before;
        if is_required
            && spot.is_none()
            && let Some((file, row, _)) = place_before(line)
            && !is_system(file)
        {
            spot = Some((file, row));
        }
    }
    if spot.is_some() {
        return (start, spot);
    }
    // Clang names them below, the innermost first.
    let Some((file, _, _)) = place_before(text(lines, at)) else {
        return (start, None);
    };
    for next in last + 1..lines.len().min(last + 60) {
        let line = text(lines, next);
        let Some((other, row, rest)) = place_before(line) else {
            continue;
        };
        if level(rest).is_some() {
            break;
        }
        if rest.starts_with("note: in instantiation of") && (!is_system(other)) {
            spot = Some((other, row));
            if is_system(file) {
                break;
            }
        }
    }
    (start, spot)
}

/// Returns type, severity and code: the option or check in brackets at the end.
fn kind(level: Level, message: &str) -> (&'static str, Severity, Option<String>) {
    let code = message
        .strip_suffix(']')
        .and_then(|rest| rest.rsplit_once('['))
        .map(|(_, code)| code)
        .filter(|code| !code.is_empty() && !code.contains([' ', '(', ')']));
    let is_format = code == Some("-Wclang-format-violations");
    let is_check = is_format
        || code.is_some_and(|code| {
            !code.starts_with("-W")
                && !code.starts_with("-f")
                && !code.starts_with("clang-diagnostic-error")
                && code.starts_with(|letter: char| letter.is_ascii_alphabetic())
                && !code.starts_with("SC")
        });
    let code = code.map(|code| {
        let code = code.strip_prefix("-Werror=").unwrap_or(code);
        code.strip_prefix("-Werror,").unwrap_or(code).to_owned()
    });
    let (name, severity) = match (level, is_check) {
        (Level::Error, true) => ("LintError", Severity::Medium),
        (Level::Warning, true) | (Level::Style, _) => ("LintError", Severity::Low),
        (Level::Error, false) => ("CompileError", Severity::High),
        (Level::Warning, false) => ("CompileWarning", Severity::Low),
    };
    (name, severity, code)
}

/// Reads `main.c(5): error C2065: text` of MSVC and `main.c(3,5): error: text` of clang-cl.
fn msvc(at: usize, line: &str) -> Option<Finding> {
    let (file, rest) = line.split_once('(')?;
    let file = file.trim();
    if !is_source(file) {
        return None;
    }
    let (row, rest) = number(rest)?;
    let rest = match rest.strip_prefix(',') {
        Some(rest) => number(rest)?.1,
        None => rest,
    };
    let rest = rest.strip_prefix(')')?.trim_start();
    let rest = rest.strip_prefix(':')?.trim_start();
    if let Some((level, message)) = level(rest) {
        let (name, severity, code) = kind(level, message);
        let mut finding = Finding::new(at, at, name, severity, message).at(file, row);
        finding.code = code;
        return Some(finding);
    }
    let (is_error, rest) = if let Some(rest) = rest
        .strip_prefix("fatal error ")
        .or(rest.strip_prefix("error "))
    {
        (true, rest)
    } else {
        (false, rest.strip_prefix("warning ")?)
    };
    let (code, message) = rest.split_once(": ")?;
    let is_code = code.len() >= 4
        && code.ends_with(|digit: char| digit.is_ascii_digit())
        && !code.contains(' ');
    let (name, severity) = if is_error {
        ("CompileError", Severity::High)
    } else {
        ("CompileWarning", Severity::Low)
    };
    let mut finding =
        is_code.then(|| Finding::new(at, at, name, severity, message).at(file, row))?;
    finding.code = Some(code.to_owned());
    Some(finding)
}

/// Reads `gcc: error: text`, `cc1: fatal error: text` and the like.
fn driver(at: usize, line: &str) -> Option<Finding> {
    if line.starts_with("virtual memory exhausted") {
        return Some(Finding::new(
            at,
            at,
            "OutOfMemory",
            Severity::Critical,
            line,
        ));
    }
    let (program, rest) = line.split_once(": ")?;
    let rest = rest.trim();
    let base = program.rsplit(['/', '\\']).next()?.trim_end_matches(".exe");
    let base = DRIVERS.iter().find(|driver| {
        base == **driver
            || base
                .strip_suffix(**driver)
                .is_some_and(|target| target.ends_with('-'))
            || base.strip_prefix(**driver).is_some_and(|version| {
                version.strip_prefix('-').is_some_and(|version| {
                    version.starts_with(|digit: char| digit.is_ascii_digit())
                })
            })
    })?;
    let (level, message) = level(rest)?;
    if level != Level::Error
        || mentions_any(
            message,
            &[
                "linker command failed",
                "ld returned",
                "compilation failed due to",
                "treated as errors",
            ],
        )
    {
        return None;
    }
    if mentions_any(
        message,
        &[
            "Killed",
            "ld terminated with signal 9",
            "out of memory",
            "annot allocate memory",
        ],
    ) {
        return Some(Finding::new(
            at,
            at,
            "OutOfMemory",
            Severity::Critical,
            message,
        ));
    }
    if mentions_any(
        message,
        &["Segmentation fault", "terminated with signal 11"],
    ) {
        return Some(Finding::new(
            at,
            at,
            "SegFault",
            Severity::Critical,
            message,
        ));
    }
    if mentions_any(
        message,
        &[
            "cannot execute",
            "unable to execute command",
            "error trying to exec",
        ],
    ) {
        let mut finding = Finding::new(at, at, "CommandNotFound", Severity::High, message);
        finding.module = quoted(message).map(str::to_owned);
        return Some(finding);
    }
    let finding = |name| Finding::new(at, at, name, Severity::High, message);
    if let Some(rest) = message.strip_prefix("no such file or directory: ") {
        return Some(finding("FileNotFoundError").at(quoted(rest).unwrap_or(rest), None));
    }
    if let Some(name) = reason(message) {
        let file = quoted(message)
            .or_else(|| message.split(": ").next())
            .unwrap_or_default();
        let severity = if name == "DiskFull" {
            Severity::Critical
        } else {
            Severity::High
        };
        let mut finding = finding(name).at(file, None);
        finding.severity = severity;
        return Some(finding);
    }
    let _ = base;
    let mut finding = finding("BuildError");
    finding.code = between(message, "[", "]")
        .filter(|code| code.starts_with("-W"))
        .map(str::to_owned);
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: the compilers' forms name file and line, and other languages' messages are left to others.
    #[test]
    fn forms_of_compilers_are_read() {
        for text in [
            "src/a b.c:4:5: error: x",
            "src/a b.c:4: error: x",
            "src/a b.c(4): error C2065: x",
            "src/a b.c(4,9): fatal error C1083: x",
            "src/a b.c(4,9): error: x",
        ] {
            assert_eq!(
                first(read, text),
                event("CompileError", "src/a b.c", 4),
                "{text}"
            );
        }
        assert_eq!(
            first(read, "C:\\x\\a.cpp:4:5: warning: x [-Wall]"),
            event("CompileWarning", "C:\\x\\a.cpp", 4)
        );
        assert_eq!(
            first(read, "a.s:3: Error: no such instruction: `x'"),
            event("CompileError", "a.s", 3)
        );
        for other in [
            "cart.py:2: error: Incompatible",
            "A.java:3: error: x",
            "// see a.c:4: error: x",
            "a.c:4:5: note: error: x",
        ] {
            assert_eq!(findings(read, other), [], "{other}");
        }
    }

    /// CAKE-WATCH-1: checks of analyzers are lint errors, with the check as code.
    #[test]
    fn checks_are_lint_errors() {
        let found = findings(
            read,
            "a.cpp:4:5: warning: use nullptr [modernize-use-nullptr]",
        );
        assert_eq!(
            (found[0].error_type.as_ref(), found[0].severity),
            ("LintError", Severity::Low)
        );
        assert_eq!(found[0].code.as_deref(), Some("modernize-use-nullptr"));
        let found = findings(
            read,
            "a.c:4:5: error: Null pointer dereference: p [nullPointer]",
        );
        assert_eq!(
            (found[0].error_type.as_ref(), found[0].severity),
            ("LintError", Severity::Medium)
        );
        let found = findings(read, "a.c:4:5: error: x [-Werror=format=]");
        assert_eq!(found[0].error_type, "CompileError");
    }
}
