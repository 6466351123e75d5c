//! Programs of the table that run the words behind their own options, and `env`.

use super::joined;
use crate::analyze::{
    KnownPrograms,
    database_framework::SETTINGS,
    evaluator::Evaluator,
    value::{Arg, Source, Value, display_words},
    wrapper_table::{self, first_operand},
};

/// Returns the one file that `dotenv` takes variables from, if its words name no other and no
/// variable.
fn settings_of_dotenv(words: &[Arg]) -> Option<&str> {
    match words {
        [option, file, rest @ ..]
            if matches!(option.text.as_str(), "-e" | "-f")
                && file.value().is_known()
                && rest
                    .iter()
                    .all(|word| matches!(word.text.as_str(), "--" | "run" | "-o")) =>
        {
            Some(&file.text)
        }
        _ => None,
    }
}

impl Evaluator<'_> {
    pub(super) fn wrapped(
        &mut self,
        name: &str,
        wrapper: &wrapper_table::Wrapper,
        names: usize,
        words: &[Arg],
        input: Option<&Value>,
    ) -> Value {
        let command = |word: &Arg| matches!(word.text.as_str(), "-c" | "--call" | "--command");
        // `flock FILE -c TEXT`, `npx -c TEXT`, `entr -s TEXT`.
        // Behind the first operand an option is another program's.
        let own = first_operand(words, names, wrapper.takes).min(words.len());
        let text = match name {
            "flock" => words
                .get(own + 1)
                .filter(|word| command(word))
                .map(|_| own + 1),
            "doppler" | "infisical" => words[..own]
                .iter()
                .position(|word| word.text == "--command"),
            "npx" | "npm" => words[..own].iter().position(command),
            "entr" => words[..own]
                .iter()
                .position(|word| word.text.starts_with('-') && word.text.ends_with('s')),
            _ => None,
        };
        let joined_by_sign = matches!(name, "doppler" | "infisical")
            .then(|| words[..own].iter())
            .and_then(|mut own| own.find_map(|word| word.text.strip_prefix("--command=")));
        if let Some(text) = joined_by_sign {
            let text = text.to_owned();
            return self.nested(wrapper.names, &text, input);
        }
        if let Some(text) = text.and_then(|at| words.get(at + 1)) {
            let text = text.text.clone();
            return self.nested(wrapper.names, &text, input);
        }
        if name == "command"
            && words
                .get(1)
                .is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V" | "-pv" | "-pV"))
        {
            let found = words.get(2).map(Arg::value).unwrap_or_default();
            return found;
        }
        if name == "env"
            && let Some(output) = self.env(words, input)
        {
            return output;
        }
        if name == "gdb" {
            self.escapes(name, words, input);
        }
        let mut at = first_operand(words, names, wrapper.takes);
        // `env - PATH=/bin ls`, `dotenv -f .env run -- ls`, `setarch x86_64 -R ls`
        let is_own = |word: &Arg| match name {
            "env" => word.text == "-",
            "dotenv" => word.text == "run",
            "setarch" => ARCHITECTURES.contains(&word.text.as_str()),
            _ => false,
        };
        if words.get(at).is_some_and(is_own) {
            at = first_operand(words, at + 1, wrapper.takes);
        }
        if name == "bwrap" {
            at = behind_mounts(words, wrapper.takes);
        }
        // `sudo -s TEXT` and `sudo -i TEXT` give the words to a shell.
        let shell = matches!(name, "sudo" | "doas")
            && words[..at.min(words.len())].iter().any(|word| {
                matches!(word.text.as_str(), "--shell" | "--login")
                    || word.text.starts_with('-')
                        && !word.text.starts_with("--")
                        && word.text.contains(['s', 'i'])
            });
        at += wrapper.skip;
        let settings = match name {
            "dotenv" => settings_of_dotenv(&words[names.min(at)..at.min(words.len())]),
            _ => None,
        };
        // Assignments before the command, in programs that take them.
        self.apart(|walker| {
            if let Some(settings) = settings {
                walker.state.set(SETTINGS, Value::known(settings));
            }
            while let Some((name, value)) = words.get(at).and_then(|word| word.text.split_once('='))
            {
                // `twine==5.0` is a package.
                let assigns = !name.is_empty()
                    && !value.starts_with('=')
                    && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
                if !assigns {
                    break;
                }
                walker.state.set(name, Value::known(value));
                walker.variable_runs(name);
                at += 1;
            }
            let mut inner = words.get(at..).unwrap_or_default();
            if inner.first().is_some_and(|word| word.text == "--") {
                inner = &inner[1..];
            }
            if name == "env" && inner.is_empty() {
                return Value::from(Source {
                    secret: true,
                    entire: true,
                    ..Source::default()
                });
            }
            // `uv run -` is `uv run python -`.
            if wrapper.names == "uv run" && inner.first().is_some_and(|word| word.text == "-") {
                let mut whole = vec![Arg::plain("python3")];
                whole.extend_from_slice(inner);
                return walker.inner(wrapper.names, &whole, input);
            }
            // `uv run a.py` is `uv run python a.py`.
            if wrapper.names.ends_with(" run")
                && inner
                    .first()
                    .is_some_and(|word| word.text.rsplit('.').next() == Some("py"))
            {
                let mut whole = vec![Arg::plain("python3")];
                whole.extend_from_slice(inner);
                return walker.inner(wrapper.names, &whole, input);
            }
            if FETCHERS.contains(&wrapper.names)
                && let Some((package, rest)) = inner.split_first()
                && let Some(program) = program_of(&package.text, walker.known)
            {
                let mut whole = vec![Arg::plain(program)];
                whole.extend_from_slice(rest);
                return walker.inner(wrapper.names, &whole, input);
            }
            // `heroku run 'rails db:reset'`, `hatch run 'python a.py'`
            if matches!(wrapper.names, "heroku run" | "hatch run")
                && let Some(text) = inner.first().filter(|text| text.text.contains(' '))
            {
                let text = text.text.clone();
                return walker.under(wrapper.names, |walker| walker.text(&text, input));
            }
            if shell && inner.len() > 1 {
                let text = joined(inner).text;
                return walker.under(wrapper.names, |w| w.text(&text, input));
            }
            walker.inner(wrapper.names, inner, input)
        })
    }

    /// `env` with `-S`, `-C` and `-u`.
    fn env(&mut self, words: &[Arg], input: Option<&Value>) -> Option<Value> {
        let mut is_value = false;
        for (at, word) in words.iter().enumerate().skip(1) {
            let text = word.text.as_str();
            // What an option takes is neither the command nor another option.
            if std::mem::take(&mut is_value) {
                continue;
            }
            is_value = matches!(text, "-u" | "--unset" | "-a" | "--argv0");
            let split = match text {
                "-S" | "-vS" | "-iS" | "--split-string" => {
                    words.get(at + 1).map(|w| w.text.clone())
                }
                _ => text
                    .strip_prefix("-S")
                    .or_else(|| text.strip_prefix("-vS"))
                    .or_else(|| text.strip_prefix("--split-string="))
                    .map(str::to_owned),
            };
            if let Some(split) = split {
                let from = if text.len() > 3 && text != "-iS" && text != "--split-string" {
                    at + 1
                } else {
                    at + 2
                };
                let rest = display_words(words.get(from..).unwrap_or_default());
                return Some(self.nested("env -S", &format!("{split} {rest}"), input));
            }
            let folder = match text {
                "-C" | "--chdir" => words.get(at + 1).map(|w| w.text.clone()),
                _ => text.strip_prefix("--chdir=").map(str::to_owned),
            };
            if let Some(folder) = folder {
                let from = first_operand(words, 1, "-u --unset -C --chdir -a --argv0");
                let inner = words.get(from..).unwrap_or_default().to_vec();
                return Some(self.apart(|walker| {
                    walker.enter(&Value::known(folder));
                    walker.inner("env", &inner, input)
                }));
            }
            if !text.starts_with('-') && !text.contains('=') {
                return None;
            }
        }
        None
    }
}

