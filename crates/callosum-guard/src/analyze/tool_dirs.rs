//! Folders that programs print: the targets of `npm root -g`, `brew --prefix` and their like.
//!
//! The default locations are known, as far as they matter: in the home folder, in the system, in
//! the project, and mere caches. The output of an unknown program is marked as
//! [`named`](super::value::Source::named).

use super::{
    evaluator::Evaluator,
    value::{Arg, MAYBE, SOME, Source, Value},
    wrapper_table::first_operand,
};
use crate::path_class::{self, PathClass};

/// A program that names a folder.
struct Naming {
    programs: &'static [&'static str],
    /// Words that all stand behind it; `a|b` for either.
    words: &'static [&'static str],
    /// The folder: from `~` or `/` on, else from the folder that the program runs in.
    leads: &'static str,
}

const fn naming(
    programs: &'static [&'static str],
    words: &'static [&'static str],
    leads: &'static str,
) -> Naming {
    Naming {
        programs,
        words,
        leads,
    }
}

/// A path that counts as a cache: it fills itself again.
const CACHE: &str = "~/.cache/x";

/// Virtual environments that a tool keeps for projects, which it makes again.
const ENVIRONMENT: &str = "~/.cache/environments/x";

const NAMINGS: &[Naming] = &[
    naming(&["npm"], &["cache"], CACHE),
    naming(
        &["npm"],
        &["root", "-g|--global|--location=global"],
        "~/.npm-global/lib/node_modules",
    ),
    naming(
        &["npm"],
        &["prefix|bin", "-g|--global|--location=global"],
        "~/.npm-global",
    ),
    naming(&["npm"], &["get", "prefix"], "~/.npm-global"),
    naming(&["npm", "pnpm"], &["root"], "node_modules"),
    naming(&["npm"], &["prefix"], "."),
    naming(&["npm"], &["bin"], "node_modules/.bin"),
    naming(&["pnpm"], &["store", "path"], CACHE),
    naming(&["yarn"], &["cache", "dir"], CACHE),
    naming(&["yarn"], &["global", "dir|bin"], "~/.config/yarn/global"),
    naming(&["bun"], &["pm", "cache"], CACHE),
    naming(
        &["pip", "pip3", "uv", "poetry"],
        &["cache|cache-dir"],
        CACHE,
    ),
    naming(&["poetry", "hatch"], &["env", "info|find"], ENVIRONMENT),
    naming(&["pipenv"], &["--venv"], ENVIRONMENT),
    naming(
        &["pip", "pip3"],
        &["show|inspect"],
        "~/.local/lib/python/site-packages/x",
    ),
    naming(
        &["site"],
        &["--user-site|--user-base"],
        "~/.local/lib/python/site-packages",
    ),
    naming(&["site"], &[], "~/.local/lib/python/site-packages"),
    naming(&["go"], &["env", "GOCACHE|GOMODCACHE|GOTMPDIR"], CACHE),
    naming(&["go"], &["env", "GOROOT|GOTOOLDIR"], "/usr/local/go"),
    naming(&["go"], &["env", "GOPATH|GOBIN"], "~/go"),
    naming(&["go"], &["list", "-m"], "~/go/pkg/mod/x"),
    naming(&["brew"], &["--cache"], CACHE),
    naming(
        &["brew"],
        &["--prefix|--cellar|--caskroom|--repository|--repo"],
        "/opt/homebrew",
    ),
    naming(&["conda", "mamba", "micromamba"], &["info"], "~/miniconda3"),
    naming(
        &["xdg-user-dir"],
        &["DOWNLOAD|DOCUMENTS|DESKTOP|PICTURES"],
        "~/Documents",
    ),
    naming(&["xdg-user-dir"], &[], "~/Music"),
    naming(&["systemd-path"], &[], "~/.config"),
    naming(&["rustc"], &["--print"], "~/.rustup/toolchains/x"),
    naming(&["rustup"], &["show|which"], "~/.rustup"),
    naming(&["gem"], &["env|environment"], "~/.gem"),
    naming(&["bundle"], &["show|info"], "~/.gem/gems/x"),
    naming(&["composer"], &["cache-dir"], CACHE),
    naming(&["composer"], &["config"], "~/.composer"),
    naming(
        &["pyenv", "rbenv", "nodenv", "goenv", "jenv", "phpenv"],
        &["root|prefix"],
        "~/.pyenv",
    ),
    naming(
        &["asdf", "mise", "volta"],
        &["where|which"],
        "~/.asdf/installs/x",
    ),
    naming(&["bazel", "bazelisk"], &["info"], CACHE),
    naming(&["ccache", "sccache"], &[], CACHE),
    naming(&["cs", "coursier"], &["cache"], CACHE),
    naming(
        &["java_home", "update-java-alternatives"],
        &[],
        "/usr/lib/jvm/x",
    ),
    naming(&["kpsewhich"], &[], "~/texmf"),
    naming(&["pg_config", "mysql_config"], &[], "/usr/lib/x"),
    naming(
        &["nix", "nix-store", "nix-instantiate"],
        &[],
        "/nix/store/x",
    ),
];

