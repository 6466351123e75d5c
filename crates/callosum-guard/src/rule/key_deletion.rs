//! Keys: what nothing is opened with any more once it is deleted.

use super::{Rule, Severity, Subject, Tool};
use crate::path_class::PathClass;

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["gpg", "gpg2"],
        takes: "-u -r -o --output --recipient --local-user --homedir",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "key.gpg-delete",
            when: &[
                "--delete-secret-keys",
                "--delete-secret-and-public-key",
                "--delete-keys",
            ],
            severity: Severity::Block,
            reason: "data encrypted for the key cannot be read without it",
            alternatives: &["gpg --list-secret-keys"],
            #[cfg(test)]
            catches: &[
                "gpg --delete-secret-keys me",
                "gpg --batch --yes --delete-secret-and-public-key ABCD",
                "gpg2 --delete-secret-key me",
            ],
            #[cfg(test)]
            spares: &[
                "gpg --list-secret-keys",
                "gpg --verify a.sig a",
                "gpg -d a.gpg",
            ],
        }],
    },
    Tool {
        names: &["ssh-keygen"],
        takes: "-t -b -f -N -P -C -a -m -O -I -n -V -z -s -D -r -F -R",
        one_dash: false,
        tests: &[("answered", says_yes)],
        rules: &[Rule {
            id: "key.ssh-replace",
            when: &["&answered !-R !-F !-l !-y"],
            severity: Severity::Ask,
            reason: "it replaces an existing key, and access with the old key is lost",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "ssh-keygen -t ed25519 -f ~/.ssh/id_ed25519 -N '' <<< y",
                "yes | ssh-keygen -t rsa -b 4096 -N ''",
                "echo y | ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id_ed25519 > /dev/null",
            ],
            #[cfg(test)]
            spares: &[
                "ssh-keygen -t ed25519 -f /tmp/k -N ''",
                "ssh-keygen -R github.com",
                "ssh-keygen -lf ~/.ssh/id_ed25519.pub",
                "yes | ssh-keygen -t ed25519 -f /tmp/k -N ''",
            ],
        }],
    },
    Tool {
        names: &["security", "secret-tool", "pass"],
        takes: "-a -s -l",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "key.store-delete",
            when: &["delete-*", "clear *", "rm *"],
            severity: Severity::Block,
            reason: "it deletes passwords or keys that may be stored nowhere else",
            alternatives: &["security list-keychains"],
            #[cfg(test)]
            catches: &[
                "security delete-keychain login.keychain",
                "security delete-generic-password -s x",
                "secret-tool clear service x",
                "pass rm -rf mail",
            ],
            #[cfg(test)]
            spares: &[
                "security find-certificate -a",
                "secret-tool lookup service x",
                "pass show mail",
            ],
        }],
    },
];

/// Whether it is answered before it asks whether a key may be written over, but for one that is laid
/// among what may be lost.
fn says_yes(subject: &Subject<'_>) -> bool {
    let is_free = |path: &str| subject.place(path) == PathClass::Free;
    let input = subject.call.input.as_ref();
    input.is_some_and(|input| input.text.trim_start().starts_with(['y', 'Y']))
        && !subject.value("-f").is_some_and(is_free)
}
