//! The machine as a whole: processes, services, schedules, start-up, history, the network.

use super::{Rule, Severity, Subject, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &[
            "shutdown",
            "reboot",
            "poweroff",
            "halt",
            "init",
            "telinit",
            "Stop-Computer",
            "Restart-Computer",
        ],
        takes: "",
        one_dash: false,
        tests: &[("stops", |s| match s.call.name.as_str() {
            "init" | "telinit" => matches!(s.operand(0), "0" | "6" | "1" | "s" | "S"),
            "shutdown" => !s.has("-c") && !s.has("--help"),
            _ => !s.has("--help") && !s.has("--version") && !s.has("-w"),
        })],
        rules: &[Rule {
            id: "system.shutdown",
            when: &["&stops"],
            severity: Severity::Block,
            reason: "it stops the machine",
            alternative: Some("uptime"),
            catches: &["shutdown -h now", "reboot", "init 0", "poweroff -f"],
            spares: &["shutdown -c", "reboot --help", "npm init"],
        }],
    },
    Tool {
        names: &["systemctl", "launchctl", "service", "rc-service"],
        takes: "-H -M -t -p",
        one_dash: false,
        tests: &[("user", |s| s.has("--user"))],
        rules: &[
            Rule {
                id: "system.power",
                when: &[
                    "poweroff|reboot|halt|kexec|suspend|hibernate|emergency|rescue|default|isolate|exit",
                ],
                severity: Severity::Block,
                reason: "it stops the machine",
                alternative: Some("systemctl status"),
                catches: &[
                    "systemctl poweroff",
                    "systemctl reboot -i",
                    "systemctl isolate rescue.target",
                ],
                spares: &[
                    "systemctl status",
                    "systemctl list-units",
                    "systemctl --user status x",
                ],
            },
            Rule {
                id: "system.service",
                when: &[
                    "stop|disable|mask|kill|restart|enable|unmask|revert|set-default !&user",
                    "* stop|restart",
                    "bootout|unload|remove|disable",
                ],
                severity: Severity::Ask,
                reason: "it changes what runs on the machine, also for others",
                alternative: Some("systemctl status nginx"),
                catches: &[
                    "systemctl stop sshd",
                    "systemctl disable --now firewalld",
                    "service nginx stop",
                    "launchctl unload x.plist",
                ],
                spares: &[
                    "systemctl is-active x",
                    "systemctl --user restart x",
                    "service nginx status",
                ],
            },
        ],
    },
    Tool {
        names: &[
            "kill",
            "pkill",
            "killall",
            "skill",
            "xkill",
            "Stop-Process",
            "taskkill",
        ],
        takes: "-s -n -u -U -g -t -P -G --signal",
        one_dash: false,
        tests: &[
            ("everything", everything),
            ("broad", |s| {
                matches!(
                    s.call.name.as_str(),
                    "pkill" | "killall" | "Stop-Process" | "taskkill"
                ) && !s.call.words.iter().any(|word| word.text == "-0")
                    && s.operands
                        .iter()
                        .any(|(word, _)| RUNTIMES.contains(&word.text.as_str()))
            }),
            ("vital-process", |s| {
                s.operands.iter().any(|(word, _)| {
                    matches!(
                        word.text.as_str(),
                        "1" | "init"
                            | "systemd"
                            | "sshd"
                            | "dbus-daemon"
                            | "Xorg"
                            | "launchd"
                            | "WindowServer"
                            | "gnome-shell"
                            | "loginwindow"
                    )
                }) && !s
                    .call
                    .words
                    .iter()
                    .any(|word| matches!(word.text.as_str(), "-0" | "-l" | "-L"))
            }),
        ],
        rules: &[
            Rule {
                id: "system.kill-broad",
                when: &["&broad !-l !-L"],
                severity: Severity::Ask,
                reason: "it ends every program of that kind, the agent and its shell among them",
                alternative: Some("pkill -f my-server"),
                catches: &[
                    "killall -9 node",
                    "pkill -f python3",
                    "pkill node",
                    "killall bash",
                ],
                spares: &[
                    "pkill -f 'node server.js'",
                    "killall my-server",
                    "pkill -0 node",
                ],
            },
            Rule {
                id: "system.kill-all",
                when: &["&everything", "&vital-process"],
                severity: Severity::Block,
                reason: "it ends every process, or one that others need",
                alternative: Some("pkill -f my-server"),
                catches: &[
                    "kill -9 -1",
                    "kill -KILL -1",
                    "kill -9 1",
                    "pkill -9 -u root",
                    "kill -s 9 -- -1",
                    "pkill systemd",
                ],
                spares: &[
                    "kill 4242",
                    "kill -9 4242",
                    "kill -1 4242",
                    "pkill -f server.js",
                    "kill -l",
                ],
            },
        ],
    },
    Tool {
        names: &["killall5"],
        takes: "",
        one_dash: false,
        tests: &[("always", |_| true)],
        rules: &[Rule {
            id: "system.killall5",
            when: &["&always"],
            severity: Severity::Block,
            reason: "it ends every process",
            alternative: Some("ps aux"),
            catches: &["killall5", "killall5 -9", "command killall5"],
            spares: &["man killall5", "which killall5", "killall my-server"],
        }],
    },
    Tool {
        names: &["crontab"],
        takes: "-u",
        one_dash: false,
        tests: &[("replaces", |s| {
            !s.has("-l") && !s.has("-e") && (!s.operands.is_empty() || s.call.input.is_some())
        })],
        rules: &[
            Rule {
                id: "system.crontab",
                when: &["-r"],
                severity: Severity::Block,
                reason: "it deletes every scheduled command",
                alternative: Some("crontab -l"),
                catches: &["crontab -r", "crontab -u me -r", "crontab -ri"],
                spares: &["crontab -l", "crontab -h", "man crontab"],
            },
            Rule {
                id: "system.crontab-set",
                when: &["&replaces !-r"],
                severity: Severity::Ask,
                reason: "it replaces every scheduled command",
                alternative: Some("crontab -l"),
                catches: &[
                    "crontab jobs.txt",
                    "echo '* * * * * x' | crontab -",
                    "crontab -u me f",
                ],
                spares: &["crontab -l", "crontab -l > jobs.txt", "cat crontab"],
            },
        ],
    },
    Tool {
        names: &["history", "fc"],
        takes: "",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "system.history",
            when: &["-c", "-w"],
            severity: Severity::Ask,
            reason: "it removes the record of what was done",
            alternative: Some("history"),
            catches: &["history -c", "history -cw", "history -w"],
            spares: &["history", "history 20", "history -a"],
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
            alternative: Some("ip addr"),
            catches: &[
                "iptables -F",
                "ufw disable",
                "setenforce 0",
                "sysctl -w kernel.panic=1",
                "nft flush ruleset",
                "ip link set eth0 down",
                "rmmod nvidia",
            ],
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
            alternative: Some("id"),
            catches: &[
                "userdel -r u",
                "passwd root",
                "usermod -aG sudo me",
                "echo root:x | chpasswd",
            ],
            spares: &["passwd --status", "useradd --help", "getent passwd"],
        }],
    },
    Tool {
        names: &[
            "apt", "apt-get", "dnf", "yum", "pacman", "zypper", "apk", "dpkg", "rpm", "brew",
            "snap", "flatpak", "port", "emerge", "choco", "winget", "scoop",
        ],
        takes: "-o -c -t",
        one_dash: false,
        tests: &[("removes-core", |s| {
            let removes = matches!(
                s.operand(0),
                "remove"
                    | "purge"
                    | "autoremove"
                    | "erase"
                    | "uninstall"
                    | "del"
                    | "dist-upgrade"
                    | "full-upgrade"
            ) || s.options.iter().any(|given| {
                matches!(
                    given.name,
                    "-r" | "-e"
                        | "--purge"
                        | "--remove"
                        | "--erase"
                        | "-P"
                        | "-R"
                        | "-Rns"
                        | "-Rdd"
                        | "-Rsc"
                        | "-Rs"
                        | "-Rn"
                        | "-rf"
                )
            });
            removes
                && !s.has("--help")
                && !s.has("--dry-run")
                && !s
                    .call
                    .words
                    .iter()
                    .any(|word| matches!(word.text.as_str(), "-s" | "-h"))
        })],
        rules: &[Rule {
            id: "system.packages",
            when: &["&removes-core"],
            severity: Severity::Ask,
            reason: "it removes software that others may need",
            alternative: Some("apt list --installed"),
            catches: &[
                "apt-get remove -y libc6",
                "apt purge python3",
                "pacman -Rns base",
                "dpkg -r bash",
                "brew uninstall git",
                "rpm -e glibc",
            ],
            spares: &[
                "apt list",
                "apt-get install -y jq",
                "brew list",
                "dpkg -l",
                "pacman -Ss jq",
            ],
        }],
    },
    Tool {
        names: &["pip", "pip3"],
        takes: "-r --requirement -t --target",
        one_dash: false,
        tests: &[("unnamed", |s| {
            s.value("-r")
                .or_else(|| s.value("--requirement"))
                .is_some_and(|file| file.starts_with("/dev/fd/"))
                || s.operands.iter().skip(1).any(|(word, _)| !word.is_known())
        })],
        rules: &[Rule {
            id: "system.pip-all",
            when: &["uninstall -y|--yes &unnamed"],
            severity: Severity::Ask,
            reason: "it removes every package that it is told of, which nobody has looked at",
            alternative: Some("pip list"),
            catches: &[
                "pip freeze | xargs pip uninstall -y",
                "pip uninstall -y -r <(pip freeze)",
                "pip3 uninstall --yes $(pip3 freeze)",
            ],
            spares: &[
                "pip uninstall -y requests",
                "pip uninstall -y -r requirements.txt",
                "pip freeze",
            ],
        }],
    },
    Tool {
        names: &["tar", "unzip", "bsdtar", "7z"],
        takes: "-f -C -d --directory --file --exclude",
        one_dash: false,
        tests: &[
            ("in-system", |s| {
                let unpacks = s.call.name == "unzip"
                    || s.has("-x")
                    || s.has("--extract")
                    || s.operand(0).contains('x') && !s.operand(0).contains(['.', '/']);
                let moved = s.has("-C") || s.has("--directory") || s.has("-d");
                unpacks
                    && !moved
                    && matches!(
                        s.place("."),
                        crate::place::Place::Vital | crate::place::Place::System
                    )
            }),
            ("into-system", |s| {
                s.value("-C")
                    .or_else(|| s.value("--directory"))
                    .or_else(|| s.value("-d").filter(|_| s.call.name == "unzip"))
                    .is_some_and(|to| {
                        matches!(
                            s.place(to),
                            crate::place::Place::Vital | crate::place::Place::System
                        )
                    })
                    && !s.call.words.get(1).is_some_and(|word| {
                        !word.text.starts_with("--") && word.text.contains(['c', 't'])
                            || matches!(word.text.as_str(), "--create" | "--list")
                    })
            }),
        ],
        rules: &[Rule {
            id: "system.unpack",
            when: &[
                "&into-system",
                "&in-system",
                "--absolute-names|-P -x",
                "--remove-files",
            ],
            severity: Severity::Ask,
            reason: "it may overwrite or delete files outside the project",
            alternative: Some("tar -tf archive.tar"),
            catches: &[
                "tar -xf a.tar -C /",
                "tar xzf a.tgz -C /usr",
                "unzip a.zip -d /etc",
                "tar -cf a.tar --remove-files src",
            ],
            spares: &[
                "tar xzf a.tgz",
                "tar -xf a.tar -C build",
                "tar -czf a.tgz -C / etc/hosts",
            ],
        }],
    },
    Tool {
        names: &["ln"],
        takes: "-t -S",
        one_dash: false,
        tests: &[("over-system", |s| {
            s.operands.len() > 1
                && s.operands.last().is_some_and(|(word, _)| {
                    matches!(s.place(&word.text), crate::place::Place::System)
                })
        })],
        rules: &[Rule {
            id: "system.link",
            when: &["&over-system"],
            severity: Severity::Block,
            reason: "it replaces part of the system",
            alternative: Some("ln -s ../a b"),
            catches: &[
                "ln -sf /tmp/x /etc/passwd",
                "ln -s /dev/null /etc/hosts",
                "ln -sf a /usr/bin/python",
            ],
            spares: &["ln -s ../a b", "ln -sf /etc/hosts hosts", "ln a b"],
        }],
    },
    Tool {
        names: &[
            "make", "gmake", "just", "task", "mage", "invoke", "rake", "npm", "yarn", "pnpm",
        ],
        takes: "-C -f -j --directory --file --prefix",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "system.task",
            when: &[
                "destroy|nuke|wipe|drop-db|db-drop|reset-db|db-reset|teardown|purge",
                "run destroy|nuke|wipe|drop-db|db-drop|db:drop|reset-db|db-reset|db:reset|teardown|purge",
            ],
            severity: Severity::Ask,
            reason: "by its name the task deletes more than what can be built again",
            alternative: Some("make -n destroy-cache"),
            catches: &[
                "make destroy",
                "just -f infra.just nuke",
                "npm run db:reset",
            ],
            spares: &["make clean", "npm run build", "make destroy-cache"],
        }],
    },
];

