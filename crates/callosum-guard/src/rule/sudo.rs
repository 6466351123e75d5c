//! Other people's rights.

use super::{Rule, Severity, Subject, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &[
            "sudo", "doas", "pkexec", "run0", "gsudo", "sudoedit", "visudo",
        ],
        takes: "-u -g -h -p -C -r -t -T -U -D -R",
        one_dash: false,
        tests: &[("runs", runs)],
        rules: &[Rule {
            id: "sudo.elevated",
            when: &["&runs"],
            severity: Severity::Block,
            reason: "elevated rights are not for agents",
            alternative: None,
            catches: &[
                "sudo ls",
                "sudo -n rm x",
                "doas cat /etc/shadow",
                "FOO=1 sudo -u root id",
                "sudo -i",
            ],
            spares: &[
                "sudo --version",
                "sudo -l",
                "sudo -nv",
                "which sudo",
                "echo sudo make me",
                "man sudo",
            ],
        }],
    },
    Tool {
        names: &["su", "runuser"],
        takes: "-c -s -g -G -w --command --shell",
        one_dash: false,
        tests: &[("runs", runs)],
        rules: &[Rule {
            id: "su.elevated",
            when: &["&runs"],
            severity: Severity::Block,
            reason: "elevated rights are not for agents",
            alternative: None,
            catches: &["su -c 'rm x'", "su - root", "runuser -u root id", "su"],
            spares: &["su --version", "su --help", "sum x"],
        }],
    },
];

fn runs(subject: &Subject<'_>) -> bool {
    let only_tells = !subject.options.is_empty()
        && subject.operands.is_empty()
        && subject.options.iter().all(|given| {
            matches!(
                given.name,
                "--version"
                    | "-V"
                    | "--help"
                    | "-h"
                    | "-k"
                    | "-K"
                    | "--reset-timestamp"
                    | "--list"
                    | "--validate"
                    | "--non-interactive"
            ) || !given.name.starts_with("--")
                && subject.call.name == "sudo"
                && given.name[1..]
                    .chars()
                    .all(|letter| "lvnkK".contains(letter))
        });
    !only_tells
}
