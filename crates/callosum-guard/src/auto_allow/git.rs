//! Commands of git that only look, with the options that are known of each.
//!
//! git runs programs that its settings name: for the state of files, for differences, for what is shown. Those of the
//! project's own repository are looked at, and a folder that may be another repository is left to the client's prompt.

use super::{AllowRefusal, Kind, Line, path, refused_word, table};

/// Options of `log`, `show` and `diff`, without those that write (`--output`) or run (`--ext-diff`,
/// `--textconv`).
const LOG: [&str; 4] = [
    "puszcbwaRDqitrmgFEPMCB",
    "nSGU",
    "oneline graph all stat name-only name-status numstat shortstat summary patch no-patch follow decorate \
     abbrev-commit no-abbrev-commit abbrev no-merges merges first-parent reverse date-order topo-order \
     author-date-order cached staged color no-color word-diff color-words color-moved ignore-all-space \
     ignore-space-change ignore-space-at-eol ignore-blank-lines no-renames find-renames find-copies full-index \
     binary check exit-code quiet text raw unified minimal patience histogram no-prefix relative submodule \
     full-history simplify-by-decoration left-right cherry cherry-mark cherry-pick boundary tags branches remotes \
     no-walk walk-reflogs source date format pretty merge-base dirstat compact-summary patch-with-stat \
     function-context inter-hunk-context notes no-notes parents children count no-ext-diff no-textconv all-match \
     invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp no-decorate show-pulls numbered \
     since until after before author committer grep max-count skip diff-filter diff-algorithm max-parents \
     min-parents pickaxe-regex pickaxe-all",
    "since until after before author committer grep max-count skip diff-filter diff-algorithm date",
];

/// Options of a command of git's, whether a number is one, and which operands it may have.
struct Verb {
    name: &'static str,
    options: [&'static str; 4],
    operands: Operands,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// Revisions and paths.
    Any,
    /// None, unless an option makes it list.
    Listed(&'static [&'static str]),
    /// These words alone, with more behind some.
    First(&'static [&'static str]),
    /// A name, or none.
    AtMostOne,
}

const fn verb(name: &'static str, options: [&'static str; 4], operands: Operands) -> Verb {
    Verb {
        name,
        options,
        operands,
    }
}

use Operands::{Any, AtMostOne, First, Listed};

#[rustfmt::skip]
const VERBS: &[Verb] = &[
    verb("status", ["sbvzu", "", "short branch long porcelain verbose show-stash ahead-behind no-ahead-behind ignored untracked-files no-renames column no-column", ""], Any),
    verb("log", LOG, Any),
    verb("show", LOG, Any),
    verb("diff", LOG, Any),
    verb("whatchanged", LOG, Any),
    verb("rev-list", LOG, Any),
    verb("diff-tree", LOG, Any),
    verb("range-diff", LOG, Any),
    verb("shortlog", ["snec", "", "summary numbered email all no-merges since until", "since until"], Any),
    verb("blame", ["lsweftnpcMC", "L", "line-porcelain porcelain show-email date root abbrev color-lines", ""], Any),
    verb("annotate", ["lsweftnpc", "L", "", ""], Any),
    verb("branch", ["avrliq", "", "all remotes list verbose show-current contains no-contains merged no-merged sort format points-at color no-color column no-column ignore-case abbrev no-abbrev", "contains no-contains points-at"], Listed(&["list", "merged", "no-merged", "contains", "no-contains"])),
    verb("tag", ["lni", "", "list sort format contains no-contains points-at merged no-merged column color", ""], Listed(&["l", "list", "contains", "merged"])),
    verb("remote", ["v", "", "verbose", ""], First(&["get-url"])),
    verb("stash", LOG, First(&["list", "show"])),
    verb("worktree", ["v", "", "porcelain verbose", ""], First(&["list"])),
    verb("reflog", LOG, First(&["show"])),
    verb("rev-parse", ["q", "", "abbrev-ref short show-toplevel git-dir git-common-dir absolute-git-dir is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository verify quiet show-prefix show-cdup symbolic-full-name branches tags remotes all show-superproject-working-tree", ""], Any),
    verb("ls-files", ["cdmoiuktvzsx", "", "others exclude-standard cached modified deleted stage ignored unmerged error-unmatch full-name eol directory abbrev deduplicate", ""], Any),
    verb("ls-tree", ["rdtlz", "", "name-only name-status full-name full-tree abbrev long", ""], Any),
    verb("cat-file", ["ptse", "", "", ""], Any),
    verb("describe", ["", "", "tags all always dirty abbrev long exact-match match exclude contains candidates first-parent", "match exclude"], Any),
    verb("merge-base", ["a", "", "all is-ancestor fork-point octopus independent", ""], Any),
    verb("name-rev", ["", "", "tags all name-only always", ""], Any),
    verb("symbolic-ref", ["q", "", "short quiet", ""], AtMostOne),
    verb("show-ref", ["qsd", "", "head heads tags branches hash abbrev verify dereference quiet exists", ""], Any),
    verb("for-each-ref", ["", "", "count sort format points-at merged no-merged contains no-contains ignore-case", "count sort format"], Any),
    verb("count-objects", ["vH", "", "verbose human-readable", ""], Any),
    verb("check-ignore", ["vnq", "", "verbose quiet non-matching no-index", ""], Any),
    verb("cherry", ["v", "", "abbrev", ""], Any),
    verb("grep", ["EFGPivwlLcnhHoqpWrz", "emABC", "count color no-color ignore-case line-number column files-with-matches name-only only-matching word-regexp extended-regexp fixed-strings perl-regexp invert-match cached heading break show-function function-context all-match and or not max-depth context", "max-count context after-context before-context"], Any),
    verb("config", ["z", "", "get get-all global local system show-origin show-scope type bool int", ""], AtMostOne),
    verb("version", ["", "", "build-options", ""], AtMostOne),
];

