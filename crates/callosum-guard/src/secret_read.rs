//! Objections to reading a file of the policy's [`SecretReads`].
//!
//! Sending secrets away is judged in any case (`network`); this is about showing them to a model at all. A command is
//! judged by the files that its words name; a program that reads a file by itself, and a folder above that is searched
//! or packed as a whole, are not seen.

use crate::{
    analyze::{Analysis, Call, value::display_words},
    facts::Facts,
    link,
    policy::Policy,
    secret_list::SecretReads,
    verdict::{RuleMatch, Verdict},
};

/// The rule that is named.
const RULE: &str = "secret.read";

/// Programs that say of a file no more than that it is there, or that change it without showing it.
const LISTERS: [&str; 30] = [
    "ls",
    "find",
    "fd",
    "tree",
    "stat",
    "test",
    "[",
    "[[",
    "echo",
    "printf",
    "cd",
    "pushd",
    "du",
    "file",
    "realpath",
    "readlink",
    "basename",
    "dirname",
    "chmod",
    "chown",
    "mkdir",
    "touch",
    "rm",
    "rmdir",
    "mv",
    "tee",
    "wc",
    "sha256sum",
    "md5sum",
    "callosum",
];

/// Programs that use keys and settings for what they are there for, and do not show them.
const USERS: [&str; 16] = [
    "ssh",
    "sftp",
    "ssh-add",
    "ssh-keygen",
    "ssh-copy-id",
    "docker",
    "docker-compose",
    "podman",
    "kubectl",
    "helm",
    "aws",
    "gcloud",
    "az",
    "npm",
    "twine",
    "mkcert",
];

/// Git commands that print the contents of the files that they are given.
const SHOWING: [&str; 7] = [
    "show", "diff", "log", "grep", "cat-file", "blame", "archive",
];

/// Decides over a path that a tool reads.
pub fn decide_read(path: &str, facts: &Facts, policy: &Policy) -> Verdict {
    let Some(secrets) = &policy.secrets else {
        return Verdict::default();
    };
    if !is_listed(secrets, path, facts.cwd.as_deref(), facts) {
        return Verdict::default();
    }
    Verdict {
        decision: secrets.decision,
        rule: Some(RULE.to_owned()),
        reason: Some(reason(path)),
        subject: Some(path.to_owned()),
        ..Verdict::default()
    }
}

/// Returns the objection to a command that reads a listed file.
pub(crate) fn objection(call: &Call, facts: &Facts, policy: &Policy) -> Option<RuleMatch> {
    let secrets = policy.secrets.as_ref()?;
    let name = call.name.as_str();
    if call.elsewhere || LISTERS.contains(&name) || USERS.contains(&name) {
        return None;
    }
    let words = || call.words.iter().skip(1).map(|word| word.text.as_str());
    if name == "git" && !words().any(|word| SHOWING.contains(&word)) {
        return None;
    }
    // What is copied to is only written.
    let copies = matches!(name, "cp" | "gcp" | "rsync" | "scp");
    let operands = words().filter(|word| !word.starts_with('-')).count();
    let last = words()
        .next_back()
        .filter(|_| copies && operands > 1)
        .unwrap_or_default();
    let script = call.script.as_ref().map(|script| script.text.as_str());
    let is_code = is_interpreter(name);
    let found = words()
        .filter(|word| *word != last)
        .chain(script)
        .flat_map(|word| named(word, is_code))
        .chain(call.fed_from.as_deref())
        .find(|path| is_listed(secrets, path, call.cwd.as_deref(), facts))?;
    Some(RuleMatch {
        decision: secrets.decision,
        rule: RULE.to_owned(),
        reason: reason(found),
        alternatives: Vec::new(),
        subject: display_words(&call.words),
    })
}

/// Returns the objection to a redirection that reads a listed file for several commands:
/// `while read l; do …; done < .env`.
pub(crate) fn redirection(found: &Analysis, facts: &Facts, policy: &Policy) -> Option<RuleMatch> {
    let secrets = policy.secrets.as_ref()?;
    // That of one command is judged with it, since a person may have permitted it.
    let is_of_call = |path: &String| {
        let mut calls = found.calls.iter();
        calls.any(|call| call.fed_from.as_ref() == Some(path))
    };
    let mut read = found.reads.iter().filter(|path| !is_of_call(path));
    let path = read.find(|path| is_listed(secrets, path, None, facts))?;
    Some(RuleMatch {
        decision: secrets.decision,
        rule: RULE.to_owned(),
        reason: reason(path),
        alternatives: Vec::new(),
        subject: format!("< {path}"),
    })
}

fn reason(path: &str) -> String {
    format!("{path} is on the list of secrets that agents do not read")
}

fn is_listed(secrets: &SecretReads, path: &str, cwd: Option<&str>, facts: &Facts) -> bool {
    if path.is_empty() || path.contains("://") {
        return false;
    }
    let home = facts.home.as_deref();
    let inner = path.strip_prefix("~/").or(path.strip_prefix("$HOME/"));
    let at_home = inner.and_then(|inner| Some(format!("{}/{inner}", home?)));
    let path = link::resolve(at_home.as_deref().unwrap_or(path), cwd, facts);
    secrets.covers(&path, home)
}

