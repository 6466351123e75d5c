//! Package managers of JavaScript: npm, pnpm and Yarn.

use super::scan::{between, has_below, mentions, mentions_any, quoted, starts_any, text};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Reads npm, pnpm and Yarn.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if lines.has("npm ") || lines.has("no test specified") {
        read_npm(lines, found);
    }
    if lines.has("ERR_PNPM_") || lines.has("ERROR  ") || lines.has("WARN  ") {
        read_pnpm(lines, found);
    }
    if lines.has("yarn ") || lines.has("➤ YN") || lines.has("Usage Error: ") {
        read_yarn(lines, found);
    }
}

/// Returns the text of a line of an npm error.
fn npm_error(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("npm error")
        .or_else(|| line.strip_prefix("npm ERR!"))?;
    (rest.is_empty() || rest.starts_with(' ')).then(|| rest.trim())
}

fn read_npm(lines: &[Line], found: &mut Vec<Finding>) {
    let mut at = 0;
    while at < lines.len() {
        let line = text(lines, at);
        if let Some(first) = npm_error(line) {
            let mut end = at;
            while end < lines.len()
                && (npm_error(text(lines, end)).is_some()
                    || starts_any(text(lines, end), &["npm notice", "npm warn", "npm WARN"]))
            {
                end += 1;
            }
            let parts: Vec<&str> = (at..end)
                .filter_map(|at| npm_error(text(lines, at)))
                .collect();
            if let Some(finding) = npm_block(at, end - 1, first, &parts) {
                found.push(finding);
            }
            at = end;
            continue;
        }
        if let Some(rest) = line
            .strip_prefix("npm warn deprecated ")
            .or_else(|| line.strip_prefix("npm WARN deprecated "))
        {
            let mut finding = Finding::new(at, at, "DeprecationWarning", Severity::Low, rest);
            finding.module = rest.split(": ").next().map(str::to_owned);
            found.push(finding);
        }
        if line.starts_with("Unknown command: \"") && has_below(lines, at, "npm help") {
            let mut finding = Finding::new(at, at, "CommandNotFound", Severity::High, line);
            finding.module = quoted(line).map(str::to_owned);
            found.push(finding);
        }
        // The script that `npm init` writes.
        if line == "Error: no test specified"
            && (0..at).any(|at| text(lines, at).contains("> echo \"Error: no test specified\""))
        {
            found.push(Finding::new(at, at, "NoTestsRan", Severity::High, line));
        }
        at += 1;
    }
}

/// Returns the finding of a block of `npm error` lines, unless it follows from a failed script.
fn npm_block(first: usize, last: usize, start: &str, parts: &[&str]) -> Option<Finding> {
    let code = parts
        .iter()
        .find_map(|part| part.strip_prefix("code "))
        .map(str::trim);
    let path = parts
        .iter()
        .find_map(|part| part.strip_prefix("path "))
        .map(str::trim);
    let whole = parts.join(" ");
    let message = npm_summary(code, start, parts);
    let finding = |name: &'static str, severity| {
        let mut finding = Finding::new(first, last, name, severity, message.clone());
        finding.code = code.map(str::to_owned);
        finding.module = npm_module(code, parts);
        finding
    };
    let name = match code {
        Some("ELIFECYCLE") => return None,
        Some(
            "E404" | "ETARGET" | "ERESOLVE" | "EBADENGINE" | "EBADPLATFORM" | "EINTEGRITY"
            | "ENOLOCK" | "ENOVERSIONS" | "E406",
        ) => "DependencyError",
        Some("EUSAGE") => {
            if mentions_any(
                &whole,
                &["package-lock.json", "npm-shrinkwrap.json", "lock file"],
            ) {
                "DependencyError"
            } else {
                "BuildError"
            }
        }
        Some("EJSONPARSE") => {
            let file = between(&whole, "Invalid ", ":").map(str::trim);
            let finding = finding("JSONParseError", Severity::High);
            return Some(match file.or(path) {
                Some(file) => finding.at(file, None),
                None => finding,
            });
        }
        Some("ENOENT") => {
            let finding = finding("FileNotFoundError", Severity::High);
            return Some(match path.or_else(|| between(&whole, "open '", "'")) {
                Some(file) => finding.at(file, None),
                None => finding,
            });
        }
        Some("EACCES" | "EPERM" | "EROFS") => {
            let finding = finding("PermissionError", Severity::High);
            return Some(match path {
                Some(file) => finding.at(file, None),
                None => finding,
            });
        }
        Some("ENOSPC") => return Some(finding("DiskFull", Severity::Critical)),
        Some(
            "E401"
            | "E403"
            | "E429"
            | "E500"
            | "E502"
            | "E503"
            | "ENEEDAUTH"
            | "ECONNREFUSED"
            | "ECONNRESET"
            | "ENOTFOUND"
            | "ETIMEDOUT"
            | "EAI_AGAIN"
            | "ERR_SOCKET_TIMEOUT"
            | "FETCH_ERROR"
            | "SELF_SIGNED_CERT_IN_CHAIN"
            | "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
        ) => "ConnectionError",
        Some(code) if code.bytes().all(|byte| byte.is_ascii_digit()) => {
            return npm_script(&finding, code, path, &whole);
        }
        Some(_) => "BuildError",
        None => npm_plain(&whole)?,
    };
    Some(finding(name, Severity::High))
}