/// Commands that show names and never what is in a file.
const NAMES_ONLY: [&str; 9] = [
    "branch",
    "check-ignore",
    "describe",
    "for-each-ref",
    "ls-files",
    "ls-tree",
    "name-rev",
    "show-ref",
    "tag",
];

impl Line<'_> {
    /// Checks a command of git's.
    pub(super) fn git(&self, words: &[String], folders: &[String]) -> Result<(), AllowRefusal> {
        let mut folders = folders.to_vec();
        let mut at = 1;
        loop {
            match words.get(at).map(String::as_str) {
                Some("--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs") => {
                    at += 1;
                }
                Some("-C") => {
                    let folder = words.get(at + 1);
                    let folder = folder.ok_or_else(|| refused_word(words, None))?;
                    for from in &mut folders {
                        *from = path::inside(self, folder, from)?;
                    }
                    at += 2;
                }
                _ => break,
            }
        }
        let rest = &words[at.min(words.len())..];
        let name = rest.first().map_or("", String::as_str);
        let verb = VERBS.iter().find(|verb| verb.name == name);
        let verb = verb.ok_or_else(|| refused_word(words, rest.first()))?;
        if rest.iter().any(|word| word.contains("%G")) {
            return Err(refused_word(
                words,
                rest.iter().find(|word| word.contains("%G")),
            ));
        }
        let read = table::read(rest, verb.options, true)?;
        let operands = &read.operands;
        let is_fit = match verb.operands {
            Any => true,
            AtMostOne => operands.len() <= 1,
            Listed(by) => operands.is_empty() || read.has(by),
            First(words) => match operands.split_first() {
                None => !matches!(name, "stash" | "worktree"),
                Some((first, rest)) => words.contains(&first.as_str()) && rest.len() <= 1,
            },
        };
        if !is_fit {
            return Err(refused_word(words, operands.first()));
        }
        for folder in &folders {
            self.repository(folder)?;
            let is_search = name == "grep" && !read.has(&["e"]);
            for operand in operands.iter().skip(usize::from(is_search)) {
                self.revision_or_path(operand, folder)?;
                // git's own patterns may fit a file that keeps secrets.
                let end = operand.rsplit('.').next().unwrap_or_default();
                let is_pattern = operand.contains(['*', '?', '[']);
                if is_pattern && !NAMES_ONLY.contains(&name) && !path::is_code(end) {
                    return Err(refused_word(words, Some(operand)));
                }
            }
        }
        Ok(())
    }

    /// Checks a word that git takes for a revision or for a path.
    fn revision_or_path(&self, word: &str, folder: &str) -> Result<(), AllowRefusal> {
        let path = word.rsplit(':').next().unwrap_or(word);
        let path = path.rsplit(')').next().unwrap_or(path);
        if path::is_secret(path) || path::is_secret(word) {
            return Err(AllowRefusal::Path {
                path: word.to_owned(),
                reason: "may contain secrets",
            });
        }
        // Git compares two paths without the repository if one of them is outside.
        if path.starts_with('/') || path.split('/').any(|part| part == "..") {
            path::read(self, path, folder)?;
            path::inside(self, path, folder)?;
        }
        Ok(())
    }

    /// Checks that git finds the project's own repository in a folder, and that its settings run nothing for a look.
    fn repository(&self, folder: &str) -> Result<(), AllowRefusal> {
        let refused = |reason: &'static str| AllowRefusal::Path {
            path: folder.to_owned(),
            reason,
        };
        let real = path::inside(self, ".", folder)?;
        let Some(git_dir) = self.facts.git_dir.as_deref() else {
            return Err(refused("is not in a repository"));
        };
        let exists = |path: String| self.tree.kind(&path).is_some();
        let mut here = real.as_str();
        while here != self.root {
            // A folder that looks like a bare repository is one, with settings of its own.
            if exists(format!("{here}/.git")) || exists(format!("{here}/HEAD")) {
                return Err(refused("may be another repository"));
            }
            here = here.rsplit_once('/').map_or("", |(above, _)| above);
            if here.is_empty() {
                return Err(refused("is outside the project"));
            }
        }
        let git_dir = match self.tree.text(&format!("{git_dir}/commondir")) {
            Some(common) => path::joined(common.trim(), git_dir),
            None => git_dir.to_owned(),
        };
        let config = self.tree.text(&format!("{git_dir}/config"));
        let config = config.ok_or_else(|| refused("has a repository that cannot be read"))?;
        let more = self.tree.text(&format!("{git_dir}/config.worktree"));
        let own = self.facts.git_dir.as_deref().unwrap_or_default();
        let own = self.tree.text(&format!("{own}/config.worktree"));
        let mut hooks = vec![format!("{git_dir}/hooks")];
        for text in [Some(config), more, own].into_iter().flatten() {
            let folders = quiet(&text)
                .ok_or_else(|| refused("has a repository whose settings run programs"))?;
            let folders = folders.iter();
            hooks.extend(folders.map(|folder| path::joined(folder, self.root)));
        }
        // The one hook that listing files may start, as git rewrites the index.
        let runs = |folder: &String| {
            self.tree.kind(&format!("{folder}/post-index-change")) == Some(Kind::File)
        };
        if hooks.iter().any(runs) {
            return Err(refused(
                "has a repository with a hook that runs when the index changes",
            ));
        }
        Ok(())
    }
}

