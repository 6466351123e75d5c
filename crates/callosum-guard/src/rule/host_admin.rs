//! Administration of the machine: its connections, its protection, and its users.

use super::{Rule, Severity, Subject, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &[
            "update-alternatives",
            "alternatives",
            "update-java-alternatives",
        ],
        takes: "--altdir --admindir --log",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "system.alternatives",
            when: &["--set|--set-selections|--install|--remove|--remove-all|--auto|-s"],
            severity: Severity::Ask,
            reason: "everyone on the machine gets another program under this name",
            alternatives: &["alternatives --list"],
            #[cfg(test)]
            catches: &[
                "update-alternatives --set python /usr/bin/python2",
                "update-alternatives --install /usr/bin/cc cc /usr/bin/clang 60",
                "alternatives --auto java",
            ],
            #[cfg(test)]
            spares: &[
                "update-alternatives --list python",
                "update-alternatives --display cc",
                "update-alternatives --query java",
            ],
        }],
    },
    Tool {
        names: &[
            "iptables",
            "ip6tables",
            "nft",
            "ufw",
            "firewall-cmd",
            "pfctl",
            "setenforce",
            "sysctl",
            "modprobe",
            "rmmod",
            "insmod",
            "swapoff",
            "ip",
            "ifconfig",
            "route",
            "nmcli",
            "hostnamectl",
            "timedatectl",
            "visudo",
            "update-grub",
            "grub-install",
            "efibootmgr",
            "csrutil",
            "spctl",
            "auditctl",
            "aa-teardown",
        ],
        takes: "-t",
        one_dash: false,
        tests: &[("changes", changes_machine)],
        rules: &[Rule {
            id: "system.network",
            when: &["&changes"],
            severity: Severity::Ask,
            reason: "it changes how the machine is protected or reached",
            alternatives: &["ip addr"],
            #[cfg(test)]
            catches: &[
                "iptables -F",
                "ufw disable",
                "setenforce 0",
                "sysctl -w kernel.panic=1",
                "nft flush ruleset",
                "ip link set eth0 down",
                "rmmod nvidia",
            ],
            #[cfg(test)]
            spares: &[
                "iptables -L",
                "ufw status",
                "sysctl kernel.panic",
                "ip addr",
                "ip link show",
            ],
        }],
    },
    Tool {
        names: &[
            "userdel", "deluser", "usermod", "passwd", "chpasswd", "groupdel", "delgroup",
            "useradd", "adduser", "visudo", "dscl", "chsh",
        ],
        takes: "-u -g -G -d -s",
        one_dash: false,
        tests: &[("changes", |s| {
            !["--help", "-h", "--version", "-S", "--status", "-l"]
                .iter()
                .any(|option| s.has(option))
                || s.call.name == "userdel"
        })],
        rules: &[Rule {
            id: "system.users",
            when: &["&changes"],
            severity: Severity::Block,
            reason: "it changes who may use the machine",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "userdel -r u",
                "passwd root",
                "usermod -aG sudo me",
                "echo root:x | chpasswd",
            ],
            #[cfg(test)]
            spares: &["passwd --status", "useradd --help", "getent passwd"],
        }],
    },
];

fn changes_machine(subject: &Subject<'_>) -> bool {
    let words: Vec<&str> = subject
        .call
        .words
        .iter()
        .skip(1)
        .map(|word| word.text.as_str())
        .collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    match subject.call.name.as_str() {
        "iptables" | "ip6tables" => {
            has(&["-F", "--flush", "-X", "-A", "-D", "-I", "-P", "-Z", "-R"])
        }
        "nft" => has(&["flush", "delete", "add", "insert", "destroy"]),
        "ufw" => has(&[
            "disable", "reset", "allow", "deny", "delete", "enable", "default",
        ]),
        "firewall-cmd" => words.iter().any(|word| {
            word.starts_with("--add")
                || word.starts_with("--remove")
                || word.starts_with("--set")
                || *word == "--panic-on"
        }),
        "pfctl" => has(&["-F", "-d", "-f"]),
        "setenforce" => has(&["0", "Permissive", "permissive"]),
        "sysctl" => {
            has(&["-w", "-p", "--write", "--system"]) || words.iter().any(|word| word.contains('='))
        }
        "modprobe" => {
            has(&["-r", "--remove"])
                || words.iter().any(|word| !word.starts_with('-'))
                    && !has(&["-n", "--show-depends", "-c"])
        }
        "rmmod" | "insmod" | "swapoff" | "update-grub" | "grub-install" | "aa-teardown" => {
            !has(&["--help", "-h", "--version"])
        }
        "ip" => has(&["flush", "del", "delete", "down", "add", "set", "replace"]),
        "ifconfig" => has(&["down", "up"]),
        "route" => has(&["del", "add", "flush", "delete"]),
        "nmcli" => has(&["down", "delete", "off", "modify"]),
        "hostnamectl" | "timedatectl" => words.iter().any(|word| word.starts_with("set-")),
        "efibootmgr" => words
            .iter()
            .any(|word| matches!(*word, "-B" | "-b" | "-o" | "-c")),
        "csrutil" => has(&["disable", "clear"]),
        "spctl" => words.iter().any(|word| word.contains("disable")),
        "auditctl" => has(&["-D", "-e", "-d"]),
        _ => false,
    }
}
