//! Keys: what nothing is opened with any more once it is deleted.

use super::{Rule, Severity, Tool};

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
            reason: "what was encrypted for the key cannot be read without it",
            alternative: Some("gpg --list-secret-keys"),
            catches: &[
                "gpg --delete-secret-keys me",
                "gpg --batch --yes --delete-secret-and-public-key ABCD",
                "gpg2 --delete-secret-key me",
            ],
            spares: &[
                "gpg --list-secret-keys",
                "gpg --verify a.sig a",
                "gpg -d a.gpg",
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
            reason: "it deletes passwords or keys that are kept nowhere else",
            alternative: Some("security list-keychains"),
            catches: &[
                "security delete-keychain login.keychain",
                "security delete-generic-password -s x",
                "secret-tool clear service x",
                "pass rm -rf mail",
            ],
            spares: &[
                "security find-certificate -a",
                "secret-tool lookup service x",
                "pass show mail",
            ],
        }],
    },
];
