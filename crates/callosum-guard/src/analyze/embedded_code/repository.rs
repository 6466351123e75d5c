//! Operations on a repository by a git library: simple-git, pygit2, nodegit, GitPython. Each is
//! recorded as the git command that does the same. GitPython's `repo.git.reset(…)` is in `library`.

use super::{Effect, Named, last, token::Token, words};

/// Methods of simple-git that are a command of git's by the same name.
const SAME: [&str; 11] = [
    "branch",
    "checkout",
    "merge",
    "pull",
    "push",
    "rebase",
    "rm",
    "stash",
    "submodule",
    "tag",
    "remote",
];

/// Names by which a library is asked to discard changes.
const HARD: [&str; 5] = [
    "GIT_RESET_HARD",
    "ResetMode.HARD",
    "TYPE.HARD",
    "RESET_HARD",
    "ResetMode.Hard",
];

/// Returns the git command for a function call here.
pub(super) fn asked(whole: &str, given: &[Token], named: &Named<'_>) -> Option<Effect> {
    let own = last(whole);
    let says = |wanted: &str| {
        given
            .iter()
            .any(|token| matches!(token, Token::Name(name) if name.ends_with(wanted)))
    };
    let hard = || words(&["git", "reset", "--hard"]);
    if own == "reset" && HARD.iter().any(|mode| says(mode)) {
        return Some(hard());
    }
    // `repo.head.reset(index=True, working_tree=True)`
    if whole.ends_with("head.reset") && says("working_tree") {
        return Some(hard());
    }
    // `repo.remote().push("main", force=True)`
    if own == "push" && named.any(&["Repo"]) {
        let forces = given.array_windows().any(|[name, sign, value]| {
            matches!((name, value), (Token::Name(name), Token::Name(value))
                if matches!(name.as_str(), "force" | "f") && *sign == Token::Sign('=') && value == "True")
        });
        let spec = given.iter().find_map(|token| match token {
            Token::Text(spec) if spec.starts_with(['+', ':']) => Some(spec.as_str()),
            _ => None,
        });
        return match (forces, spec) {
            (true, _) => Some(words(&["git", "push", "--force"])),
            (false, Some(spec)) => Some(words(&["git", "push", "origin", spec])),
            (false, None) => None,
        };
    }
    if !named.any(&["simpleGit", "simple-git"]) {
        return None;
    }
    let texts: Vec<&str> = given
        .iter()
        .filter_map(|token| match token {
            Token::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let of_git = |verb: &[&str], texts: &[&str]| words(&[&["git"], verb, texts].concat());
    match own {
        "raw" => Some(of_git(&[], &texts)),
        "reset" => {
            let modes = ["hard", "soft", "mixed", "merge", "keep"];
            let mode = texts.first().filter(|text| modes.contains(text));
            match mode {
                Some(mode) => Some(of_git(&["reset", &format!("--{mode}")], &texts[1..])),
                None => Some(of_git(&["reset"], &texts)),
            }
        }
        "clean" => {
            let mode = texts.first().filter(|text| !text.starts_with('-'));
            let mut letters = mode.map_or_else(String::new, |mode| (*mode).to_owned());
            for (name, letter) in [
                ("FORCE", 'f'),
                ("RECURSIVE", 'd'),
                ("IGNORED_INCLUDED", 'x'),
            ] {
                if says(name) {
                    letters.push(letter);
                }
            }
            let rest = &texts[usize::from(mode.is_some())..];
            Some(of_git(&["clean", &format!("-{letters}")], rest))
        }
        "deleteLocalBranch" | "deleteLocalBranches" => {
            let option = if says("true") { "-D" } else { "-d" };
            Some(of_git(&["branch", option], &texts))
        }
        _ if SAME.contains(&own) => Some(of_git(&[own], &texts)),
        _ => None,
    }
}
