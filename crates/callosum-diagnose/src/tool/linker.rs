//! Linkers: GNU ld and gold, lld, mold, Apple's ld and MSVC's link, also below rustc's `linking with`.

use super::scan::{between, mentions, mentions_any, place, quoted, reason, starts_any, text};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Most lines of rustc's message about a linker.
const BLOCK: usize = 80;

/// Reads errors of linkers.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    const WORDS: [&str; 9] = [
        "undefined ",
        "Undefined ",
        "multiple definition",
        "duplicate symbol",
        "ld: ",
        "lld: ",
        "mold: ",
        "linking with",
        "LNK",
    ];
    if !WORDS.iter().any(|word| lines.has(word)) {
        return;
    }
    let mut at = 0;
    while at < lines.len() {
        let line = text(lines, at).trim_end();
        let finding = if line.starts_with("error: linking with ") {
            Some(below_rustc(lines, at))
        } else {
            error(lines, at, line)
        };
        if let Some(finding) = finding {
            at = finding.last;
            found.push(finding);
        }
        at += 1;
    }
}

/// Reads the linker's own error in the notes of rustc.
fn below_rustc(lines: &[Line], at: usize) -> Finding {
    let mut last = at;
    while last + 1 < lines.len() && last - at < BLOCK && text(lines, last + 1).starts_with(' ') {
        last += 1;
    }
    let inner = (at + 1..=last)
        .map(|at| {
            (
                at,
                text(lines, at)
                    .trim_start()
                    .trim_start_matches("= note: ")
                    .trim(),
            )
        })
        .filter(|(_, line)| !line.starts_with('"'))
        .find_map(|(at, line)| error(lines, at, line));
    let mut finding = inner.unwrap_or_else(|| {
        Finding::new(
            at,
            last,
            "LinkError",
            Severity::High,
            text(lines, at).trim_start_matches("error: "),
        )
    });
    finding.first = at;
    finding.last = last;
    finding
}

/// Returns the text behind the linker's name: `/usr/bin/ld: `, `ld.lld: error: `, `mold: fatal: `.
fn after_linker(line: &str) -> Option<&str> {
    let (program, rest) = line.split_once(": ")?;
    let base = program.rsplit(['/', '\\']).next()?;
    let is_linker = matches!(
        base,
        "ld" | "ld.lld"
            | "ld64.lld"
            | "lld"
            | "rust-lld"
            | "lld-link"
            | "wasm-ld"
            | "mold"
            | "gold"
            | "ld.gold"
            | "ld.bfd"
            | "ld.mold"
            | "link"
            | "ld64"
    ) || base.ends_with("-ld");
    is_linker.then(|| {
        let rest = rest.strip_prefix("error: ").unwrap_or(rest);
        let rest = rest.strip_prefix("fatal error: ").unwrap_or(rest);
        rest.strip_prefix("fatal: ").unwrap_or(rest).trim()
    })
}

fn error(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
    let linker = after_linker(line);
    let body = linker.unwrap_or(line);
    let make =
        |message: &str| Finding::new(at, at, "LinkError", Severity::High, message.to_owned());
    for (word, is_symbol) in [
        (": undefined reference to ", true),
        (": multiple definition of ", true),
        (": more undefined references to ", true),
        (": relocation ", false),
        (": undefined symbol: ", true),
    ] {
        let Some((before, after)) = body.split_once(word) else {
            continue;
        };
        if !is_symbol && linker.is_none() || !is_object_place(before, linker.is_some()) {
            continue;
        }
        let mut finding = make(&format!("{}{after}", &word[2..]));
        finding.module = is_symbol.then(|| symbol(after));
        return Some(match source(before) {
            Some((file, row)) => finding.at(file, row),
            None => finding,
        });
    }
    if line.starts_with("Undefined symbols for architecture") {
        let mut finding = make(line);
        finding.module = quoted(text(lines, at + 1)).map(str::to_owned);
        finding.last = (at + 1..lines.len())
            .take_while(|next| text(lines, *next).starts_with(' '))
            .last()
            .unwrap_or(at);
        return Some(finding);
    }
    if let Some((_, rest)) = line.split_once("error LNK") {
        let (code, message) = rest.split_once(": ")?;
        let is_summary = matches!(code, "1120" | "1169");
        if is_summary || code.len() != 4 {
            return None;
        }
        let mut finding = make(message);
        finding.code = Some(format!("LNK{code}"));
        finding.module = quoted(message)
            .or_else(|| {
                message
                    .split("external symbol ")
                    .nth(1)
                    .and_then(|rest| rest.split(' ').next())
            })
            .map(str::to_owned);
        return Some(finding);
    }
    below_linker(lines, at, linker?)
}

