//! Meaning of the name of a server's tool, if nothing else is known of it.

/// Verbs that delete a thing.
const ENDS: [&str; 13] = [
    "drop",
    "delete",
    "remove",
    "destroy",
    "purge",
    "wipe",
    "truncate",
    "flush",
    "erase",
    "nuke",
    "reset",
    "clear",
    "terminate",
];

/// Containers that hold so much that all of it is lost with them.
const HOLDS: [&str; 41] = [
    "all",
    "everything",
    "database",
    "databases",
    "db",
    "schema",
    "keyspace",
    "collection",
    "collections",
    "index",
    "indexes",
    "indices",
    "bucket",
    "buckets",
    "namespace",
    "volume",
    "volumes",
    "stack",
    "queue",
    "topic",
    "repository",
    "repo",
    "project",
    "dataset",
    "tenant",
    "workspace",
    "stacks",
    "topics",
    "projects",
    "workspaces",
    "table",
    "tables",
    "droplet",
    "mount",
    "organization",
    "backup",
    "backups",
    "snapshot",
    "snapshots",
    "channel",
    "graph",
];

/// Things that hold as much, but survive a reset or a clear.
const LASTING: [&str; 16] = [
    "app",
    "apps",
    "application",
    "service",
    "server",
    "vm",
    "machine",
    "worker",
    "site",
    "environment",
    "account",
    "zone",
    "domain",
    "instance",
    "instances",
    "cluster",
];

/// Things whose total is as much.
const HELD: [&str; 10] = [
    "data",
    "documents",
    "records",
    "rows",
    "objects",
    "points",
    "vectors",
    "keys",
    "files",
    "messages",
];

/// Words before a mere selection of the thing.
const FOUND: [&str; 4] = ["by", "with", "if", "all"];

/// Words that say all by themselves.
const ENTIRE: [&str; 4] = ["flushall", "flushdb", "dropdb", "wipedb"];

/// The words of a name, in small letters: `deleteFile`, `delete_file` and `delete-file` have two.
pub fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() && was_small {
            words.push(String::new());
        }
        was_small = letter.is_lowercase();
        if let Some(word) = words.last_mut()
            && letter.is_alphanumeric()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a tool of this name deletes all that something holds: `drop_database`,
/// `deleteCollection`, `flush_all`, `index_delete`. It ignores names of a part of it
/// (`delete_repository_secret`).
pub fn deletes_all(name: &str) -> bool {
    let words = words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words.iter().any(|word| ENTIRE.contains(word)) {
        return true;
    }
    (0..words.len()).any(|at| {
        let (first, rest) = (words[at], &words[at + 1..]);
        let is_end = |rest: &[&str]| rest.first().is_none_or(|next| FOUND.contains(next));
        match rest {
            [] => false,
            ["all" | "entire" | "whole", thing, rest @ ..] if ENDS.contains(&first) => {
                (HELD.contains(thing) || holds(first, thing)) && is_end(rest)
            }
            [thing, rest @ ..] if ENDS.contains(&first) => holds(first, thing) && is_end(rest),
            [verb, rest @ ..] => ENDS.contains(verb) && holds(verb, first) && is_end(rest),
        }
    })
}

/// Whether all that a thing holds is lost where this is done to it. An index of a database is built
/// again.
fn holds(verb: &str, thing: &str) -> bool {
    match (verb, thing) {
        ("drop", "index" | "indexes") => false,
        // These start from scratch, or only change the view.
        ("reset" | "clear" | "flush", thing) if LASTING.contains(&thing) => false,
        _ => HOLDS.contains(&thing) || LASTING.contains(&thing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-SHIM-1: the meaning of a name counts in any spelling.
    #[test]
    fn a_name_says_whether_all_of_something_goes() {
        for name in [
            "drop_database",
            "deleteCollection",
            "flush-all",
            "FLUSHALL",
            "truncate_table",
            "es_delete_index",
            "deleteBucket",
            "reset_database",
            "collection-delete",
            "delete_all_documents",
            "delete_index_by_name",
            "fly-apps-destroy",
            "droplet-delete",
            "terminate_instances",
            "clear_table",
            "delete_vm",
        ] {
            assert!(deletes_all(name), "{name}");
        }
        for name in [
            "delete_row",
            "drop_index",
            "remove_comment",
            "list_databases",
            "flush_logs",
            "create_collection",
            "delete_table_row",
            "delete_repository_secret",
            "delete_project_item",
            "remove_all_listeners",
            "reset_password",
            "reset_environment",
            "clear_cache",
            "delete_service_account_key",
            "remove_channel_member",
        ] {
            assert!(!deletes_all(name), "{name}");
        }
    }
}
