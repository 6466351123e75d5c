//! The catalog of known tools of other servers: the words in their names, and the equivalent
//! command.
//!
//! To make a tool known, add it to [`KNOWN`]; the first entry that fits counts. Deliberately not
//! here: tools that take the arguments of a client, or a kind of thing in a cluster (`server`).

use callosum_guard::tool_name::words;

/// Placeholder for the value that the tool gets.
const NAME: &str = "{}";

/// A tool and its command.
pub(super) struct Known {
    /// Of each group one word is in the tool's name or its server's.
    words: &'static [&'static [&'static str]],
    /// The command's words; [`NAME`] in them is what the tool is given under one of `names`, and a
    /// word in which it is missing is left out.
    pub(super) command: &'static [&'static str],
    pub(super) names: &'static [&'static str],
}

/// Words by which a name says that something goes away.
pub(super) const DELETES: &[&str] = &["delete", "drop", "remove", "destroy", "purge", "wipe"];

const KNOWN: &[Known] = &[
    Known {
        words: &[
            &[
                "redis",
                "valkey",
                "keydb",
                "dragonfly",
                "memcached",
                "memcache",
            ],
            &["flush", "flushall", "flushdb", "clear"],
        ],
        command: &["redis-cli", "flushall"],
        names: &[],
    },
    Known {
        words: &[&["mongo", "mongodb", "atlas"], DELETES, &["database", "db"]],
        command: &["mongosh", "--eval", "db.getSiblingDB('{}').dropDatabase()"],
        names: &["database", "databasename", "db", "name"],
    },
    Known {
        words: &[&["mongo", "mongodb", "atlas"], DELETES, &["collection"]],
        command: &["mongosh", "--eval", "db.{}.drop()"],
        names: &["collection", "collectionname", "name"],
    },
    Known {
        words: &[
            &["mongo", "mongodb", "atlas"],
            &["delete", "remove"],
            &["many"],
        ],
        command: &["mongosh", "--eval", "db.x.deleteMany({})"],
        names: &["filter", "query"],
    },
    Known {
        words: &[&["dynamo", "dynamodb"], DELETES, &["table"]],
        command: &["aws", "dynamodb", "delete-table", "--table-name={}"],
        names: &["tablename", "table", "name"],
    },
    Known {
        words: &[&["drop", "truncate"], &["table", "tables"]],
        command: &["psql", "-c", "DROP TABLE {}"],
        names: &["table", "tablename", "name", "tables"],
    },
    Known {
        words: &[
            &[
                "postgres",
                "postgresql",
                "pg",
                "mysql",
                "mariadb",
                "sqlite",
                "sql",
                "neon",
                "mssql",
            ],
            DELETES,
            &["table", "tables", "schema"],
        ],
        command: &["psql", "-c", "DROP TABLE {}"],
        names: &["table", "tablename", "schema", "name", "tables"],
    },
    Known {
        words: &[
            &[
                "postgres",
                "postgresql",
                "pg",
                "mysql",
                "mariadb",
                "sql",
                "mssql",
            ],
            DELETES,
            &["database", "db"],
        ],
        command: &["psql", "-c", "DROP DATABASE {}"],
        names: &["database", "databasename", "db", "name"],
    },
    Known {
        words: &[
            &["elastic", "elasticsearch", "es", "opensearch"],
            DELETES,
            &["index", "indices", "indexes"],
        ],
        command: &["curl", "-X", "DELETE", "http://localhost:9200/{}"],
        names: &["index", "indexname", "indices", "name"],
    },
    Known {
        words: &[
            &[
                "qdrant",
                "chroma",
                "chromadb",
                "milvus",
                "zilliz",
                "weaviate",
                "typesense",
                "vector",
            ],
            DELETES,
            &["collection", "collections", "class"],
        ],
        command: &[
            "curl",
            "-X",
            "DELETE",
            "http://localhost:6333/collections/{}",
        ],
        names: &["collectionname", "collection", "classname", "name"],
    },
    Known {
        words: &[&["pinecone", "meilisearch", "meili"], DELETES, &["index"]],
        command: &["curl", "-X", "DELETE", "http://localhost:7700/indexes/{}"],
        names: &["indexname", "index", "uid", "name"],
    },
    Known {
        words: &[
            &["kubernetes", "kubectl", "k8s", "kube"],
            DELETES,
            &["namespace"],
        ],
        command: &["kubectl", "delete", "namespace", "{}"],
        names: &["namespace", "name"],
    },
    Known {
        words: &[&["kubernetes", "kubectl", "k8s", "kube"], &["drain"]],
        command: &["kubectl", "drain", "{}"],
        names: &["node", "nodename", "name"],
    },
    Known {
        words: &[&["helm"], &["uninstall", "delete", "remove"]],
        command: &["helm", "uninstall", "{}"],
        names: &["release", "releasename", "name"],
    },
    Known {
        words: &[&["docker", "podman"], DELETES, &["volume", "volumes"]],
        command: &["docker", "volume", "rm", "{}"],
        names: &["volume", "volumename", "name"],
    },
    Known {
        words: &[&["docker", "podman"], &["prune"], &["volume", "volumes"]],
        command: &["docker", "volume", "prune", "-f"],
        names: &[],
    },
    Known {
        words: &[
            &["docker", "podman"],
            &["prune"],
            &["system", "images", "image", "everything"],
        ],
        command: &["docker", "system", "prune", "-a"],
        names: &[],
    },
    Known {
        words: &[
            &["helm"],
            &["uninstall", "delete", "remove"],
            &["chart", "release"],
        ],
        command: &["helm", "uninstall", "{}"],
        names: &["release", "releasename", "name"],
    },
    Known {
        words: &[&["docker", "podman"], &["prune"]],
        command: &["docker", "system", "prune", "-a"],
        names: &[],
    },
    Known {
        words: &[&["docker", "podman"], DELETES, &["container", "containers"]],
        command: &["docker", "rm", "{}"],
        names: &["container", "containerid", "name"],
    },
    Known {
        words: &[&["s3", "minio"], DELETES, &["bucket"]],
        command: &["aws", "s3", "rb", "--force", "s3://{}"],
        names: &["bucket", "bucketname", "name"],
    },
    Known {
        words: &[&["supabase"], DELETES, &["project"]],
        command: &["supabase", "projects", "delete", "{}"],
        names: &["projectid", "ref", "name"],
    },
    Known {
        words: &[&["supabase"], &["delete", "reset"], &["branch"]],
        command: &["supabase", "branches", "delete", "{}"],
        names: &["branchid", "name"],
    },
    Known {
        words: &[&["neon"], &["delete", "reset"], &["branch"]],
        command: &["neonctl", "branches", "delete", "{}"],
        names: &["branchid", "branchname", "name"],
    },
    Known {
        words: &[&["neon"], &["delete"], &["project"]],
        command: &["neonctl", "projects", "delete", "{}"],
        names: &["projectid", "name"],
    },
    Known {
        words: &[&["d1"], DELETES, &["database"]],
        command: &["wrangler", "d1", "delete", "{}"],
        names: &["databaseid", "name"],
    },
    Known {
        words: &[&["kv"], DELETES, &["namespace"]],
        command: &["wrangler", "kv", "namespace", "delete", "--namespace-id={}"],
        names: &["namespaceid", "name"],
    },
    Known {
        words: &[&["r2"], DELETES, &["bucket"]],
        command: &["wrangler", "r2", "bucket", "delete", "{}"],
        names: &["bucket", "bucketname", "name"],
    },
    Known {
        words: &[
            &["github", "gitlab", "gitea"],
            DELETES,
            &["repository", "repo", "project"],
        ],
        command: &["gh", "repo", "delete", "{}"],
        names: &["repo", "repository", "projectid", "name"],
    },
    Known {
        words: &[
            &["github", "gitlab", "gitea"],
            DELETES,
            &["branch", "branches"],
        ],
        command: &["git", "push", "origin", "--delete", "{}"],
        names: &["branch", "branchname", "ref", "name"],
    },
    Known {
        words: &[
            &["rabbitmq", "rabbit"],
            DELETES,
            &["queue", "exchange", "vhost"],
        ],
        command: &["rabbitmqctl", "purge_queue", "{}"],
        names: &["queue", "queuename", "name", "vhost"],
    },
    Known {
        words: &[&["kafka", "redpanda"], DELETES, &["topic", "topics"]],
        command: &["kafka-topics", "--delete", "--topic={}"],
        names: &["topic", "topicname", "name"],
    },
    Known {
        words: &[&["prisma", "migrate"], &["reset"]],
        command: &["prisma", "migrate", "reset"],
        names: &[],
    },
];

