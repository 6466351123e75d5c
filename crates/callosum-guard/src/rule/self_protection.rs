//! This program's own switches: what an agent is allowed is not for the agent to say.

use super::{Rule, Severity, Tool};

pub(super) const TOOLS: &[Tool] = &[OURS, CLAUDE, CODEX, GEMINI];

const OURS: Tool = Tool {
    names: &["callosum"],
    takes: "-C --scope --client --for --color --agent --as --session -n --limit --preset",
    one_dash: false,
    tests: &[("sets-level", |s| {
        // `guard rule ID` only shows the rule.
        s.operands.len() > 3
    })],
    rules: &[
        Rule {
            id: "self.change-permissions",
            when: &[
                "guard allow !--list !--help !-h",
                "guard revoke !--help !-h",
                "guard rule &sets-level !--help !-h",
                "guard secrets on|off|add|remove !--help !-h",
                "guard auto-allow on|off|add|remove !--help !-h",
            ],
            severity: Severity::Block,
            reason: "only a person may change permissions, in their own terminal",
            alternatives: &["callosum guard allow --list"],
            #[cfg(test)]
            catches: &[
                "callosum guard allow 'git push *'",
                "callosum -C /work guard allow --once 'npm publish'",
                "/usr/local/bin/callosum guard allow --for 10m ls",
                "env X=1 bash -c 'callosum --json guard allow x'",
                "callosum guard revoke 3f2a91c4",
                "callosum guard rule git.reset-hard allow",
                "callosum guard rule --for 10m git.reset-hard ask",
                "callosum guard rule git.reset-hard default --project",
                "callosum guard secrets off",
                "callosum -C sub guard secrets remove '.env*'",
                "callosum guard auto-allow on",
                "callosum --json guard auto-allow add 'rm *'",
                "env X=1 callosum -C /work guard auto-allow add --preset rust",
            ],
            #[cfg(test)]
            spares: &[
                "callosum guard allow --list",
                "callosum guard check -- git push",
                "echo callosum guard allow x",
                "callosum guard log",
                "callosum guard rule git.reset-hard",
                "callosum guard rules --set",
                "callosum guard secrets list",
                "callosum guard auto-allow list",
                "callosum guard auto-allow presets",
            ],
        },
        Rule {
            id: "self.trust-repository",
            when: &["trust !--list !--help !-h"],
            severity: Severity::Block,
            reason: "only a person may allow what a repository runs",
            alternatives: &["callosum trust --list"],
            #[cfg(test)]
            catches: &[
                "callosum trust",
                "callosum trust --yes",
                "callosum -C . trust scout",
            ],
            #[cfg(test)]
            spares: &[
                "callosum trust --list",
                "callosum status",
                "git log --grep 'callosum trust'",
            ],
        },
        Rule {
            id: "self.remove-hooks",
            when: &[
                "uninstall !--dry-run !--help !-h",
                "init --yes|-y !--dry-run",
            ],
            severity: Severity::Block,
            reason: "an agent may not remove the guard that checks it",
            alternatives: &["callosum doctor"],
            #[cfg(test)]
            catches: &[
                "callosum uninstall",
                "callosum uninstall --client claude",
                "cd /tmp && callosum init --yes",
            ],
            #[cfg(test)]
            spares: &[
                "callosum uninstall --help",
                "callosum init",
                "npm uninstall callosum",
            ],
        },
        Rule {
            id: "self.approve-plan",
            when: &[
                "constitution sign !--help !-h",
                "capability restore !--help !-h",
                "capability accept !--help !-h",
                "plan approve !--refuse !--help !-h",
            ],
            severity: Severity::Block,
            reason: "only a person may decide what plans may do, in their own terminal",
            alternatives: &["callosum constitution show"],
            #[cfg(test)]
            catches: &[
                "callosum constitution sign ~/.config/callosum/constitution.cedar",
                "callosum -C sub capability restore mesh.publish",
                "callosum capability accept tool.wiki.look_up",
                "callosum plan approve 0f3a",
                "callosum --json plan approve 0f3a 9c1d",
            ],
            #[cfg(test)]
            spares: &[
                "callosum constitution check .cal_constitution.cedar",
                "callosum capability revoke mesh.publish",
                "callosum capability show tool.wiki.look_up",
                "callosum plan approve 0f3a 9c1d --refuse",
                "callosum plan resume 0f3a",
            ],
        },
        Rule {
            id: "self.settle-call",
            when: &["plan resume --set-result|--retry-call"],
            severity: Severity::Ask,
            reason: "only a person who has checked may say whether a call was made",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "callosum plan resume 0f3a --retry-call 9c1d",
                "callosum plan resume 0f3a --set-result '9c1d={:status \"sent\"}'",
                "callosum -C sub plan resume 0f3a --retry-call=9c1d",
            ],
            #[cfg(test)]
            spares: &[
                "callosum plan resume 0f3a",
                "callosum plan show 0f3a",
                "callosum plan cancel 0f3a",
            ],
        },
        Rule {
            id: "self.prune-snapshots",
            when: &["snapshot clean !--help !-h"],
            severity: Severity::Ask,
            reason: "it deletes snapshots that could undo a mistake",
            alternatives: &["callosum snapshot list"],
            #[cfg(test)]
            catches: &[
                "callosum snapshot clean",
                "callosum snapshot clean --older-than 1h",
                "callosum -C sub snapshot clean --max-bytes 1",
            ],
            #[cfg(test)]
            spares: &[
                "callosum snapshot list",
                "callosum snapshot create",
                "callosum snapshot clean --help",
            ],
        },
        Rule {
            id: "self.undo",
            when: &["undo !--list !--dry-run !--help !-h"],
            severity: Severity::Ask,
            reason: "it undoes changes of an agent, and only a person may decide that",
            alternatives: &["callosum undo --dry-run"],
            #[cfg(test)]
            catches: &[
                "callosum undo",
                "callosum undo --yes --agent codex",
                "CALLOSUM_ASSUME_YES=1 callosum -C sub undo 3f2a91c4 --force",
            ],
            #[cfg(test)]
            spares: &[
                "callosum undo --list",
                "callosum undo --agent claude --dry-run",
                "callosum undo --help",
            ],
        },
        Rule {
            id: "self.change-config",
            when: &["config set"],
            severity: Severity::Block,
            reason: "only a person may change the configuration",
            alternatives: &["callosum config show --origin"],
            #[cfg(test)]
            catches: &[
                "callosum config set audit_path /tmp/x",
                "callosum --json config set concurrency_limit 8",
                "nohup callosum config set executors.x.enabled true &",
            ],
            #[cfg(test)]
            spares: &[
                "callosum config show",
                "callosum config check",
                "git config set user.name x",
            ],
        },
    ],
};

