//! Programs that keep secrets or have them kept, and the words by which they print them: `pass show`, `vault kv get`,
//! `kubectl get secret -o yaml`, `git show HEAD:.env`.

use super::{
    pattern,
    value::{Arg, Source},
};
use crate::secret_files::keeps_secrets;

/// A program that prints secrets.
struct SecretPrinter {
    programs: &'static [&'static str],
    /// Words that must all follow, in any order; `a|b` for either, `*` for others, `!` for words
    /// that must not.
    words: &'static str,
    /// Whether that is all of several, and not one value that was asked for.
    entire: bool,
}

const fn all_by(programs: &'static [&'static str], words: &'static str) -> SecretPrinter {
    SecretPrinter {
        programs,
        words,
        entire: true,
    }
}

const fn one_by(programs: &'static [&'static str], words: &'static str) -> SecretPrinter {
    SecretPrinter {
        programs,
        words,
        entire: false,
    }
}

const TELLINGS: &[SecretPrinter] = &[
    all_by(&["gpg", "gpg2"], "--export-secret-*"),
    one_by(
        &["security"],
        "find-generic-password|find-internet-password -w|-g|-gw|-wg",
    ),
    all_by(&["security"], "dump-keychain -d"),
    one_by(&["pass", "gopass"], "show !-c|--clip"),
    one_by(&["aws"], "configure get *secret*|*session_token"),
    all_by(&["aws"], "configure export-credentials"),
    one_by(&["aws"], "secretsmanager get-secret-value"),
    one_by(&["aws"], "ssm get-parameter* --with-decryption"),
    one_by(&["aws"], "sts assume-role*|get-session-token"),
    all_by(
        &["kubectl", "oc"],
        "get secret|secrets|secret/*|secrets/*|*,secret|*,secrets|secret,*|secrets,* yaml|json|-oyaml|-ojson|-o=yaml|-o=json|--output=yaml|--output=json",
    ),
    one_by(
        &["kubectl", "oc"],
        "get secret|secrets|secret/*|secrets/* jsonpath=*|go-template=*|-ojsonpath=*|-o=jsonpath=*|--output=jsonpath=*",
    ),
    all_by(&["kubectl", "oc"], "config view --raw"),
    all_by(&["vault", "bao"], "kv get !-field*"),
    all_by(&["vault", "bao"], "read !-field*"),
    one_by(&["vault", "bao"], "get|read -field*"),
    one_by(&["op"], "read !run"),
    all_by(&["op"], "item|document get"),
    all_by(&["op"], "inject"),
    one_by(&["bw", "lpass", "keyring"], "get|show"),
    all_by(&["bw", "lpass", "chamber", "infisical"], "export"),
    one_by(&["secret-tool"], "lookup"),
    all_by(&["sops"], "-d|--decrypt|decrypt !-i|--in-place|--extract"),
    one_by(&["sops"], "-d|--decrypt|decrypt --extract"),
    all_by(&["ansible-vault"], "view"),
    all_by(&["heroku"], "config"),
    one_by(&["heroku"], "config:get"),
    all_by(
        &["doppler", "infisical"],
        "secrets !set|get|delete|upload|run|notes",
    ),
    one_by(&["doppler", "infisical"], "secrets get"),
    one_by(&["gh"], "auth token"),
    one_by(&["gh"], "auth status -t|--show-token"),
    one_by(&["git"], "credential fill"),
    one_by(&["gcloud"], "auth print-*-token"),
    one_by(&["gcloud"], "secrets versions access"),
    one_by(&["az"], "account get-access-token"),
    one_by(&["az"], "keyvault secret show"),
    all_by(&["terraform", "tofu"], "state pull"),
];

/// Returns the source of a program's output, by the secrets that it stores and prints.
pub(super) fn kept_by(name: &str, words: &[Arg]) -> Source {
    let rest = words.get(1..).unwrap_or_default();
    let matching = TELLINGS.iter().filter(|telling| {
        telling.programs.contains(&name)
            && telling
                .words
                .split(' ')
                .all(|group| match group.strip_prefix('!') {
                    Some(group) => !has_any(group, rest),
                    None => has_any(group, rest),
                })
    });
    let is_committed = name == "git" && shows_committed(rest);
    let tellings = matching.map(|telling| telling.entire);
    let found = tellings.chain(is_committed.then_some(true));
    found.fold(Source::default(), |all, entire| Source {
        secret: true,
        entire: all.entire || entire,
        ..all
    })
}

/// Whether one of the words has a word of a group.
fn has_any(group: &str, words: &[Arg]) -> bool {
    group.split('|').any(|one| {
        let mut words = words.iter();
        words.any(|word| one == word.text || one.contains('*') && pattern::matches(one, &word.text))
    })
}

/// Whether git prints what a file held that keeps secrets: `show HEAD:.env`, `log -p -- .env`.
fn shows_committed(words: &[Arg]) -> bool {
    let mut texts = words.iter().map(|word| word.text.as_str());
    let verb = texts.find(|text| {
        matches!(
            *text,
            "show" | "cat-file" | "diff" | "blame" | "annotate" | "archive" | "log"
        )
    });
    let Some(verb) = verb else { return false };
    let patches = verb != "log" || has_any("-p|-u|--patch", words);
    let only_tells = has_any("--stat|--name-only|--name-status|-s|--no-patch", words);
    let mut files = texts.map(|text| text.rsplit_once(':').map_or(text, |(_, file)| file));
    patches && !only_tells && files.any(|file| !file.starts_with('-') && keeps_secrets(file))
}

#[cfg(test)]
mod tests {
    use super::{Arg, kept_by};

    fn kept(command: &str) -> (bool, bool) {
        let words: Vec<Arg> = command.split(' ').map(Arg::plain).collect();
        let source = kept_by(&words[0].text, &words);
        (source.secret, source.entire)
    }

    /// CAKE-SHIM-1: printing secrets differs from mentioning them, and printing all of them from
    /// printing one.
    #[test]
    fn printing_secrets_is_recognized_by_the_words() {
        for command in [
            "gpg -a --export-secret-keys",
            "kubectl -n a get secret b -o yaml",
            "vault kv get secret/a",
            "git show HEAD:a/.env",
            "git log -p -- .env",
        ] {
            assert_eq!(kept(command), (true, true), "{command}");
        }
        for command in [
            "pass show a",
            "vault kv get -field=a secret/b",
            "gh auth token",
            "aws configure get aws_secret_access_key",
        ] {
            assert_eq!(kept(command), (true, false), "{command}");
        }
        for command in [
            "gpg --export a",
            "kubectl get secrets",
            "kubectl get pods -o yaml",
            "aws configure get region",
            "git show HEAD:.env.example",
            "git log --oneline -- .env",
            "git diff --stat .env",
            "pass show -c a",
            "gh auth status",
        ] {
            assert_eq!(kept(command), (false, false), "{command}");
        }
    }
}