/// Returns the finding of a failed install script; a failed script of the project itself is a consequence.
fn npm_script(
    finding: &dyn Fn(&'static str, Severity) -> Finding,
    code: &str,
    path: Option<&str>,
    whole: &str,
) -> Option<Finding> {
    let package = path?.rsplit_once("node_modules/")?.1;
    let name = if code == "127" || mentions(whole, ": not found") {
        "CommandNotFound"
    } else {
        "BuildError"
    };
    let mut finding = finding(name, Severity::High);
    finding.module = Some(package.to_owned());
    Some(finding)
}

/// Returns the type for an error without a code.
fn npm_plain(whole: &str) -> Option<&'static str> {
    if mentions(whole, "Unknown command")
        || mentions(whole, "could not determine executable to run")
    {
        return Some("CommandNotFound");
    }
    if mentions_any(
        whole,
        &[
            "Missing script",
            "Invalid ",
            "No workspaces found",
            "Unknown",
            "Unsupported",
            "Missing required",
        ],
    ) {
        return Some("BuildError");
    }
    None
}

/// Returns the most specific line.
fn npm_summary(code: Option<&str>, start: &str, parts: &[&str]) -> String {
    let telling = parts.iter().copied().find(|part| {
        !part.is_empty()
            && !starts_any(
                part,
                &["code ", "syscall ", "path ", "errno ", "command ", "dest "],
            )
            && !mentions(part, "A complete log")
    });
    let mut message = telling.unwrap_or(start).to_owned();
    if code == Some("ERESOLVE") {
        for part in parts {
            if starts_any(part, &["Found: ", "peer ", "dev ", "While resolving: "]) {
                message.push_str("; ");
                message.push_str(part);
            }
        }
    } else if code == Some("E404")
        && let Some(part) = parts
            .iter()
            .find(|part| mentions_any(part, &["could not be found", "is not in"]))
    {
        message.push_str("; ");
        message.push_str(part.trim_start_matches("404").trim());
    }
    message
}

/// Returns the package that npm does not find.
fn npm_module(code: Option<&str>, parts: &[&str]) -> Option<String> {
    match code {
        Some("E404") => {
            let part = parts.iter().find(|part| part.contains('\''))?;
            quoted(part).map(|name| name.trim_end_matches("@*").to_owned())
        }
        Some("ETARGET") => {
            let part = parts
                .iter()
                .find(|part| part.contains("No matching version found for "))?;
            let name = part.split("found for ").nth(1)?;
            Some(name.trim_end_matches('.').to_owned())
        }
        Some("ERESOLVE") => {
            let part = parts
                .iter()
                .find(|part| starts_any(part, &["peer ", "Could not resolve dependency: peer "]))?;
            Some(
                part.trim_start_matches("peer ")
                    .split(' ')
                    .next()?
                    .to_owned(),
            )
        }
        None => {
            let part = parts
                .iter()
                .find(|part| starts_any(part, &["Missing script", "Unknown command"]))?;
            quoted(part).map(str::to_owned)
        }
        _ => None,
    }
}

