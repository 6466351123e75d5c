//! Processes: those that others need, and those of every program of a kind.

use super::{Rule, Severity, Subject, Tool};
use crate::{analyze::value::Source, process_names::is_of_many};

pub(super) const TOOLS: &[Tool] = &[
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
        takes: "-s -n -u -U -g -t -P -G --signal --parent",
        one_dash: false,
        tests: &[
            ("everything", everything),
            ("ours", ends_ours),
            ("broad", |s| {
                // What this shell has started itself.
                let of_one = s.call.name == "pkill"
                    && ["-P", "--parent"]
                        .iter()
                        .any(|option| s.value(option).is_some_and(|parent| parent != "1"));
                !of_one
                    && matches!(
                        s.call.name.as_str(),
                        "pkill" | "killall" | "skill" | "Stop-Process" | "taskkill"
                    )
                    && !only_looks(s)
                    && s.operands.iter().any(|(word, _)| is_of_many(&word.text))
            }),
            ("of-kind", |s| {
                !only_looks(s) && sources(s).any(|source| source.of_kind)
            }),
            ("parent", |s| {
                // What ends there is a process of that machine, not one that the agent depends on.
                let mut words = s.call.words.iter().skip(1);
                let is_named = words.any(|word| word.source.parent);
                let is_piped = sources(s).any(|source| source.parent);
                (is_named || is_piped) && !s.call.elsewhere && !only_looks(s)
            }),
            ("of-user", |s| sources(s).any(|source| source.of_user)),
            ("vital-process", |s| {
                // The first process of a container is that program's own.
                let is_contained = s.call.contained || s.call.elsewhere && s.call.via == "exec";
                !is_contained
                    && s.operands.iter().any(|(word, _)| {
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
                    })
                    && !s
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
                reason: "it ends every program of that kind, including the agent and its shell",
                alternatives: &["pgrep -fl {0}"],
                #[cfg(test)]
                catches: &[
                    "killall -9 node",
                    "pkill -f python3",
                    "pkill node",
                    "killall bash",
                    "pkill -f '^node$'",
                    "pkill -f postgres",
                    "pkill chrome",
                    "taskkill /F /IM node.exe",
                ],
                #[cfg(test)]
                spares: &[
                    "pkill -f 'node server.js'",
                    "pkill -f chromedriver",
                    "taskkill /F /IM my-server.exe",
                    "taskkill /F /PID 4242",
                    "killall my-server",
                    "pkill -0 node",
                    "pkill -P $$ node",
                ],
            },
            Rule {
                id: "system.kill-kind",
                when: &["&of-kind !-l !-L"],
                severity: Severity::Ask,
                reason: "these are the process IDs of every program of that kind, including the agent and its shell",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "kill -9 $(pgrep node)",
                    "kill `pidof python3`",
                    "pgrep -f postgres | xargs kill",
                    "ps aux | grep '[n]ode' | awk '{print $2}' | xargs kill -9",
                    "ps aux | awk '/node/{print $2}' | xargs -r kill",
                    "kill $(lsof -t -c node)",
                    "kill $(pgrep -u $USER node)",
                    "kill $(ps -C node -o pid=)",
                    "for p in $(pgrep node); do kill -9 $p; done",
                ],
                #[cfg(test)]
                spares: &[
                    "kill $(pgrep -f 'node server.js')",
                    "kill $(pgrep -n node)",
                    "kill -0 $(pgrep node)",
                    "pgrep -f target/debug/p | xargs -r kill",
                    "ps aux | grep node | grep vite | awk '{print $2}' | xargs kill",
                    "lsof -nP -iTCP:3000 | grep node | awk '{print $2}' | xargs kill",
                    "ps aux | grep node",
                ],
            },
            Rule {
                id: "system.kill-user",
                when: &["&of-user !-l !-L"],
                severity: Severity::Ask,
                reason: "it ends processes of another user, or all processes of one user or of everyone",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "pgrep -u postgres | xargs kill -9",
                    "kill $(pgrep -u root)",
                    "kill -9 $(pgrep -u $USER)",
                    "kill -9 $(ps aux | grep -v root | awk '{print $2}')",
                    "ps -eo pid | xargs kill -9",
                ],
                #[cfg(test)]
                spares: &[
                    "pgrep -u postgres",
                    "kill $(pgrep -u $USER next-server)",
                    "kill $(pgrep -u u -f vite)",
                    "kill $(pgrep -f vite)",
                    "kill $(ps aux | grep vite | grep -v grep | awk '{print $2}')",
                    "ps aux | awk '/vite/ {print $2}' | xargs kill",
                    "kill $(ps -o pid= --ppid 4242)",
                ],
            },
            Rule {
                id: "system.kill-parent",
                when: &["&parent !-l !-L"],
                severity: Severity::Ask,
                reason: "it ends the parent of a process, which may be the agent itself",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "kill -9 $PPID",
                    "kill -- -$PPID",
                    "kill $(ps -o ppid= -p \"$(cat server.pid)\")",
                    "kill \"$(ps -p 4242 -oppid= | tr -d ' ')\"",
                    "ps --format ppid= -p $$ | xargs kill",
                    "P=$(ps -o pid=,ppid= -p 4242 | awk '{print $2}'); kill $P",
                    "ps -ef | grep server.js | awk '{print $3}' | xargs kill",
                    "kill $(cut -d' ' -f4 /proc/4242/stat)",
                    "kill $(grep PPid /proc/4242/status | cut -f2)",
                    "pkill -P $PPID",
                    "python3 -c 'import os; os.kill(os.getppid(), 9)'",
                    "node -e 'process.kill(process.ppid)'",
                ],
                #[cfg(test)]
                spares: &[
                    "kill \"$(cat server.pid)\"",
                    "kill -0 $PPID",
                    "ps -o ppid= -p $$",
                    "ps -o pid,ppid,args -p 4242 | awk '{print $1}' | xargs kill",
                    "ps -ef | grep server.js | awk '{print $2}' | xargs kill",
                    "kill $(ps -o pid= --ppid 4242)",
                    "pkill -P $$",
                    "PPID_FILE=a.pid; kill $(cat $PPID_FILE)",
                    "kill $!",
                    "python3 -c 'import os; os.kill(int(open(\"a.pid\").read()), 9)'",
                ],
            },
            Rule {
                id: "self.stop-process",
                when: &["&ours !-l !-L"],
                severity: Severity::Ask,
                reason: "it ends callosum and everything that callosum runs",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "pkill -f callosum",
                    "killall callosum",
                    "kill $(pgrep callosum)",
                    "pgrep -f callosum | xargs kill -9",
                    "ps aux | grep callosum | awk '{print $2}' | xargs kill",
                ],
                #[cfg(test)]
                spares: &[
                    "pgrep callosum",
                    "pkill -0 callosum",
                    "kill $(pgrep -f server.js)",
                    "pkill -f my-server",
                ],
            },
            Rule {
                id: "system.kill-all",
                when: &["&everything", "&vital-process"],
                severity: Severity::Block,
                reason: "it ends every process, or one that others need",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "kill -9 -1",
                    "kill -KILL -1",
                    "kill -9 1",
                    "pkill -9 -u root",
                    "ssh web kill -9 1",
                    "kill -s 9 -- -1",
                    "pkill systemd",
                ],
                #[cfg(test)]
                spares: &[
                    "kill 4242",
                    "kill -9 4242",
                    "kill -1 4242",
                    "docker exec web kill -HUP 1",
                    "pkill -f server.js",
                    "trap 'kill 0' EXIT; npm run dev",
                    "kill -l",
                ],
            },
        ],
    },
    Tool {
        names: &["fuser"],
        takes: "-n --namespace -s -SIGNAL",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "system.kill-users-of",
            when: &[
                "-k|--kill -m|-M|-c|--mount|--ismountpoint",
                "-k|--kill @vital|@system|@project",
            ],
            severity: Severity::Ask,
            reason: "it ends every process that uses anything on that disk, or works in that folder",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "fuser -km /",
                "fuser -k -m /home",
                "fuser --kill --mount /srv",
                "fuser -k /",
                "fuser -k .",
            ],
            #[cfg(test)]
            spares: &[
                "fuser -k 3000/tcp",
                "fuser -k app.log",
                "fuser -vm /",
                "fuser 8080/tcp",
            ],
        }],
    },
    Tool {
        names: &["pm2"],
        takes: "-i -n --name",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "system.kill-managed",
            when: &["delete|stop|del all", "kill"],
            severity: Severity::Ask,
            reason: "it ends everything that pm2 runs, in all projects",
            alternatives: &["pm2 list"],
            #[cfg(test)]
            catches: &["pm2 delete all", "pm2 stop all", "npx pm2 kill"],
            #[cfg(test)]
            spares: &["pm2 list", "pm2 delete shop", "pm2 restart all"],
        }],
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
            alternatives: &[],
            #[cfg(test)]
            catches: &["killall5", "killall5 -9", "command killall5"],
            #[cfg(test)]
            spares: &["man killall5", "which killall5", "killall my-server"],
        }],
    },
];