/// Reads settings of a repository: the folders of its hooks, if others are set. `None` if a look may run what they name.
fn quiet(config: &str) -> Option<Vec<String>> {
    let mut hooks = Vec::new();
    for line in config.lines() {
        let mut line = line.trim();
        if line.starts_with('[') {
            let (section, rest) = line.split_once(']').unwrap_or((line, ""));
            let section = section[1..].trim().to_ascii_lowercase();
            let name = section.split([' ', '.', '"']).next().unwrap_or_default();
            if matches!(name, "include" | "includeif" | "pager") {
                return None;
            }
            line = rest.trim();
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let value = value.trim().trim_matches('"');
        match key.trim().to_ascii_lowercase().as_str() {
            "fsmonitor" if !matches!(value, "true" | "false") => return None,
            "clean" | "smudge" | "process" if !value.starts_with("git-lfs ") => return None,
            "textconv" | "external" | "command" | "pager" | "showsignature" => return None,
            "hookspath" => hooks.push(value.to_owned()),
            _ => {}
        }
    }
    Some(hooks)
}

#[cfg(test)]
mod tests {
    use super::quiet;

    #[test]
    fn settings_that_run_a_program_for_a_look_are_known() {
        for (config, expected) in [
            (
                "[core]\n\tbare = false\n[branch \"cleanup\"]\n\tremote = origin\n",
                Some(vec![]),
            ),
            (
                "[core]\n\thooksPath = .husky\n",
                Some(vec![".husky".to_owned()]),
            ),
            ("[core]\n\tfsmonitor = true\n", Some(vec![])),
            (
                "[filter \"lfs\"]\n\tprocess = git-lfs filter-process\n",
                Some(vec![]),
            ),
            ("[core]\n\tfsmonitor = ./x\n", None),
            ("[core] fsmonitor = ./x\n", None),
            ("[CORE]\nFsMonitor=\"./x\"\n", None),
            ("[filter \"a\"]\n\tclean = ./x\n", None),
            ("[diff \"a\"]\n\ttextconv = ./x\n", None),
            ("[diff]\n\texternal = ./x\n", None),
            ("[include]\n\tpath = ../x\n", None),
            ("[includeIf \"gitdir:x\"]\n\tpath = ../x\n", None),
            ("[core]\n\tpager = ./x\n", None),
            ("[log]\n\tshowSignature = true\n", None),
        ] {
            assert_eq!(quiet(config), expected, "{config}");
        }
    }
}
