//! [`commands`]: the commands that a build file runs for a rule it is asked for.
//!
//! Reads what makefiles and justfiles have in common: a header with a colon, and indented lines. Deliberately not here: pattern
//! rules, functions and included files.

use std::collections::{BTreeMap, BTreeSet};

/// The largest build file that is read, in bytes.
const LARGEST: usize = 256 * 1024;

/// A rule of a build file.
#[derive(Default)]
struct Rule {
    needs: Vec<String>,
    commands: Vec<String>,
}

/// Returns the commands of the rules among `given`, or of the first rule if none is given, and of
/// the rules that these need, with variables replaced by their values.
pub(super) fn commands(text: &str, given: &[String]) -> Vec<String> {
    if text.len() > LARGEST {
        return Vec::new();
    }
    let text = text.replace("\\\n", " ");
    let mut variables: Vec<(&str, &str)> = Vec::new();
    let mut rules: BTreeMap<&str, Rule> = BTreeMap::new();
    let mut first = None;
    let mut current: Vec<&str> = Vec::new();
    for line in text.lines() {
        if line.starts_with([' ', '\t']) {
            for target in &current {
                let rule = rules.entry(target).or_default();
                rule.commands.push(line.trim().to_owned());
            }
            continue;
        }
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        if let Some((name, value)) = variable(line) {
            variables.push((name, value));
            continue;
        }
        let Some((targets, rest)) = line.split_once(':') else {
            continue;
        };
        let (needs, inline) = rest.split_once(';').unwrap_or((rest, ""));
        current = targets.split_whitespace().collect();
        if let Some(target) = current.first_mut() {
            // `just` marks a quiet rule so.
            *target = target.trim_start_matches('@');
        }
        for target in &current {
            if !target.starts_with('.') {
                first = first.or(Some(*target));
            }
            let rule = rules.entry(target).or_default();
            let words = needs
                .split_whitespace()
                .map(|word| word.trim_matches(['(', ')']));
            rule.needs.extend(words.map(str::to_owned));
            if !inline.trim().is_empty() {
                rule.commands.push(inline.trim().to_owned());
            }
        }
    }
    let asked = given.iter().map(String::as_str);
    let mut waiting: Vec<&str> = asked.filter(|word| rules.contains_key(word)).collect();
    if waiting.is_empty() {
        waiting.extend(first);
    }
    let mut met = BTreeSet::new();
    let mut commands = Vec::new();
    while let Some(target) = waiting.pop() {
        if !met.insert(target) {
            continue;
        }
        let Some(rule) = rules.get(target) else {
            continue;
        };
        waiting.extend(rule.needs.iter().map(String::as_str));
        commands.extend(rule.commands.iter().map(|line| expanded(line, &variables)));
    }
    commands
}

/// Returns the name and the value of `NAME = value`, `:=`, `?=` or `+=`.
fn variable(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!']).trim();
    let name = name.strip_prefix("export ").unwrap_or(name).trim();
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let is_name = !name.is_empty() && name.chars().all(is_of_name);
    is_name.then(|| (name, value.trim().trim_matches(['"', '\''])))
}

/// Replaces variables by their values, a few levels deep, without the marks that steer the output.
fn expanded(line: &str, variables: &[(&str, &str)]) -> String {
    const LEVELS: usize = 3;
    /// A value that names itself twice would grow without a bound.
    const LONGEST: usize = 16 * 1024;
    let mut line = line.trim_start_matches(['@', '-', '+']).to_owned();
    for _ in 0..LEVELS {
        for (name, value) in variables {
            let forms = [
                format!("$({name})"),
                format!("${{{name}}}"),
                format!("{{{{{name}}}}}"),
                format!("{{{{ {name} }}}}"),
            ];
            for form in forms {
                if line.contains(&form) && line.len() < LONGEST {
                    line = line.replace(&form, value);
                }
            }
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, given: &[&str], expected: &[&str]) {
        let given: Vec<String> = given.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(commands(text, &given), expected, "{text}");
    }

    #[test]
    fn only_rules_that_are_asked_for_and_what_they_need_are_run() {
        let text = "\
# a: comment
PY := python3
ASK ?= $(PY) -m tools.ask
export X = 1
.PHONY: a b
a: b c
\t@$(ASK) \\
\t\t-v
b: ; ./b.sh

c d:
\t-rm x
e:
\tunasked
";
        let of_a = ["python3 -m tools.ask  \t\t-v", "rm x", "./b.sh"];
        check(text, &["-s", "a"], &of_a);
        check(text, &[], &of_a);
        check(text, &["d"], &["rm x"]);
        check(
            "x = $(x)$(x)\na:\n\t$(x)\n",
            &["a"],
            &["$(x)$(x)$(x)$(x)$(x)$(x)$(x)$(x)"],
        );
        check("a: a b\nb: a\n\tx\n", &["a"], &["x"]);
    }

    #[test]
    fn rules_of_a_justfile_are_read() {
        let text = "tool := \"tools/ask.py\"\n\n[private]\n@ask arg='x': before\n    python3 {{tool}} {{arg}}\nbefore:\n    ./b\n";
        check(text, &["ask"], &["python3 tools/ask.py {{arg}}", "./b"]);
    }
}