/// Names under which the agent itself may run, or much else.
const RUNTIMES: [&str; 20] = [
    "node", "nodejs", "python", "python3", "java", "bun", "deno", "bash", "sh", "zsh", "fish",
    "ssh", "tmux", "screen", "code", "cursor", "claude", "codex", "gemini", "qwen",
];

fn everything(subject: &Subject<'_>) -> bool {
    let words: Vec<&str> = subject
        .call
        .words
        .iter()
        .skip(1)
        .map(|word| word.text.as_str())
        .collect();
    match subject.call.name.as_str() {
        "kill" => {
            // A first `-1` is a signal, a later one is everybody.
            let targets: &[&str] = match words.split_first() {
                Some((&"-s" | &"-n" | &"--signal", rest)) => rest.get(1..).unwrap_or_default(),
                Some((first, rest)) if first.starts_with('-') && *first != "--" => rest,
                _ => &words,
            };
            targets.contains(&"-1") || targets.contains(&"0") && !words.contains(&"-0")
        }
        "pkill" => {
            words
                .iter()
                .any(|word| matches!(*word, "." | ".*" | "" | "^"))
                || subject
                    .value("-u")
                    .is_some_and(|user| user == "root" || user == "0")
                || subject.value("-u").is_some() && subject.operands.is_empty()
        }
        "killall" => subject.value("-u").is_some(),
        "taskkill" => words.iter().any(|word| word.eq_ignore_ascii_case("*")),
        _ => false,
    }
}

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