fn read_pnpm(lines: &[Line], found: &mut Vec<Finding>) {
    for at in 0..lines.len() {
        let line = text(lines, at).trim();
        if let Some(rest) = line
            .strip_prefix("WARN  ")
            .or_else(|| line.strip_prefix("WARN  "))
        {
            if let Some(what) = rest.trim_start().strip_prefix("deprecated ") {
                let mut finding =
                    Finding::new(at, at, "DeprecationWarning", Severity::Low, rest.trim());
                finding.module = what.split(':').next().map(str::to_owned);
                found.push(finding);
            }
            continue;
        }
        let line = line.strip_prefix("[ERROR] ").unwrap_or(line);
        let line = line.strip_prefix("ERROR  ").map_or(line, str::trim_start);
        let Some(rest) = line.strip_prefix("ERR_PNPM_") else {
            continue;
        };
        let (code, message) = rest.split_once(' ').unwrap_or((rest, ""));
        let message = message.trim();
        let details = (at + 1..lines.len().min(at + 8))
            .map(|at| text(lines, at))
            .find(|line| {
                mentions(line, "is not in the npm registry")
                    || mentions(line, "No matching version")
            });
        let name = pnpm_type(code, message);
        let Some(name) = name else { continue };
        let severity = if name == "DiskFull" {
            Severity::Critical
        } else {
            Severity::High
        };
        let mut finding = Finding::new(at, at, name, severity, message);
        finding.code = Some(format!("ERR_PNPM_{code}"));
        finding.module = details
            .and_then(|line| line.split(' ').next())
            .map(str::to_owned)
            .or_else(|| {
                message
                    .split("No matching version found for ")
                    .nth(1)
                    .and_then(|rest| rest.split(' ').next())
                    .map(str::to_owned)
            })
            .or_else(|| quoted(message).map(str::to_owned))
            .or_else(|| message.strip_prefix("Missing script: ").map(str::to_owned));
        if let Some(file) = message
            .split(' ')
            .find(|word| word.ends_with("pnpm-lock.yaml") || word.ends_with("package.json:"))
        {
            finding = finding.at(file.trim_end_matches(':'), None);
        } else if name == "FileNotFoundError" {
            finding = finding.at("package.json", None);
        }
        found.push(finding);
    }
}

/// Returns the type for a code of pnpm, or nothing for a consequence.
fn pnpm_type(code: &str, message: &str) -> Option<&'static str> {
    if mentions(code, "RUN_FIRST_FAIL")
        || code == "ELIFECYCLE"
        || (code.ends_with("EXEC_FIRST_FAIL") && !mentions(message, "not found"))
    {
        return None;
    }
    if code.ends_with("EXEC_FIRST_FAIL") {
        return Some("CommandNotFound");
    }
    if mentions_any(code, &["NO_SCRIPT", "SCRIPT"]) {
        return Some("BuildError");
    }
    if mentions_any(code, &["NO_IMPORTER_MANIFEST", "NO_PKG_MANIFEST"]) {
        return Some("FileNotFoundError");
    }
    if mentions(code, "JSON_PARSE") {
        return Some("JSONParseError");
    }
    if mentions_any(
        code,
        &[
            "FETCH_401",
            "FETCH_403",
            "META_FETCH_FAIL",
            "FETCH_5",
            "ECONN",
            "REGISTRY",
        ],
    ) {
        return Some("ConnectionError");
    }
    if mentions_any(
        code,
        &[
            "FETCH_404",
            "NO_MATCHING_VERSION",
            "LOCKFILE",
            "PEER",
            "ENGINE",
            "PKG_NOT_FOUND",
            "NOT_FOUND",
            "TARBALL",
            "SPEC_NOT_SUPPORTED",
            "CATALOG",
        ],
    ) {
        return Some("DependencyError");
    }
    super::scan::reason(message).or(Some("BuildError"))
}

