//! Programs that end by themselves: sanitizers, uncaught C++ exceptions, `assert`, the checks of the C library, and the
//! signals that a shell reports.

use super::scan::{between, mentions, mentions_any, number, place, place_before, starts_any, text};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Most lines of a sanitizer's report.
const REPORT: usize = 120;

/// Reads sanitizers' reports, aborts and signals.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if lines.has("Sanitizer") || lines.has(": runtime error: ") {
        sanitizers(lines, found);
    }
    if lines.has("==") && lines.has("Memcheck") || lines.has("==    at 0x") {
        valgrind(lines, found);
    }
    const WORDS: [&str; 16] = [
        "terminat",
        "Assertion",
        "free()",
        "malloc()",
        "corrupt",
        "realloc()",
        "***",
        "munmap_chunk",
        "egmentation fault",
        "Abort",
        "abort",
        "illed",
        "us error",
        "llegal instruction",
        "loating point exception",
        "pure virtual",
    ];
    if !(WORDS.iter().any(|word| lines.has(word))
        || lines.has("Out of memory")
        || lines.has("breakpoint trap"))
    {
        return;
    }
    let is_ctest = lines.has("Test project ");
    for at in 0..lines.len() {
        let line = text(lines, at).trim_end();
        if let Some(finding) = exception(lines, at, line)
            .or_else(|| assertion(at, line, is_ctest))
            .or_else(|| library(at, line))
            .or_else(|| signal(at, line))
        {
            found.push(finding);
        }
    }
}

/// Whether a frame belongs to the C library, the compiler or the system.
fn is_external(file: &str) -> bool {
    starts_any(
        file,
        &[
            "../",
            "/usr/",
            "/lib/",
            "/build/",
            "./nptl/",
            "./csu/",
            "./stdlib/",
            "./string/",
            "./libio/",
            "??",
        ],
    ) || mentions_any(
        file,
        &[
            "libsanitizer",
            "compiler-rt",
            "sysdeps",
            "/include/c++/",
            "/lib/gcc/",
        ],
    )
}

/// Returns file and line at the end of `#0 0x55 in main /x/main.c:5:3`.
fn frame(line: &str) -> Option<(&str, u32)> {
    let rest = line.trim_start().strip_prefix('#')?;
    let (_, rest) = number(rest)?;
    let spot = match rest.find(" /").or_else(|| rest.rfind(' ')) {
        Some(at) => rest[at + 1..].trim(),
        None => return None,
    };
    let (file, line) = place(spot)?;
    (!is_external(file)).then_some((file, line))
}

fn sanitizers(lines: &[Line], found: &mut Vec<Finding>) {
    let mut at = 0;
    while at < lines.len() {
        let line = text(lines, at).trim_end();
        let sanitizer = ["ERROR: ", "WARNING: "].iter().find_map(|level| {
            let (before, rest) = line.split_once(level)?;
            let is_start = before.is_empty() || before.starts_with("==") && before.ends_with("==");
            let (name, message) = rest.split_once(": ")?;
            (is_start && name.ends_with("Sanitizer") && !name.contains(' '))
                .then_some((name, message))
        });
        if let Some((name, message)) = sanitizer {
            let finding = report(lines, at, name, message);
            at = finding.last;
            found.push(finding);
        } else if let Some((_, message)) = line.split_once(": runtime error: ")
            && let Some((file, row, rest)) = place_before(line)
            && rest.starts_with("runtime error: ")
        {
            found.push(Finding::new(at, at, "Abort", Severity::High, message).at(file, row));
        }
        at += 1;
    }
}

fn report(lines: &[Line], at: usize, sanitizer: &str, message: &str) -> Finding {
    let mut last = at;
    let mut spot = None;
    while last + 1 < lines.len() && last - at < REPORT {
        let line = text(lines, last + 1);
        if sanitizer != "ThreadSanitizer" && mentions(line, "ERROR: AddressSanitizer: ") {
            break;
        }
        last += 1;
        if spot.is_none() {
            spot = frame(line);
        }
        if let Some(rest) = line.strip_prefix("SUMMARY: ") {
            if spot.is_none() {
                spot = rest
                    .split(' ')
                    .filter_map(place)
                    .find(|(file, _)| !is_external(file));
            }
            break;
        }
    }
    let is_memory = mentions_any(
        message,
        &[
            "out of memory",
            "out-of-memory",
            "allocation-size-too-big",
            "requested allocation size",
        ],
    );
    let (name, severity) = if starts_any(message, &["SEGV", "BUS", "stack-overflow on address"])
        && !message.starts_with("stack")
    {
        ("SegFault", Severity::Critical)
    } else if is_memory {
        ("OutOfMemory", Severity::Critical)
    } else {
        ("Abort", Severity::High)
    };
    let text = format!(
        "{sanitizer}: {}",
        message.split(" (pc ").next().unwrap_or(message)
    );
    let mut finding = Finding::new(at, last, name, severity, text);
    finding.code = message.split(' ').next().map(str::to_owned);
    match spot {
        Some((file, line)) => finding.at(file, line),
        None => finding,
    }
}

