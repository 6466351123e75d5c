//! The machine as a whole: stopping it, its services, schedules and history, and tasks by their name.

use super::{Rule, Severity, Tool};

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
            alternatives: &[],
            #[cfg(test)]
            catches: &["shutdown -h now", "reboot", "init 0", "poweroff -f"],
            #[cfg(test)]
            spares: &["shutdown -c", "reboot --help", "npm init"],
        }],
    },
    Tool {
        names: &[
            "systemctl",
            "launchctl",
            "service",
            "rc-service",
            "loginctl",
        ],
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
                alternatives: &["systemctl status"],
                #[cfg(test)]
                catches: &[
                    "systemctl poweroff",
                    "systemctl reboot -i",
                    "systemctl isolate rescue.target",
                ],
                #[cfg(test)]
                spares: &[
                    "systemctl status",
                    "systemctl list-units",
                    "systemctl --user status x",
                ],
            },
            Rule {
                id: "system.session",
                when: &["terminate-user|kill-user|terminate-session|kill-session|terminate-seat"],
                severity: Severity::Ask,
                reason: "it ends everything that a user runs, including the agent and its shell",
                alternatives: &["loginctl list-sessions"],
                #[cfg(test)]
                catches: &[
                    "loginctl terminate-user u",
                    "loginctl kill-session 2",
                    "loginctl kill-user u",
                ],
                #[cfg(test)]
                spares: &[
                    "loginctl list-sessions",
                    "loginctl enable-linger u",
                    "loginctl show-user u",
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
                reason: "it changes what runs on the machine, for other users too",
                alternatives: &["systemctl status {1}", "systemctl list-units"],
                #[cfg(test)]
                catches: &[
                    "systemctl stop sshd",
                    "systemctl disable --now firewalld",
                    "service nginx stop",
                    "launchctl unload x.plist",
                ],
                #[cfg(test)]
                spares: &[
                    "systemctl is-active x",
                    "systemctl --user restart x",
                    "service nginx status",
                ],
            },
        ],
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
                alternatives: &["crontab -l"],
                #[cfg(test)]
                catches: &["crontab -r", "crontab -u me -r", "crontab -ri"],
                #[cfg(test)]
                spares: &["crontab -l", "crontab -h", "man crontab"],
            },
            Rule {
                id: "system.crontab-set",
                when: &["&replaces !-r"],
                severity: Severity::Ask,
                reason: "it replaces every scheduled command",
                alternatives: &["crontab -l"],
                #[cfg(test)]
                catches: &[
                    "crontab jobs.txt",
                    "echo '* * * * * x' | crontab -",
                    "crontab -u me f",
                ],
                #[cfg(test)]
                spares: &["crontab -l", "crontab -l > jobs.txt", "cat crontab"],
            },
        ],
    },
    Tool {
        names: &["defaults"],
        takes: "-host -app",
        one_dash: true,
        tests: &[],
        rules: &[Rule {
            id: "system.defaults",
            when: &[
                "delete|remove * !*",
                "delete|remove -g|-globalDomain !*",
                "delete|remove -app !*",
            ],
            severity: Severity::Ask,
            reason: "it deletes every setting of a program",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "defaults delete com.apple.dock",
                "defaults delete -g",
                "defaults -currentHost delete com.apple.screensaver",
            ],
            #[cfg(test)]
            spares: &[
                "defaults delete com.apple.dock autohide",
                "defaults read com.apple.dock",
                "defaults write com.apple.dock autohide -bool true",
            ],
        }],
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
            alternatives: &["history"],
            #[cfg(test)]
            catches: &["history -c", "history -cw", "history -w"],
            #[cfg(test)]
            spares: &["history", "history 20", "history -a"],
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
                "destroy|nuke|wipe|drop-db|db-drop|reset-db|db-reset|teardown|purge !-n|--dry-run|--just-print",
                "run destroy|nuke|wipe|drop-db|db-drop|db:drop|reset-db|db-reset|db:reset|teardown|purge",
            ],
            severity: Severity::Ask,
            reason: "judging by its name, the task deletes more than can be rebuilt",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "make destroy",
                "just -f infra.just nuke",
                "npm run db:reset",
            ],
            #[cfg(test)]
            spares: &[
                "make clean",
                "npm run build",
                "make destroy-cache",
                "make -n destroy",
            ],
        }],
    },
];