/// Reason for blocking the options of clients that disable the guard.
const TAKEN_AWAY: &str = "an agent may not remove the guard that checks it";

const CLAUDE: Tool = Tool {
    names: &["claude"],
    takes: "-s --scope --settings",
    one_dash: false,
    tests: &[],
    rules: &[
        Rule {
            id: "self.bypass-hooks",
            when: &["--bare|--safe-mode", "--settings=*disableAllHooks*"],
            severity: Severity::Ask,
            reason: "no guard checks what an agent does there",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "claude --bare -p 'fix the tests'",
                "claude -p x --settings '{\"disableAllHooks\":true}'",
                "timeout 60 claude --safe-mode",
            ],
            #[cfg(test)]
            spares: &[
                "claude -p 'explain the tests'",
                "claude --settings ci.json -p x",
                "claude --help",
            ],
        },
        Rule {
            id: "self.remove-gate",
            when: &[
                "plugin|plugins disable|uninstall|remove|rm callosum*",
                "plugin|plugins disable -a|--all",
                "plugin|plugins marketplace remove|rm callosum*",
            ],
            severity: Severity::Block,
            reason: TAKEN_AWAY,
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "claude plugin disable callosum@callosum",
                "claude plugin uninstall --scope user callosum",
                "claude plugins disable --all",
                "claude plugin marketplace remove callosum",
            ],
            #[cfg(test)]
            spares: &[
                "claude plugin disable formatter",
                "claude plugin list",
                "claude -p 'plugin disable callosum'",
            ],
        },
    ],
};

const CODEX: Tool = Tool {
    names: &["codex"],
    takes: "-c --config -m --model -C --cd -s --sandbox -p --profile --disable --enable",
    one_dash: false,
    tests: &[],
    rules: &[Rule {
        id: "self.bypass-hooks-codex",
        when: &[
            "--disable=hooks",
            "-c=features.hooks=false",
            "--config=features.hooks=false",
        ],
        severity: Severity::Ask,
        reason: "no guard checks what an agent does there",
        alternatives: &[],
        #[cfg(test)]
        catches: &[
            "codex exec --disable hooks x",
            "codex --disable hooks",
            "codex exec -c features.hooks=false x",
        ],
        #[cfg(test)]
        spares: &[
            "codex exec 'explain the tests'",
            "codex exec --enable hooks x",
            "codex exec -c model=o3 x",
        ],
    }],
};

const GEMINI: Tool = Tool {
    names: &["gemini", "qwen"],
    takes: "",
    one_dash: false,
    tests: &[],
    rules: &[Rule {
        id: "self.remove-prompt",
        when: &["hooks disable-all", "hooks disable callosum*"],
        severity: Severity::Block,
        reason: TAKEN_AWAY,
        alternatives: &[],
        #[cfg(test)]
        catches: &[
            "gemini hooks disable-all",
            "gemini hooks disable callosum",
            "qwen hooks disable callosum",
        ],
        #[cfg(test)]
        spares: &[
            "gemini hooks list",
            "gemini hooks enable-all",
            "gemini hooks disable formatter",
        ],
    }],
};