/// Reads errors of Valgrind's Memcheck.
fn valgrind(lines: &[Line], found: &mut Vec<Finding>) {
    let body = |at: usize| {
        let rest = text(lines, at).strip_prefix("==")?;
        let (_, rest) = number(rest)?;
        rest.strip_prefix("== ")
    };
    for at in 0..lines.len() {
        let Some(message) = body(at) else { continue };
        let is_error = starts_any(
            message,
            &[
                "Invalid read",
                "Invalid write",
                "Invalid free",
                "Mismatched free",
                "Conditional jump",
                "Use of uninitialised",
                "Process terminating",
                "Source and destination overlap",
                "Jump to the invalid address",
            ],
        ) || mentions(message, "are definitely lost in loss record");
        if !is_error {
            continue;
        }
        let is_crash = mentions_any(message, &["SIGSEGV", "SIGBUS"]);
        let (name, severity) = if is_crash {
            ("SegFault", Severity::Critical)
        } else {
            ("Abort", Severity::High)
        };
        let spot = (at + 1..lines.len().min(at + 20))
            .map_while(body)
            .filter_map(|line| {
                line.rsplit_once('(')
                    .map(|(_, end)| end.trim_end_matches(')'))
            })
            .filter_map(place)
            .find(|(file, _)| !is_external(file) && !starts_any(file, &["vg_", "mc_"]));
        let finding = Finding::new(at, at, name, severity, message);
        found.push(match spot {
            Some((file, line)) => finding.at(file, line),
            None => finding,
        });
    }
}

/// Reads an uncaught C++ exception.
fn exception(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
    let class =
        if let Some(rest) = line.strip_prefix("terminate called after throwing an instance of ") {
            rest.trim_matches(['\'', '"', '‘', '’'])
        } else if starts_any(line, &["libc++abi"]) && mentions(line, "uncaught exception") {
            line.split(" of type ").nth(1)?.split(": ").next()?
        } else if starts_any(
            line,
            &[
                "terminate called",
                "pure virtual method called",
                "libc++abi: terminating",
                "terminate called recursively",
            ],
        ) {
            return Some(Finding::new(at, at, "Abort", Severity::High, line));
        } else {
            return None;
        };
    let bare = class
        .split('<')
        .next()
        .unwrap_or(class)
        .rsplit("::")
        .next()?
        .trim();
    let what = text(lines, at + 1).trim_start().strip_prefix("what():");
    let message = what
        .map(str::trim)
        .or_else(|| line.split_once(": ").map(|(_, rest)| rest))
        .unwrap_or(class);
    let severity = if bare == "bad_alloc" || bare == "bad_array_new_length" {
        Severity::Critical
    } else {
        Severity::High
    };
    let name = if crate::error_type::is_class(bare) {
        bare
    } else {
        "Abort"
    };
    Some(Finding::new(
        at,
        at + usize::from(what.is_some()),
        name.to_owned(),
        severity,
        message,
    ))
}

/// Reads failed assertions of C libraries: glibc, Apple's and musl.
fn assertion(at: usize, line: &str, is_test: bool) -> Option<Finding> {
    let (name, severity) = if is_test {
        ("TestFailure", Severity::Medium)
    } else {
        ("Abort", Severity::High)
    };
    let make = |message: &str, file: &str, line: u32| {
        Some(Finding::new(at, at, name, severity, message.to_owned()).at(file, line))
    };
    if let Some(rest) = line.strip_prefix("Assertion failed: ") {
        if let Some((_, rest)) = rest.split_once(", file ") {
            let (file, rest) = rest.split_once(", line ")?;
            return make(line, file, number(rest)?.0);
        }
        let (_, spot) = rest.rsplit_once('(')?;
        let mut parts = spot.trim_end_matches(')').split(": ");
        let file = parts.next()?;
        let row = parts.last()?.parse().ok()?;
        return make(line, file, row);
    }
    let (before, condition) = line
        .split_once("Assertion `")
        .or_else(|| line.split_once("Assertion '"))?;
    condition.trim_end().strip_suffix("failed.")?;
    // `shop: main.c:5: main: `
    let spot = before.split_once(": ").map_or(before, |(_, spot)| spot);
    let (file, row, _) = place_before(spot).or_else(|| place_before(before))?;
    let message = format!(
        "Assertion '{}' failed",
        condition.split('\'').next().unwrap_or(condition)
    );
    make(&message, file, row)
}

/// Reads the checks of the C library.
fn library(at: usize, line: &str) -> Option<Finding> {
    let is_heap = starts_any(
        line,
        &[
            "free(): ",
            "malloc(): ",
            "realloc(): ",
            "calloc(): ",
            "munmap_chunk(): ",
            "malloc_consolidate(): ",
            "double free or corruption",
            "corrupted size vs. prev_size",
            "corrupted double-linked list",
            "tcache_thread_shutdown(): ",
            "chunk_main_arena",
            "*** stack smashing detected",
            "*** buffer overflow detected",
            "*** Error in `",
            "*** invalid ",
        ],
    ) && !line.ends_with([';', '{', ')']);
    if is_heap {
        return Some(Finding::new(at, at, "Abort", Severity::High, line));
    }
    let is_memory = line.starts_with("Out of memory!")
        || line == "Out of memory"
        || line.starts_with("Out of memory: Kill");
    is_memory.then(|| Finding::new(at, at, "OutOfMemory", Severity::Critical, line))
}

