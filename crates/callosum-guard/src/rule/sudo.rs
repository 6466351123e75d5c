//! Commands that run with the rights of another user.
//!
//! What they run is judged by itself as well, so `sudo rm -rf /` is blocked and `sudo ls` is asked about.

use super::{Rule, Severity, Subject, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &[
            "sudo", "doas", "pkexec", "run0", "gsudo", "sudoedit", "visudo",
        ],
        takes: "-u -g -h -p -C -r -t -T -U -D -R",
        one_dash: false,
        tests: &[("runs", runs), ("looks-elsewhere", looks_elsewhere)],
        rules: &[Rule {
            id: "sudo.elevated",
            when: &["&runs !&looks-elsewhere"],
            severity: Severity::Ask,
            reason: "it runs as another user, root by default",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "ssh web1 'sudo systemctl stop app'",
                "ssh web1 'sudo journalctl --vacuum-time=1s'",
                "sudo journalctl -n 50",
                "sudo ls",
                "sudo -n rm x",
                "doas cat /etc/shadow",
                "FOO=1 sudo -u root id",
                "sudo -i",
            ],
            #[cfg(test)]
            spares: &[
                "ssh web1 'sudo journalctl -u app -n 50 --no-pager'",
                "ssh web1 sudo systemctl status app",
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
            severity: Severity::Ask,
            reason: "it runs as another user, root by default",
            alternatives: &[],
            #[cfg(test)]
            catches: &["su -c 'rm x'", "su - root", "runuser -u root id", "su"],
            #[cfg(test)]
            spares: &["su --version", "su --help", "sum x"],
        }],
    },
];

/// Whether it is on another machine, and only looks at what is there: its log, its disks, its services.
fn looks_elsewhere(subject: &Subject<'_>) -> bool {
    const LOOKS: [&str; 20] = [
        "journalctl",
        "dmesg",
        "cat",
        "tail",
        "head",
        "less",
        "grep",
        "zgrep",
        "ls",
        "df",
        "du",
        "ss",
        "netstat",
        "lsof",
        "ps",
        "free",
        "uptime",
        "stat",
        "id",
        "wc",
    ];
    const PAIRS: [(&str, &[&str]); 3] = [
        (
            "systemctl",
            &[
                "status",
                "is-active",
                "list-units",
                "cat",
                "show",
                "list-timers",
            ],
        ),
        ("docker", &["ps", "logs", "inspect", "stats", "images"]),
        ("nginx", &["-t", "-T"]),
    ];
    let mut words = subject
        .call
        .words
        .iter()
        .skip(1)
        .map(|word| word.text.as_str());
    let program = words.find(|word| !word.starts_with('-')).unwrap_or("");
    let verb = words.next().unwrap_or("");
    let vacuums = words.clone().chain([verb]).any(|word| {
        ["--vacuum", "--rotate", "--flush"]
            .iter()
            .any(|option| word.starts_with(option))
            || program == "dmesg" && matches!(word, "-c" | "-C" | "--clear")
    });
    let looks = LOOKS.contains(&program)
        || PAIRS
            .iter()
            .any(|(one, verbs)| *one == program && verbs.contains(&verb));
    subject.call.elsewhere && looks && !vacuums
}

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
