//! Installing Python packages: pip, uv and poetry.

use super::scan::{on_one_line, quoted, text};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Reads pip, uv and poetry.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    let start = found.len();
    if lines.has("ERROR: ") || lines.has("error: ") {
        for at in 0..lines.len() {
            let line = text(lines, at).trim_start();
            let finding = line
                .strip_prefix("ERROR: ")
                .and_then(|rest| pip(rest, at))
                .or_else(|| environment(line, at));
            if let Some(finding) = finding {
                let is_repeat = found[start..].iter().any(|known| {
                    known.error_type == finding.error_type
                        && (known.module == finding.module || finding.module.is_none())
                });
                if !is_repeat {
                    found.push(finding);
                }
            }
        }
    }
    if lines.has("No solution found when resolving") || lines.has("ersion solving failed") {
        read_resolvers(lines, found);
    }
}

/// Returns the name at the start of a requirement.
fn package(requirement: &str) -> Option<String> {
    let end = requirement
        .find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.')))
        .unwrap_or(requirement.len());
    (end > 0).then(|| requirement[..end].to_owned())
}

fn pip(rest: &str, at: usize) -> Option<Finding> {
    let high = |name: &'static str| Finding::new(at, at, name, Severity::High, on_one_line(rest));
    for start in [
        "Could not find a version that satisfies the requirement ",
        "No matching distribution found for ",
        "Failed to build installable wheels for some pyproject.toml based projects (",
        "Failed building wheel for ",
    ] {
        if let Some(requirement) = rest.strip_prefix(start) {
            let name = if start.starts_with("Failed") {
                "BuildError"
            } else {
                "DependencyError"
            };
            let mut finding = high(name);
            finding.module = package(requirement);
            return Some(finding);
        }
    }
    if rest.starts_with("Could not open requirements file") {
        return Some(high("FileNotFoundError").at(quoted(rest)?, None));
    }
    if rest.starts_with("Invalid requirement") {
        let finding = high("DependencyError");
        return Some(match rest.split_once("(from line ") {
            Some((_, place)) => {
                let (line, file) = place.split_once(" of ")?;
                finding.at(file.trim_end_matches(')'), line.parse::<u32>().ok())
            }
            None => finding,
        });
    }
    if rest.contains("No space left on device") {
        let mut finding = high("DiskFull");
        finding.severity = Severity::Critical;
        return Some(finding);
    }
    if rest.starts_with("Could not install packages") && rest.contains("Permission denied") {
        return Some(high("PermissionError"));
    }
    let dependency = [
        "Cannot install ",
        "ResolutionImpossible",
        "THESE PACKAGES DO NOT MATCH THE HASHES",
        "Hashes are required",
        "Ignored the following versions that require",
    ];
    if dependency.iter().any(|start| rest.starts_with(start))
        || rest.contains("requires a different Python")
        || rest.contains("is not a supported wheel on this platform")
        || rest.contains("incompatible.")
    {
        return Some(high("DependencyError"));
    }
    let build = ["Directory ", "Could not build wheels", "File \"setup.py\""];
    (build.iter().any(|start| rest.starts_with(start))
        || rest.contains("does not appear to be a Python project"))
    .then(|| high("BuildError"))
}

/// Reads errors in small letters.
fn environment(line: &str, at: usize) -> Option<Finding> {
    let rest = line.strip_prefix("error: ")?;
    let name = match rest {
        "externally-managed-environment"
        | "metadata-generation-failed"
        | "legacy-install-failure" => "BuildError",
        _ if rest.starts_with("No virtual environment found") => "BuildError",
        _ if rest.starts_with("Failed to spawn: ") => "CommandNotFound",
        _ => return None,
    };
    Some(Finding::new(
        at,
        at,
        name,
        Severity::High,
        on_one_line(rest),
    ))
}

/// Reads uv's and poetry's resolvers.
fn read_resolvers(lines: &[Line], found: &mut Vec<Finding>) {
    for at in 0..lines.len() {
        let line = text(lines, at);
        if line.contains("No solution found when resolving") {
            let reason = text(lines, at + 1);
            let reason = reason.trim_start_matches([' ', '╰', '─', '▶', '│', '>']);
            let mut finding = Finding::new(
                at,
                at + 1,
                "DependencyError",
                Severity::High,
                on_one_line(reason),
            );
            finding.module = reason
                .strip_prefix("Because ")
                .and_then(|rest| rest.split_once(" was not found"))
                .and_then(|(name, _)| package(name));
            found.push(finding);
        } else if line.ends_with("ersion solving failed.") {
            let message = on_one_line(line);
            found.push(Finding::new(
                at,
                at,
                "DependencyError",
                Severity::High,
                message,
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::findings;

    /// CAKE-WATCH-1: the missing package is named.
    #[test]
    fn the_missing_package_is_named() {
        for (text, module) in [
            (
                "ERROR: Could not find a version that satisfies the requirement flask-x==2 (from versions: none)\nERROR: No matching distribution found for flask-x==2\n",
                Some("flask-x"),
            ),
            (
                "  × No solution found when resolving dependencies:\n  ╰─▶ Because flask-x was not found in the package registry\n",
                Some("flask-x"),
            ),
            ("ERROR: ResolutionImpossible: for help visit\n", None),
        ] {
            let found = findings(read, text);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(&*found[0].error_type, "DependencyError");
            assert_eq!(found[0].module.as_deref(), module);
        }
    }
}