/// Architectures that `setarch` may have as its first word.
const ARCHITECTURES: [&str; 9] = [
    "x86_64", "i386", "i686", "linux32", "linux64", "arm", "armv7l", "aarch64", "ppc64le",
];

/// Returns the start of the command of `bwrap`, many of whose options take two words.
fn behind_mounts(words: &[Arg], takes: &str) -> usize {
    const PAIRS: [&str; 4] = ["--symlink", "--setenv", "--file", "--chmod"];
    let mut at = 1;
    loop {
        at = first_operand(words, at, takes);
        let option = at.checked_sub(1).and_then(|before| words.get(before));
        let option = option.map_or("", |word| word.text.as_str());
        let takes_two =
            option.starts_with("--") && (option.contains("bind") || PAIRS.contains(&option));
        if !takes_two || at >= words.len() {
            return at;
        }
        at += 2;
    }
}

/// Programs that fetch a package and run the program in it.
const FETCHERS: [&str; 9] = [
    "npx", "npm exec", "npm x", "pnpm dlx", "yarn dlx", "bunx", "bun x", "pipx run", "uvx",
];

/// Returns the program of a package if its name differs: `firebase-tools@latest`, `@railway/cli`;
/// `None` if it has the package's name.
pub(super) fn program_of(package: &str, known: KnownPrograms) -> Option<&str> {
    let (scope, name) = match package
        .strip_prefix('@')
        .and_then(|rest| rest.split_once('/'))
    {
        Some((scope, name)) => (Some(scope), name),
        None => (None, package),
    };
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    let name = name.split_once("==").map_or(name, |(name, _)| name);
    let is_its_own = name.ends_with("-cli") && known.contains(name);
    let program = match (scope, name) {
        (Some(scope), "cli") => scope,
        _ if is_its_own => name,
        _ => name
            .strip_suffix("-cli")
            .or_else(|| name.strip_suffix("-tools"))
            .unwrap_or(name),
    };
    (program != package && !program.is_empty()).then_some(program)
}

#[cfg(test)]
mod tests {
    use super::{KnownPrograms, program_of};

    /// CAKE-SHIM-1: a package is known by the program in it.
    #[test]
    fn the_program_of_a_package_is_known() {
        let known = KnownPrograms::new(&["del-cli"]);
        for (package, program) in [
            ("wrangler", None),
            ("wrangler@3", Some("wrangler")),
            ("firebase-tools@latest", Some("firebase")),
            ("netlify-cli", Some("netlify")),
            ("@railway/cli", Some("railway")),
            ("@scope/tool@1.2", Some("tool")),
            ("del-cli", None),
            ("del-cli@5", Some("del-cli")),
            ("twine==5.0", Some("twine")),
            ("@", None),
        ] {
            assert_eq!(program_of(package, known), program, "{package}");
        }
    }
}