/// Words of names that say nothing more.
const BESIDE: [&str; 16] = [
    "all", "by", "id", "name", "force", "the", "db", "database", "sql", "mcp", "tool", "execute",
    "run", "command", "entire", "atlas",
];

/// The known tool of this name.
pub(super) fn known(tool: &str) -> Option<&'static Known> {
    let named = words(tool);
    let says = |group: &[&str]| named.iter().any(|word| group.contains(&word.as_str()));
    let own = words(own_name(tool));
    KNOWN.iter().find(|known| {
        let names_object = |word: &String| {
            let mut groups = known.words.iter();
            BESIDE.contains(&word.as_str()) || groups.any(|group| group.contains(&word.as_str()))
        };
        // If the name has a further word, the tool deals with a part of the thing and not with the
        // thing itself.
        known.words.iter().all(|group| says(group)) && own.iter().all(names_object)
    })
}

/// The words of a command, with what the tool is given in its place.
pub(super) fn filled(command: &[&str], value: Option<&str>) -> Vec<String> {
    let words = command.iter().filter_map(|word| match value {
        Some(value) => Some(word.replace(NAME, value)),
        // Of a statement or an address it is not the name that counts.
        None => {
            (!word.contains(NAME) || word.contains([' ', '(', '/'])).then(|| (*word).to_owned())
        }
    });
    words.collect()
}

/// The tool's own name, without its server's.
pub(super) fn own_name(tool: &str) -> &str {
    match tool.strip_prefix("mcp__") {
        Some(rest) => rest.split_once("__").map_or(rest, |(_, own)| own),
        None => tool,
    }
}