fn read_yarn(lines: &[Line], found: &mut Vec<Finding>) {
    let is_yarn = (0..lines.len()).any(|at| {
        starts_any(
            text(lines, at),
            &[
                "yarn run v",
                "yarn install v",
                "yarn add v",
                "yarn v",
                "➤ YN",
                "Usage Error: ",
            ],
        )
    });
    if !is_yarn {
        return;
    }
    for at in 0..lines.len() {
        let line = text(lines, at);
        let message = if let Some(rest) = line.strip_prefix("error ") {
            rest
        } else if let Some(rest) = line.strip_prefix("Usage Error: ") {
            rest
        } else if starts_any(line, &["➤ YN0035", "➤ YN0082", "➤ YN0028", "➤ YN0001"]) {
            line.split("│ ").nth(1).unwrap_or(line)
        } else {
            continue;
        };
        if starts_any(message, &["Command failed", "Found incompatible module"])
            && message.starts_with("Command failed")
        {
            continue;
        }
        let name = if mentions_any(
            message,
            &[
                "Couldn't find a script",
                "Command \"",
                "Couldn't find the script",
            ],
        ) {
            "BuildError"
        } else if mentions_any(
            message,
            &[
                "Couldn't find package",
                "Couldn't find any versions",
                "lockfile",
                "incompatible",
                "Package not found",
                "No candidates found",
                "not found",
            ],
        ) {
            "DependencyError"
        } else {
            super::scan::reason(message).unwrap_or("BuildError")
        };
        let mut finding = Finding::new(at, at, name, Severity::High, message);
        finding.module = quoted(message).map(str::to_owned);
        found.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: old and new npm name the same code and package.
    #[test]
    fn old_and_new_npm_are_read() {
        for text in [
            "npm ERR! code ETARGET\nnpm ERR! notarget No matching version found for left-pad@^9.0.0.\n",
            "npm error code ETARGET\nnpm error notarget No matching version found for left-pad@^9.0.0.\n",
        ] {
            let finding = &findings(read, text)[0];
            assert_eq!(finding.error_type, "DependencyError");
            assert_eq!(finding.code.as_deref(), Some("ETARGET"));
            assert_eq!(finding.module.as_deref(), Some("left-pad@^9.0.0"));
        }
        let text = "npm error code EACCES\nnpm error syscall mkdir\nnpm error path /usr/lib/node_modules\nnpm error errno -13\n";
        assert_eq!(
            first(read, text),
            event("PermissionError", "/usr/lib/node_modules", 0)
        );
    }

    /// CAKE-WATCH-1: a failed script is no error of npm itself, a failed install script is.
    #[test]
    fn failed_scripts_are_consequences() {
        let text = "npm error Lifecycle script `build` failed with error:\nnpm error code 1\nnpm error path /w/shop\n";
        assert!(findings(read, text).is_empty());
        assert!(findings(read, "npm ERR! code ELIFECYCLE\nnpm ERR! errno 1\n").is_empty());
        let text = "npm error code 1\nnpm error path /w/node_modules/sharp\nnpm error command failed\nnpm error command sh -c node-gyp rebuild\n";
        assert_eq!(findings(read, text)[0].module.as_deref(), Some("sharp"));
    }

    /// CAKE-WATCH-1: pnpm and Yarn name the package.
    #[test]
    fn pnpm_and_yarn_name_the_package() {
        let text = " ERR_PNPM_NO_MATCHING_VERSION  No matching version found for zod@99.0.0\n";
        assert_eq!(
            findings(read, text)[0].module.as_deref(),
            Some("zod@99.0.0")
        );
        let text = "yarn add v1.22.19\nerror Couldn't find package \"nope\" on the \"npm\" registry.\ninfo Visit https://yarnpkg.com\n";
        let finding = &findings(read, text)[0];
        assert_eq!(
            (finding.error_type.as_ref(), finding.module.as_deref()),
            ("DependencyError", Some("nope"))
        );
    }
}
