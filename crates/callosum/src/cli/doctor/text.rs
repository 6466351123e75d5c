//! Arguments and output of `callosum doctor`.
//!
//! The use case is [`callosum_app::doctor::text`].

use std::cmp::Reverse;
use std::fmt::Write as _;

use callosum_app::doctor::text::{MOST_LINES, Problem, by_fix, is_guard, shortened};
use callosum_app::doctor::{CheckLine, SetUp};
use callosum_app::{many, thousands};
use callosum_redact::terminal_escape::on_one_line;
use clap::ValueEnum as _;
use owo_colors::OwoColorize as _;

use crate::cli::client_settings::ClientName;
use crate::cli::local_time::LocalTime;

/// Returns the problems, the worst first, each with the command that fixes it, and a verdict; without a problem, what is
/// set up. At most eight lines.
pub(super) fn summary(checks: &[CheckLine], set_up: &SetUp, times: &LocalTime) -> String {
    let mut found: Vec<&CheckLine> = checks
        .iter()
        .filter(|check| check.outcome != "ok")
        .collect();
    let passed = many((checks.len() - found.len()) as u64, "check");
    if found.is_empty() {
        let verdict = "no problems".green();
        return format!(
            "{}{verdict}, {passed} passed (all: callosum doctor -v)\n",
            set_up.line()
        );
    }
    found.sort_by_key(|check| (check.outcome == "warning", Reverse(is_guard(check))));
    let count = found.len();
    let problems = by_fix(found);
    let all: usize = problems.iter().map(Problem::lines).sum();
    // The verdict takes a line, and what is left out another one.
    let mut room = MOST_LINES - if all < MOST_LINES { 1 } else { 2 };
    let (mut text, mut named) = (String::new(), 0);
    for problem in &problems {
        let Some(left) = room.checked_sub(problem.lines()) else {
            break;
        };
        room = left;
        named += 1 + problem.others;
        let others = match problem.others {
            0 => String::new(),
            others => format!(" (and {} with this fix)", many(others as u64, "problem")),
        };
        let worst = problem.worst;
        let what = shortened(&on_one_line(&times.in_text(&worst.found)));
        let _ = writeln!(
            text,
            "{} {}: {what}{others}",
            outcome(&worst.outcome),
            label(&worst.name)
        );
        if let Some(fix) = &worst.hint {
            let _ = writeln!(text, "        {} {fix}", "fix:".cyan());
        }
    }
    let problems = many(count as u64, "problem").to_string();
    let verdict = format!("{}, {passed} passed", problems.yellow());
    if named < count {
        let more = thousands((count - named) as u64);
        let _ = writeln!(text, "and {more} more: callosum doctor -v\n{verdict}");
    } else {
        let _ = writeln!(text, "{verdict} (all: callosum doctor -v)");
    }
    text
}

/// Returns every check, in order.
pub(in crate::cli) fn all(checks: &[CheckLine], times: &LocalTime) -> String {
    let mut text = String::new();
    for check in checks {
        let name = label(&check.name);
        let found = times.in_text(&check.found);
        let _ = writeln!(text, "{} {name}: {found}", outcome(&check.outcome));
        if let Some(hint) = &check.hint {
            let what = if check.outcome == "ok" {
                "hint:"
            } else {
                "fix:"
            };
            let _ = writeln!(text, "        {} {hint}", what.cyan());
        }
    }
    text
}

fn outcome(outcome: &str) -> String {
    match outcome {
        "ok" => "ok     ".green().to_string(),
        "warning" => "warning".yellow().to_string(),
        _ => "failed ".red().to_string(),
    }
}

/// Returns the name of a check as people read it: `Claude Code guard` for `guard of claude`.
fn label(name: &str) -> String {
    let named = ClientName::value_variants().iter();
    let mut named = named.filter_map(|client| {
        let (part, rest) = name.split_once(&format!(" of {}", client.client().program))?;
        let is_whole = rest.is_empty() || rest.starts_with(',');
        is_whole.then(|| format!("{} {part}{rest}", client.label()))
    });
    named.next().unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, outcome: &str, hint: Option<&str>) -> CheckLine {
        CheckLine {
            name: name.to_owned(),
            outcome: outcome.to_owned(),
            found: format!("found by {name}"),
            hint: hint.map(str::to_owned),
        }
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn the_worst_problem_comes_first_with_its_fix() {
        let checks = [
            check("root", "ok", None),
            check("disk space", "warning", Some("df -h /")),
            check("ledger", "failed", Some("callosum ledger verify")),
            check("guard of codex", "warning", None),
            check(
                "guard of claude",
                "failed",
                Some("callosum init --client claude"),
            ),
            check(
                "sessions of claude",
                "warning",
                Some("callosum init --client claude"),
            ),
        ];
        let text = plain(&summary(&checks, &SetUp::default(), &LocalTime::utc()));
        assert_eq!(
            text,
            "failed  Claude Code guard: found by guard of claude (and 1 problem with this fix)\n        \
             fix: callosum init --client claude\n\
             failed  ledger: found by ledger\n        fix: callosum ledger verify\n\
             warning Codex guard: found by guard of codex\n\
             warning disk space: found by disk space\n        fix: df -h /\n\
             5 problems, 1 check passed (all: callosum doctor -v)\n"
        );
    }

    #[test]
    fn problems_without_room_are_counted() {
        for count in 1..20 {
            let checks: Vec<CheckLine> = (0..count)
                .map(|at| check("ledger", "failed", Some(&format!("fix {at}"))))
                .collect();
            let text = plain(&summary(&checks, &SetUp::default(), &LocalTime::utc()));
            assert!(text.lines().count() <= MOST_LINES, "{text}");
            let shown = text.matches("fix: ").count();
            let more = format!("and {} more: callosum doctor -v\n", count - shown);
            assert_eq!(text.contains(&more), shown < count, "{text}");
            let verdict = text.lines().last().unwrap();
            assert!(verdict.contains(&format!("{count} problem")), "{verdict}");
        }
    }

    #[test]
    fn without_a_problem_it_says_what_is_set_up() {
        let mut set_up = SetUp::default();
        set_up.add("guard", "Claude Code");
        set_up.add("ledger", "2 entries");
        set_up.add("guard", "Codex");
        set_up.add("guard", "Codex");
        let text = plain(&summary(
            &[check("root", "ok", None)],
            &set_up,
            &LocalTime::utc(),
        ));
        assert_eq!(
            text,
            "guard: Claude Code, Codex; ledger: 2 entries\n\
             no problems, 1 check passed (all: callosum doctor -v)\n"
        );
    }
}