/// Programs that print what they are given, or names of files that are there: what they print is no
/// folder that they name.
const LISTS: [&str; 33] = [
    "cut", "column", "paste", "fold", "comm", "diff", "join", "fmt", "expand", "grep", "egrep",
    "fgrep", "rg", "ag", "ack", "fd", "fdfind", "find", "fzf", "sk", "locate", "mdfind", "shuf",
    "awk", "gawk", "tree", "eza", "exa", "lsd", "compgen", "dirs", "git", "true",
];

impl Evaluator<'_> {
    /// Returns the folder that a program prints, if known.
    pub(super) fn folder_named_by(&self, name: &str, words: &[Arg]) -> Option<Value> {
        let says = |group: &&'static str| {
            words
                .iter()
                .skip(1)
                .any(|word| group.split('|').any(|one| word.text == one))
        };
        let mut namings = NAMINGS.iter();
        let naming = namings
            .find(|naming| naming.programs.contains(&name) && naming.words.iter().all(says))?;
        let at = match naming.leads.strip_prefix('~') {
            Some(rest) => match &self.facts.home {
                Some(home) => format!("{home}{rest}"),
                None => format!("/home/{SOME}{rest}"),
            },
            None => self.state.absolute(naming.leads),
        };
        // What is cut out of it is as little known as what an unknown program names.
        let is_made_again = at.contains("/.cache/") || self.is_inside(&at);
        Some(Value {
            text: at + "\n",
            source: Source {
                named: !is_made_again,
                ..Source::default()
            },
        })
    }
}

impl Evaluator<'_> {
    /// Returns the path that `mktemp` makes: in the system's temporary folder, in the one that it
    /// is given, or here.
    pub(super) fn made_by_mktemp(&self, words: &[Arg]) -> String {
        const TAKES: &str = "-p --suffix";
        let at = first_operand(words, 1, TAKES);
        let template = words.get(at).map(|word| word.text.as_str());
        let mut folder = None;
        let mut is_there = false;
        for (at, word) in words.iter().enumerate().skip(1) {
            let text = word.text.as_str();
            let letters = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
            if let Some(given) = text.strip_prefix("--tmpdir=") {
                folder = Some(given.to_owned());
            } else if text == "--tmpdir" {
                is_there = true;
            } else if let Some((own, given)) = letters.and_then(|letters| letters.split_once('p')) {
                let next = words.get(at + 1).map(|word| word.text.clone());
                folder = Some(given.to_owned())
                    .filter(|given| !given.is_empty())
                    .or(next);
                is_there |= own.contains('t');
            } else {
                is_there |= letters.is_some_and(|letters| letters.contains('t'));
            }
        }
        let name = template.map_or("tmp.", |template| template.trim_end_matches('X'));
        let name = format!("{name}{SOME}");
        // A template alone is a path from the working folder.
        if folder.is_none() && !is_there && template.is_some() {
            return self.placed(&name);
        }
        let temporary = || {
            let variable = self.state.get("TMPDIR").and_then(<[Value]>::first);
            variable
                .map_or("/tmp", |variable| &variable.text)
                .to_owned()
        };
        let folder = folder.unwrap_or_else(temporary);
        self.placed(&format!("{folder}/{name}"))
    }

    /// Returns a path from the working folder on, if that and the beginning of the path are known.
    fn placed(&self, path: &str) -> String {
        let begins = path.starts_with([MAYBE, SOME]) || self.state.cwd.is_none();
        if begins {
            path.to_owned()
        } else {
            self.state.absolute(path)
        }
    }

    /// Whether `readlink` or `realpath` may print nothing for a path: if it is no link, or if its
    /// folder does not exist. For paths outside the project, their class matters more.
    pub(super) fn may_lead_nowhere(&self, name: &str, options: &[Arg], path: &Arg) -> bool {
        let has = |letter: char, long: &str| {
            let mut options = options.iter().map(|word| word.text.as_str());
            options.any(|text| {
                text == long
                    || text.starts_with('-') && !text.starts_with("--") && text.contains(letter)
            })
        };
        if has('m', "--canonicalize-missing") {
            return false;
        }
        let is_followed = !name.ends_with("readlink")
            || has('f', "--canonicalize")
            || has('e', "--canonicalize-existing");
        let text = path.text.trim_end_matches('/');
        // What has a part that is not empty was made before: `$(mktemp -d)/x`.
        let stands_here = !text.trim_start_matches("./").contains('/') || text.contains(SOME);
        let leads = path_class::place(text, self.state.cwd.as_deref(), self.facts);
        let is_inner = matches!(
            leads,
            PathClass::Inside | PathClass::Free | PathClass::Unknown
        );
        is_inner && !(is_followed && stands_here)
    }
}

/// Whether a program may name a folder by what it prints, all by itself.
pub(super) fn may_name(name: &str) -> bool {
    !LISTS.contains(&name)
}
