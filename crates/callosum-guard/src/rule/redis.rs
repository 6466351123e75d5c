//! Stores of keys: all of them deleted, or as many as something else names.

use super::{
    Rule, Severity, Subject, Tool,
    database::texts,
    deploy::{names_production, parts},
};
use crate::loopback::is_loopback;

pub(super) const TOOLS: &[Tool] = &[Tool {
    names: &[
        "redis-cli",
        "valkey-cli",
        "keydb-cli",
        "memcached-tool",
        "etcdctl",
    ],
    takes: "-h -p -n -a -u --user --pass --endpoints",
    one_dash: false,
    tests: &[
        ("flushes", |s| {
            // The last of Redis' own databases is the one that suites of tests empty.
            let is_local = |host| matches!(host, None | Some("localhost" | "127.0.0.1" | "::1"));
            let at = s
                .value("-u")
                .and_then(|address| address.strip_suffix("/15"));
            let is_of_tests = s.value("-n") == Some("15") && is_local(s.value("-h"))
                || at.is_some_and(is_loopback);
            texts(s).iter().flat_map(|text| text.lines()).any(|line| {
                let lower = line.trim().to_ascii_lowercase();
                scripted(&lower)
                    || [
                        "flushall",
                        "flushdb",
                        "shutdown",
                        "config set dir",
                        "config set dbfilename",
                        "debug segfault",
                        "cluster reset",
                        "swapdb",
                        "graph.delete",
                    ]
                    .iter()
                    .any(|word| lower.starts_with(word) && !(is_of_tests && *word == "flushdb"))
            }) || s.call.name == "etcdctl"
                && s.operands.iter().any(|(word, _)| word.text == "del")
                && (s.has("--prefix") || s.has("--from-key"))
                || s.call.name == "etcdctl" && s.text().contains("snapshot restore")
        }),
        ("deletes-many", |s| {
            deletes_keys(s)
                && s.operands.iter().any(|(word, _)| {
                    !word.is_known() && (!is_made_again(&word.text) || goes_to_production(s))
                })
        }),
        ("deletes-all", |s| {
            deletes_keys(s) && s.operands.iter().any(|(word, _)| word.source.listed)
        }),
    ],
    rules: &[
        Rule {
            id: "redis.flush",
            when: &["&flushes", "&deletes-all"],
            severity: Severity::Block,
            reason: "it deletes everything that is stored",
            alternatives: &["redis-cli dbsize"],
            #[cfg(test)]
            catches: &[
                "redis-cli FLUSHALL",
                "redis-cli -h prod -n 1 flushdb",
                "redis-cli -h prod -n 15 flushdb",
                "redis-cli -n 15 flushall",
                "redis-cli -u redis://localhost:6379/1 flushdb",
                "echo FLUSHALL | redis-cli",
                "redis-cli shutdown nosave",
                "redis-cli eval \"return redis.call('flushall')\" 0",
                "redis-cli eval \"for _,k in ipairs(redis.call('keys','*')) do redis.call('del',k) end\" 0",
                "echo \"redis.call('flushdb')\" > w.lua; redis-cli --eval w.lua",
                "redis-cli GRAPH.DELETE social",
                "redis-cli unlink $(redis-cli keys '*')",
                "redis-cli --scan | xargs redis-cli del",
            ],
            #[cfg(test)]
            spares: &[
                "redis-cli dbsize",
                "redis-cli get flush",
                "redis-cli eval \"return redis.call('dbsize')\" 0",
                "redis-cli eval \"return redis.call('del', KEYS[1])\" 1 a",
                "redis-cli --eval count.lua",
                "redis-cli -n 15 flushdb",
                "redis-cli -u redis://localhost:6379/15 flushdb",
                "redis-cli ping",
                "redis-cli del key1",
            ],
        },
        Rule {
            id: "redis.delete-many",
            when: &["&deletes-many"],
            severity: Severity::Ask,
            reason: "it deletes all keys that another command lists, and the guard cannot tell which",
            alternatives: &["redis-cli dbsize"],
            #[cfg(test)]
            catches: &[
                "redis-cli keys 'x*' | xargs redis-cli del",
                "redis-cli --scan --pattern 'sess:*' | xargs redis-cli DEL",
                "redis-cli unlink $(redis-cli keys 'user:*')",
                "redis-cli -h prod --scan --pattern 'cache:*' | xargs redis-cli -h prod del",
            ],
            #[cfg(test)]
            spares: &[
                "redis-cli del key1 key2",
                "redis-cli --scan --pattern 'user:*'",
                "redis-cli --scan | xargs redis-cli ttl",
                "redis-cli --scan --pattern 'cache:*' | xargs redis-cli del",
                "redis-cli unlink $(redis-cli keys 'test_*')",
            ],
        },
    ],
}];

/// Whether a script that is run empties a database, or deletes each key that it lists. A file is as it came in.
fn scripted(line: &str) -> bool {
    let calls = line.contains("redis.call") || line.contains("redis.pcall");
    let is_script = calls || line.starts_with("eval ");
    let says = |word: &str| {
        let quoted = [format!("'{word}'"), format!("\"{word}\"")];
        quoted.iter().any(|word| line.contains(word.as_str()))
    };
    is_script
        && (says("flushall")
            || says("flushdb")
            || says("keys") && says("*") && (says("del") || says("unlink")))
}

/// Whether keys of Redis' are deleted by their names.
fn deletes_keys(subject: &Subject<'_>) -> bool {
    let verb = subject.operand(0).to_ascii_lowercase();
    subject.call.name.ends_with("-cli") && matches!(verb.as_str(), "del" | "unlink")
}

/// Whether the known parts of key names mean that the keys are filled again when missed, or are for
/// tests.
fn is_made_again(keys: &str) -> bool {
    const SAYS: [&str; 8] = [
        "cache",
        "caches",
        "cached",
        "tmp",
        "temp",
        "test",
        "tests",
        "ratelimit",
    ];
    let mut parts = parts(keys);
    parts.any(|part| SAYS.contains(&part.as_str()))
}

/// Whether a command names a server that is for production.
fn goes_to_production(subject: &Subject<'_>) -> bool {
    let mut options = ["-h", "-u"].iter();
    options.any(|option| subject.value(option).is_some_and(names_production))
}