/// Reads a signal as bash, dash, zsh and fish report it.
fn signal(at: usize, line: &str) -> Option<Finding> {
    let (rest, program) = if let Some(rest) = line.strip_prefix("zsh: ") {
        // `zsh: segmentation fault (core dumped)  ./shop`
        let (words, program) = rest.split_once("  ")?;
        (words, program.trim())
    } else if line.starts_with("fish: ") && mentions(line, "terminated by signal ") {
        let name = line.split("terminated by signal ").nth(1)?;
        let program = between(line, "'", "'").unwrap_or_default();
        return of_name(at, name.split(' ').next()?, program, line);
    } else if line.starts_with("Command terminated by signal ") {
        let (number, _) = number(line.strip_prefix("Command terminated by signal ")?)?;
        let name = match number {
            11 | 7 => "SIGSEGV",
            9 => "SIGKILL",
            4..=8 => "SIGABRT",
            _ => return None,
        };
        return of_name(at, name, "", line);
    } else if let Some((before, rest)) = line.split_once(": line ") {
        // `bash: line 1: 19667 Segmentation fault      ./shop`
        let (_, rest) = number(rest)?;
        let rest = rest.strip_prefix(": ")?.trim_start();
        let (_, rest) = number(rest)?;
        let rest = rest.trim_start();
        let end = rest.find("  ").unwrap_or(rest.len());
        if before.contains(' ') {
            return None;
        }
        (&rest[..end], rest[end..].trim())
    } else if line.starts_with(char::is_uppercase) {
        (line, "")
    } else {
        return None;
    };
    let words = rest.trim().trim_end_matches(" (core dumped)");
    let name = match words.to_ascii_lowercase().as_str() {
        "segmentation fault"
        | "bus error"
        | "segmentation violation"
        | "segmentation fault: 11"
        | "bus error: 10" => "SIGSEGV",
        "aborted"
        | "abort"
        | "illegal instruction"
        | "illegal hardware instruction"
        | "floating point exception"
        | "trace/breakpoint trap"
        | "trace trap"
        | "bad system call"
        | "abort trap"
        | "abort trap: 6" => "SIGABRT",
        "killed" | "killed: 9" => "SIGKILL",
        _ => return None,
    };
    of_name(at, name, program, line)
}

fn of_name(at: usize, name: &str, program: &str, line: &str) -> Option<Finding> {
    let (error_type, severity) = match name {
        "SIGSEGV" | "SIGBUS" => ("SegFault", Severity::Critical),
        "SIGKILL" => ("OutOfMemory", Severity::Critical),
        "SIGABRT" | "SIGILL" | "SIGFPE" | "SIGTRAP" | "SIGSYS" => ("Abort", Severity::High),
        _ => return None,
    };
    let mut finding = Finding::new(at, at, error_type, severity, line.trim());
    // The program's own message has more.
    finding.is_consequence = true;
    finding.module = (!program.is_empty()).then(|| program.to_owned());
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: signals are read as each shell reports them.
    #[test]
    fn signals_are_read_from_each_shell() {
        for text in [
            "bash: line 1: 19667 Segmentation fault      (core dumped) ./shop",
            "./run.sh: line 3:   123 Segmentation fault      ./shop",
            "Segmentation fault (core dumped)",
            "Segmentation fault",
            "zsh: segmentation fault (core dumped)  ./shop",
            "fish: Job 1, './shop' terminated by signal SIGSEGV (Address boundary error)",
            "Command terminated by signal 11",
        ] {
            assert_eq!(first(read, text), event("SegFault", "", 0), "{text}");
        }
        assert_eq!(first(read, "Killed"), event("OutOfMemory", "", 0));
        for text in [
            "Killed the rabbit",
            "Aborted: 3 orders",
            "the run was Killed",
        ] {
            assert_eq!(findings(read, text), [], "{text}");
        }
    }

    /// CAKE-WATCH-1: assertions of each C library name file and line.
    #[test]
    fn assertions_name_file_and_line() {
        for text in [
            "shop: main.c:5: main: Assertion `n == 1' failed.",
            "shop: main.c:5: int main(int, char **): Assertion `n == 1' failed.",
            "Assertion failed: (n == 1), function main, file main.c, line 5.",
            "Assertion failed: n == 1 (main.c: main: 5)",
        ] {
            assert_eq!(first(read, text), event("Abort", "main.c", 5), "{text}");
        }
        assert_eq!(
            first(
                read,
                "libc++abi: terminating due to uncaught exception of type std::out_of_range: x"
            )
            .0,
            "out_of_range"
        );
    }
}