/// Whether it asks no more than whether they are there.
fn only_looks(subject: &Subject<'_>) -> bool {
    subject.call.words.iter().any(|word| word.text == "-0")
}

/// Lists the sources of the processes that it ends: its operands, and for PowerShell its input.
fn sources<'s>(subject: &'s Subject<'_>) -> impl Iterator<Item = Source> + 's {
    let call = subject.call;
    let piped = call.input.as_ref().filter(|_| call.name == "Stop-Process");
    let piped = piped.map(|input| input.source);
    let operands = subject.operands.iter().map(|(word, _)| word.source);
    operands.chain(piped)
}

/// Whether it ends processes of this program, by its name or by their numbers.
fn ends_ours(subject: &Subject<'_>) -> bool {
    let by_name = subject.call.name != "kill";
    !only_looks(subject)
        && subject.operands.iter().any(|(word, _)| {
            let name = word.text.trim_matches(['^', '$', '*', '.']);
            word.source.ours
                || by_name
                    && (name.contains("callosum") || name.len() > 4 && "callosum".starts_with(name))
        })
}

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
            let ends_group = targets.contains(&"0") && !words.contains(&"-0");
            // `trap 'kill 0' EXIT`: a script takes along at its end what it has started.
            targets.contains(&"-1") || ends_group && subject.call.via != "trap"
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
