//! git: aliases, and the options, settings and verbs by which it runs something.

use super::joined;
use crate::analyze::{
    evaluator::Evaluator,
    list_commands::{LISTED, lists_every_tag},
    setting::{self, KEPT, Setting},
    value::{Arg, SOME, Source, Value, display_words, is_known},
    wrapper_table::{first_operand, operands},
};

/// A list of all tags, or of all remotes.
const OF_NAMES: Source = Source {
    refs: true,
    ..LISTED
};

impl Evaluator<'_> {
    /// Marks words of git that name working trees which it made earlier in the command, its own
    /// name if it runs in a clone, and the repository of a clone if that is deleted.
    pub(in crate::analyze) fn mark_made(&self, name: &str, words: &mut [Arg]) {
        let (trees, cloned) = (&self.state.trees, &self.state.cloned);
        let is_certain = self.state.others.is_empty();
        if name == "git" && !trees.is_empty() {
            for word in words.iter_mut() {
                word.source.made = trees.contains(&self.state.absolute(&word.text));
            }
        }
        if cloned.is_empty() || !is_certain {
            return;
        }
        match (name, words) {
            ("git", [git, ..]) => git.source.made = cloned.contains(&self.state.absolute(".git")),
            ("rm", words) => {
                for word in words {
                    word.source.made = cloned.contains(&self.state.absolute(&word.text));
                }
            }
            _ => {}
        }
    }

    /// Remembers a repository that is cloned, if nothing runs after a failure of that.
    fn remember_clone(&mut self, rest: &[Arg]) {
        const TAKES: &str = "-b --branch -o --origin -c --config --depth --reference --filter -j --jobs -u --upload-pack --template --shallow-since --shallow-exclude --separate-git-dir";
        const BARE: [&str; 3] = ["--bare", "--mirror", "--separate-git-dir"];
        let is_bare = |word: &Arg| BARE.iter().any(|option| word.text.starts_with(option));
        if !(self.chained || self.state.strict) || rest.iter().any(is_bare) {
            return;
        }
        let mut named = operands(rest, TAKES);
        let (from, to) = (named.next(), named.next());
        let name = |from: &Arg| {
            let from = from.text.trim_end_matches('/');
            let from = from.strip_suffix(".git").unwrap_or(from);
            from.rsplit(['/', ':']).next().map(str::to_owned)
        };
        let to = to.map(|to| to.text.clone()).or_else(|| name(from?));
        if let Some(to) = to.filter(|to| is_known(to) && !matches!(to.as_str(), "" | "." | "..")) {
            let repository = self
                .state
                .absolute(&format!("{}/.git", to.trim_end_matches('/')));
            self.state.cloned.insert(repository);
        }
    }

    pub(in crate::analyze) fn git(&mut self, words: &[Arg], settings: &[Setting]) -> Value {
        const GLOBAL: &str = "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source";
        let at = first_operand(words, 1, GLOBAL);
        let folder = words[..at.min(words.len())]
            .array_windows()
            .find(|[option, _]| option.text == "-C")
            .map(|[_, folder]| folder.text.clone());
        let verb = words
            .get(at)
            .map_or("", |word| word.text.as_str())
            .to_owned();
        let rest = words.get(at + 1..).unwrap_or_default().to_vec();
        if verb == "config"
            && let Some((key, value)) = setting::set_by(&rest)
        {
            self.state.aliases.insert(format!("{KEPT}{key}"), value);
        }
        // A command in a setting counts when the setting is first made, and at the command itself.
        let is_new = |key: &str| !self.state.aliases.contains_key(&format!("{KEPT}{key}"));
        let runs: Vec<String> = settings
            .iter()
            .filter(|(key, value)| setting::runs(key) && is_new(key) && !setting::is_false(value))
            .map(|(_, value)| value.trim_start_matches('!').to_owned())
            .collect();
        for text in runs {
            self.nested("git -c", &text, None);
        }
        let key = format!("alias.{}", verb.to_ascii_lowercase());
        let alias = settings
            .iter()
            .rev()
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value.clone());
        if let Some(alias) = alias {
            let text = match alias.strip_prefix('!') {
                Some(shell) => format!("{shell} {}", display_words(&rest)),
                None => format!("git {alias} {}", display_words(&rest)),
            };
            return self.nested("git alias", &text, None);
        }
        let operand = |walker: &mut Self, rest: &[Arg]| {
            let from = first_operand(rest, 0, "");
            let text = joined(rest.get(from..).unwrap_or_default()).text;
            walker.nested("git", &text, None)
        };
        if verb == "clone" && folder.is_none() {
            self.remember_clone(&rest);
        }
        match verb.as_str() {
            "bisect" if rest.first().is_some_and(|word| word.text == "run") => {
                self.inner("git bisect run", &rest[1..], None);
            }
            "for-each-repo" => {
                let from = first_operand(&rest, 0, "--config");
                let mut run = vec![Arg::plain("git")];
                run.extend_from_slice(rest.get(from..).unwrap_or_default());
                if run.len() > 1 {
                    self.inner("git for-each-repo", &run, None);
                }
            }
            "worktree" if rest.first().is_some_and(|word| word.text == "add") => {
                let at = first_operand(&rest, 1, "-b -B --reason");
                if let Some(tree) = rest.get(at).filter(|_| folder.is_none()) {
                    let tree = self.state.absolute(&tree.text);
                    self.state.trees.insert(tree);
                }
            }
            "bulk" => {
                let run = [&[Arg::plain("git")], rest.as_slice()].concat();
                self.inner("git bulk", &run, None);
            }
            "submodule" => {
                if let Some(at) = rest.iter().position(|word| word.text == "foreach") {
                    operand(self, &rest[at + 1..]);
                }
            }
            "grep" => {
                let pager = rest.iter().find_map(|word| {
                    let text = word.text.as_str();
                    text.strip_prefix("-O")
                        .or_else(|| text.strip_prefix("--open-files-in-pager="))
                        .filter(|pager| !pager.is_empty())
                });
                if let Some(pager) = pager {
                    let text = format!("{pager} {SOME}");
                    self.nested("git grep -O", &text, None);
                }
            }
            "rebase" | "difftool" | "filter-branch" | "fetch" | "clone" | "pull" | "push"
            | "ls-remote" | "archive" => {
                for (at, word) in rest.iter().enumerate() {
                    let text = word.text.as_str();
                    let given = ["--exec=", "--upload-pack=", "--receive-pack=", "--extcmd="]
                        .iter()
                        .find_map(|option| text.strip_prefix(option).map(str::to_owned))
                        .or_else(|| {
                            let next = matches!(
                                text,
                                "-x" | "--exec" | "--extcmd" | "--upload-pack" | "-u"
                            ) && matches!(
                                verb.as_str(),
                                "rebase" | "difftool" | "clone" | "fetch"
                            ) || text.ends_with("-filter") && verb == "filter-branch";
                            next.then(|| rest.get(at + 1).map(|word| word.text.clone()))?
                        });
                    if let Some(given) = given {
                        self.nested(&format!("git {verb}"), &given, None);
                    }
                    if let Some(command) = text.strip_prefix("ext::") {
                        let command = command.to_owned();
                        self.nested("git ext::", &command, None);
                    }
                }
            }
            _ => {}
        }

        match (verb.as_str(), rest.first().map(|word| word.text.as_str())) {
            ("rev-parse", Some("--show-toplevel")) => match (&folder, &self.facts.root) {
                (None, Some(root)) => Value::known(format!("{root}\n")),
                _ => Value::filled(),
            },
            ("rev-parse", Some("--git-dir" | "--absolute-git-dir" | "--git-common-dir")) => {
                match &self.facts.git_dir {
                    Some(folder) => Value::known(format!("{folder}\n")),
                    None => Value::known(".git\n"),
                }
            }
            ("diff" | "diff-index" | "diff-files", _)
                if self.git_listing(&verb, &rest).is_none() =>
            {
                let is_of_tree = is_of_the_tree(&rest);
                let turned = rest.iter().any(|word| word.text == "-R");
                Value::from(Source {
                    changes: is_of_tree && !turned,
                    undoing: is_of_tree && turned,
                    ..Source::default()
                })
            }
            ("tag", _) if lists_every_tag(&rest) => Value {
                text: SOME.to_string(),
                source: OF_NAMES,
            },
            ("remote", None | Some("show" | "-v" | "--verbose")) if rest.len() < 2 => Value {
                text: SOME.to_string(),
                source: OF_NAMES,
            },
            // Without a path it lists all that git keeps, or all that it does not.
            ("ls-files", _) => {
                let is_gone = |word: &Arg| matches!(word.text.as_str(), "-d" | "--deleted");
                let gone = rest.iter().all(|word| is_gone(word) || word.text == "-z")
                    && rest.iter().any(is_gone);
                let some = rest.iter().any(|word| {
                    !word.text.starts_with('-')
                        || is_gone(word)
                        || matches!(word.text.as_str(), "-i" | "--ignored")
                });
                // It prints what these patterns take in.
                let patterns: Vec<&str> = rest
                    .iter()
                    .filter(|word| !word.text.starts_with('-') && word.text.contains('*'))
                    .map(|word| word.text.as_str())
                    .collect();
                Value {
                    text: match some {
                        true if patterns.is_empty() => SOME.to_string(),
                        true => patterns.join("\n") + "\n",
                        false => "*\n".to_owned(),
                    },
                    source: match self.git_listing(&verb, &rest) {
                        Some(listing) => listing.source,
                        None => Source {
                            gone,
                            ..Source::default()
                        },
                    },
                }
            }
            _ => match self.git_listing(&verb, &rest) {
                Some(listing) => listing,
                None => Value::filled(),
            },
        }
    }
}

/// Whether a diff is of the tree as it is now, not between two commits.
fn is_of_the_tree(words: &[Arg]) -> bool {
    let revisions = words
        .iter()
        .map(|word| word.text.as_str())
        .take_while(|text| *text != "--")
        .filter(|text| !text.starts_with('-') && !text.contains(['.', '/']));
    let is_range = words.iter().any(|word| {
        word.text
            .split_once("..")
            .is_some_and(|(from, _)| !from.is_empty())
            && !word.text.starts_with("../")
    });
    !is_range && revisions.count() < 2
}