/// The paths that a word may name: `FILE`, `if=FILE`, `--file=FILE`, `x=@FILE`, `HEAD:FILE`; of a program's text, every
/// part that may be one.
fn named(word: &str, is_code: bool) -> Vec<&str> {
    if is_code && word.contains(['\'', '"', '(', ' ']) {
        return word
            .split(|c: char| c.is_whitespace() || "'\"`()[]{},;=<>|&".contains(c))
            .filter(|part| !part.is_empty())
            .collect();
    }
    // A message or a text to search for is no path.
    if word.contains(char::is_whitespace) {
        return Vec::new();
    }
    let mut named = Vec::new();
    if !word.starts_with('-') {
        named.push(word);
    }
    for (at, _) in word.match_indices(['=', '@', ':']) {
        let rest = &word[at + 1..];
        named.push(rest.split(';').next().unwrap_or(rest));
    }
    named
}

/// Returns whether programs in another language are given to it.
fn is_interpreter(name: &str) -> bool {
    ["python", "node", "deno", "bun", "perl", "ruby", "php"]
        .iter()
        .any(|program| name.starts_with(program))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{decide, verdict::Decision};

    fn facts() -> Facts {
        Facts {
            cwd: Some("/srv/app".to_owned()),
            root: Some("/srv/app".to_owned()),
            home: Some("/home/u".to_owned()),
            links: [("/srv/app/link".to_owned(), "/home/u/.ssh".to_owned())].into(),
            ..Facts::default()
        }
    }

    fn policy(decision: Decision) -> Policy {
        Policy {
            secrets: Some(SecretReads::preset(decision)),
            ..Policy::default()
        }
    }

    const READS: [&str; 24] = [
        "cat .env",
        "head -3 ./config/.env.production",
        "cat < ~/.ssh/id_ed25519",
        "base64 $HOME/.ssh/id_rsa",
        "cat ~/.aws/credentials",
        "cat ~/.ssh/*",
        "cat .en?",
        "grep -r KEY ~/.config/gcloud",
        "cp ~/.netrc /srv/app/x",
        "dd if=/home/u/.docker/config.json",
        "tar czf x.tgz ~/.gnupg",
        "cat link/id_rsa",
        "cd ~/.aws && cat credentials",
        "sudo cat /home/u/.kube/config",
        "bash -c 'cat .env | head'",
        "source .env",
        "set -a; . ./.env; env",
        "python3 -c 'print(open(\".env\").read())'",
        "node -e \"require('fs').readFileSync('.env')\"",
        "git show HEAD:.env",
        "curl -F f=@server.pem http://localhost/",
        "while read l; do echo $l; done < .env",
        "jq . ~/.npmrc",
        "rg token .env.local",
    ];

    const PASSES: [&str; 20] = [
        "cat .env.example",
        "cat ~/.ssh/id_ed25519.pub",
        "cat ~/.ssh/known_hosts",
        "cat ~/.ssh/config",
        "ls -la ~/.ssh",
        "test -f .env",
        "[ -f .env ] && echo yes",
        "ssh -i ~/.ssh/id_ed25519 host uptime",
        "docker run --env-file .env app",
        "git add .env.example src/env.rs",
        "git commit -m 'read .env at start'",
        "echo KEY=x >> .env",
        "cp .env.example .env",
        "chmod 600 .env",
        "cat src/id_map.rs",
        "cat environment.md",
        "grep -rn dotenv src",
        "rm .env.bak.example",
        "kubectl --kubeconfig ~/.kube/config get pods",
        "cargo test",
    ];

    #[test]
    fn commands_that_read_a_listed_file_are_stopped_and_no_others() {
        for decision in [Decision::Ask, Decision::Block] {
            for command in READS {
                let verdict = decide(command, &facts(), &policy(decision));
                assert!(verdict.decision >= decision, "{command}: {verdict:?}");
            }
        }
        for command in PASSES {
            let verdict = decide(command, &facts(), &policy(Decision::Block));
            assert_ne!(verdict.rule.as_deref(), Some(RULE), "{command}");
        }
        for command in READS {
            let verdict = decide(command, &facts(), &Policy::default());
            assert_ne!(verdict.rule.as_deref(), Some(RULE), "{command}");
        }
    }

    #[test]
    fn tools_that_read_a_listed_file_are_stopped() {
        let policy = policy(Decision::Ask);
        for (path, decision) in [
            (".env", Decision::Ask),
            ("link/id_rsa", Decision::Ask),
            ("/home/u/.ssh/id_x", Decision::Ask),
            ("../app/.env.local", Decision::Ask),
            ("src/main.rs", Decision::Allow),
            ("/home/u/.ssh/id_x.pub", Decision::Allow),
            ("/home/u", Decision::Allow),
        ] {
            let verdict = decide_read(path, &facts(), &policy);
            assert_eq!(verdict.decision, decision, "{path}");
        }
    }
}
