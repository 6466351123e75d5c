//! Programs of a project's packages that a package manager runs by their bare name: `yarn rimraf dist`, `pnpm vercel`,
//! `bun run gh-pages`. What is installed goes by the same name as a script would, which is not known here.

use super::prefix::program_of;
use crate::analyze::{
    evaluator::Evaluator,
    value::{Arg, Value},
    wrapper_table::first_operand,
};

/// Options of the managers that take the next word.
const TAKES: &str = "-C --dir --cwd --filter -F --filter-prod --prefix --top-level -w --workspace";

/// Words that are a manager's own, and names that no package has but scripts may.
const OWN: [&str; 93] = [
    "add",
    "approve-builds",
    "audit",
    "autoclean",
    "bin",
    "build",
    "c",
    "cache",
    "cat-file",
    "cat-index",
    "check",
    "clean",
    "completion",
    "config",
    "constraints",
    "create",
    "dedupe",
    "deploy",
    "dlx",
    "doctor",
    "env",
    "exec",
    "explain",
    "fetch",
    "find-hash",
    "get",
    "global",
    "halt",
    "help",
    "i",
    "ignored-builds",
    "import",
    "info",
    "init",
    "install",
    "install-test",
    "it",
    "la",
    "licenses",
    "link",
    "list",
    "ll",
    "ln",
    "login",
    "logout",
    "ls",
    "npm",
    "outdated",
    "owner",
    "pack",
    "patch",
    "patch-commit",
    "patch-remove",
    "plugin",
    "pm",
    "policies",
    "poweroff",
    "prune",
    "publish",
    "rb",
    "rebuild",
    "recursive",
    "reboot",
    "remove",
    "repl",
    "restart",
    "rm",
    "root",
    "search",
    "self-update",
    "server",
    "set",
    "setup",
    "shutdown",
    "stage",
    "start",
    "stop",
    "store",
    "t",
    "tag",
    "team",
    "test",
    "tst",
    "un",
    "uninstall",
    "unlink",
    "unplug",
    "up",
    "update",
    "upgrade",
    "version",
    "why",
    "x",
];

impl Evaluator<'_> {
    /// Follows the program that a package manager runs.
    pub(super) fn packaged(&mut self, name: &str, words: &[Arg], input: Option<&Value>) {
        if name == "deno" {
            return self.fetched_by_deno(words, input);
        }
        if !matches!(name, "yarn" | "pnpm" | "bun") {
            return;
        }
        let mut at = first_operand(words, 1, TAKES);
        let is = |at: usize, wanted: &str| words.get(at).is_some_and(|word| word.text == wanted);
        if name == "yarn" && is(at, "workspace") {
            at = first_operand(words, at + 2, TAKES);
        }
        if is(at, "run") {
            at = first_operand(words, at + 1, TAKES);
        }
        let Some(program) = words.get(at) else { return };
        let text = program.text.as_str();
        let is_name = program.is_known() && !text.contains(['/', '.', ':', ' ']);
        if is_name && !OWN.contains(&text) {
            self.inner(name, &words[at..], input);
        }
    }

    /// Follows the program of a package that is fetched for it: `deno run -A npm:rimraf@5 dist`.
    fn fetched_by_deno(&mut self, words: &[Arg], input: Option<&Value>) {
        let named = words.iter().enumerate().skip(1).take(8);
        let mut named = named.filter_map(|(at, word)| Some((at, word.text.strip_prefix("npm:")?)));
        if let Some((at, package)) = named.next() {
            let mut run = vec![Arg::plain(
                program_of(package, self.known).unwrap_or(package),
            )];
            run.extend_from_slice(&words[at + 1..]);
            self.inner("deno", &run, input);
        }
    }
}