/// Reads a line that a linker starts with its name.
fn below_linker(lines: &[Line], at: usize, body: &str) -> Option<Finding> {
    let make =
        |message: &str| Finding::new(at, at, "LinkError", Severity::High, message.to_owned());
    if let Some(warning) = body.strip_prefix("warning: ") {
        return Some(Finding::new(at, at, "BuildWarning", Severity::Low, warning));
    }
    if let Some(rest) = body
        .strip_prefix("undefined symbol: ")
        .or(body.strip_prefix("duplicate symbol: "))
    {
        let mut finding = make(body);
        finding.module = Some(rest.to_owned());
        let mut next = at + 1;
        while let Some(detail) = text(lines, next).trim_start().strip_prefix(">>> ") {
            finding.last = next;
            let spot = detail
                .strip_prefix("referenced by ")
                .or(detail.strip_prefix("defined at "))
                .filter(|_| finding.file.is_none());
            if let Some(spot) = spot {
                // `main.rs:6 (src/main.rs:6)`: the path in parentheses is whole.
                let whole = between(spot, "(", ")").unwrap_or(spot);
                finding = match place(whole) {
                    Some((file, line)) => finding.at(file, line),
                    None if is_object(whole) => finding,
                    None => finding.at(whole, None),
                };
            }
            next += 1;
        }
        return Some(finding);
    }
    for start in [
        "cannot find -l",
        "unable to find library -l",
        "library not found for -l",
        "library not found: ",
        "library '",
    ] {
        let Some(rest) = body.strip_prefix(start) else {
            continue;
        };
        let mut finding = make(body);
        let end = rest.find([':', '\'', ' ']).unwrap_or(rest.len());
        finding.module = Some(rest[..end].to_owned());
        return Some(finding);
    }
    if let Some(name) = reason(body) {
        let severity = if name == "DiskFull" {
            Severity::Critical
        } else {
            Severity::High
        };
        let finding = Finding::new(at, at, name, severity, body);
        let file = [
            "cannot find ",
            "cannot open output file ",
            "cannot open ",
            "can't open ",
        ]
        .iter()
        .find_map(|start| body.strip_prefix(start))
        .and_then(|rest| rest.split(": ").next());
        return Some(match file {
            Some(file) => finding.at(file, None),
            None => finding,
        });
    }
    let is_context = mentions(body, ": in function `")
        || mentions(body, ": in function '")
        || body.ends_with(':');
    let is_error = mentions_any(
        body,
        &[
            "file not recognized",
            "file format not recognized",
            "final link failed",
            "symbol(s) not found",
            "unrecognized option",
            "unknown argument",
            "no input files",
            "recompile with -fPIC",
            "DSO missing from command line",
            "is incompatible with",
            "unresolvable",
            "undefined symbol",
            "cannot open",
            "overflowed by",
            "will not fit in region",
            "linker script",
            "syntax error",
            "framework",
        ],
    );
    if is_context || !is_error {
        return None;
    }
    let mut finding = make(body);
    if starts_any(body, &["symbol(s) not found", "final link failed"]) {
        finding.is_consequence = true;
    }
    Some(finding)
}

/// Whether the text before an error is a place in an object or a source file.
fn is_object_place(before: &str, has_linker: bool) -> bool {
    !before.is_empty()
        && (has_linker
            || before.ends_with(')') && mentions(before, ":(.")
            || place(before).is_some()
            || is_object(before))
        && !before.contains(['"', '`'])
}

fn is_object(file: &str) -> bool {
    let file = file.split(":(").next().unwrap_or(file).trim();
    let file = file.split('(').next().unwrap_or(file);
    [".o", ".a", ".so", ".obj", ".lib", ".rlib", ".lo"]
        .iter()
        .any(|ending| file.ends_with(ending))
        || mentions(file, ".so.")
}

/// Returns the source file and line in `main.o:main.c:(.text+0x5)`, `/x/main.c:4` or `main.c:(.text+0x5)`.
fn source(before: &str) -> Option<(&str, Option<u32>)> {
    let bare = before.split(":(.").next().unwrap_or(before);
    let (spot, line) = match place(bare) {
        Some((file, line)) => (file, Some(line)),
        None => (bare, None),
    };
    // An object before the source: `main.o:main.c`, `/tmp/x.o:main.c`; not the drive in `C:\x`.
    let file = match spot.rsplit_once(':') {
        Some((object, file)) if object.len() > 1 => file.trim(),
        _ => spot,
    };
    (!is_object(file) && !file.is_empty() && !mentions(file, " ")).then_some((file, line))
}

/// Returns a symbol from ``total'`` or `'total'` and what follows.
fn symbol(after: &str) -> String {
    let after = after.strip_prefix("symbol ").unwrap_or(after);
    let inner = after.trim_start_matches(['`', '\'', '"']);
    let end = inner.find(['\'', '"', ';']).unwrap_or(inner.len());
    inner[..end].trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: linkers name the source that asks for a symbol, if they know it.
    #[test]
    fn linkers_name_source_and_symbol() {
        for (text, file, line) in [
            (
                "main.c:(.text+0x5): undefined reference to `total'",
                "main.c",
                0,
            ),
            (
                "/usr/bin/ld: main.o:main.c:(.text+0x5): undefined reference to `total'",
                "main.c",
                0,
            ),
            (
                "/usr/bin/ld: /x/main.c:4: undefined reference to `total'",
                "/x/main.c",
                4,
            ),
            (
                "/usr/bin/ld: main.o: undefined reference to symbol 'total'",
                "",
                0,
            ),
            (
                "ld.lld: error: undefined symbol: total\n>>> referenced by main.c:4 (/x/main.c:4)\n>>>               main.o:(main)",
                "/x/main.c",
                4,
            ),
            (
                "mold: error: undefined symbol: total\n>>> referenced by main.c\n",
                "main.c",
                0,
            ),
            (
                "main.obj : error LNK2019: unresolved external symbol total referenced in function main",
                "",
                0,
            ),
        ] {
            assert_eq!(first(read, text), event("LinkError", file, line), "{text}");
            assert_eq!(
                findings(read, text)[0].module.as_deref(),
                Some("total"),
                "{text}"
            );
        }
        let text = "/usr/bin/ld: cannot find -lssl: No such file or directory";
        assert_eq!(findings(read, text)[0].module.as_deref(), Some("ssl"));
        assert_eq!(
            first(read, "ld: cannot find x.o: No such file or directory"),
            event("FileNotFoundError", "x.o", 0)
        );
    }
}
