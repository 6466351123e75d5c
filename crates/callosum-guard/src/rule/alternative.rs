//! The command that the guard suggests instead of one that it stops.
//!
//! An alternative belongs to the program that is stopped, and uses that command's own words or
//! none: `{0}` is replaced with the first operand if there are no more, `{1..}` with all from the
//! second on. A sample with other operands would teach nothing, and would do harm to someone who
//! takes it at its word. If nothing fits, there is no alternative.

use super::{Rule, Subject, Tool};
use crate::analyze::value::Arg;

/// Length limit of an alternative, in bytes; a longer one is left out.
const LONGEST: usize = 200;

/// Names of what is one tool to those who use it.
const FAMILIES: [&[&str]; 12] = [
    &["terraform", "tofu"],
    &["kubectl", "oc", "k", "kubecolor", "microk8s.kubectl"],
    &["docker", "podman", "nerdctl"],
    &["docker-compose", "podman-compose"],
    &["aws", "awslocal"],
    &["fly", "flyctl"],
    &["gpg", "gpg2"],
    &["redis-cli", "valkey-cli", "keydb-cli"],
    &["mongosh", "mongo"],
    &["mysql", "mariadb"],
    &["npm", "pnpm"],
    &["gh", "glab"],
];

/// Returns the alternatives to a command that a rule for this tool has stopped, the best first.
pub(crate) fn alternatives(rule: &Rule, tool: &Tool, subject: &Subject<'_>) -> Vec<String> {
    let name = subject.call.name.as_str();
    let of_name = |alternative: &&str| {
        let (first, rest) = alternative.split_once(' ').unwrap_or((alternative, ""));
        if first == name || !tool.names.contains(&first) {
            return Some((*alternative).to_owned());
        }
        let are_kin = |family: &&[&str]| family.contains(&first) && family.contains(&name);
        let is_kin = FAMILIES.iter().any(are_kin);
        is_kin.then(|| format!("{name} {rest}"))
    };
    let all = rule.alternatives.iter().filter_map(of_name);
    all.filter_map(|alternative| filled(&alternative, subject))
        .collect()
}

/// Fills in an alternative; `None` if the command that is stopped has no such operands, or not all
/// of them are known.
fn filled(alternative: &str, subject: &Subject<'_>) -> Option<String> {
    // Elsewhere the same words are about something else.
    let call = subject.call;
    let is_moved = ["-C", "--git-dir", "--work-tree"]
        .iter()
        .any(|option| call.name == "git" && subject.has(option));
    // What `find` comes upon is not known by its whole path.
    let is_found = call.via.starts_with("find ");
    if call.elsewhere || is_moved || is_found || call.cwd != subject.facts.cwd {
        return None;
    }
    let Some((before, rest)) = alternative.split_once('{') else {
        return Some(alternative.to_owned());
    };
    let Some((place, after)) = rest.split_once('}') else {
        return Some(alternative.to_owned());
    };
    let Ok(from) = place.trim_end_matches("..").parse::<usize>() else {
        return Some(alternative.to_owned());
    };
    let operands = subject.operands.get(from..)?;
    let is_of_one = !place.ends_with("..");
    if operands.is_empty() || is_of_one && operands.len() > 1 {
        return None;
    }
    let words: Option<Vec<String>> = operands.iter().map(|(word, _)| quoted(word)).collect();
    let filled = format!("{before}{}{after}", words?.join(" "));
    (filled.len() <= LONGEST).then_some(filled)
}

/// Quotes a word so that a shell takes it literally; `None` if it is not known, or would be an
/// option.
fn quoted(word: &Arg) -> Option<String> {
    let text = word.text.as_str();
    if !word.is_known() || text.is_empty() || text.starts_with('-') {
        return None;
    }
    let is_plain = text.chars().all(|letter| {
        letter.is_alphanumeric()
            || "-_=+./:@%,".contains(letter)
            || word.glob && "*?[]".contains(letter)
    });
    Some(if is_plain {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    })
}
