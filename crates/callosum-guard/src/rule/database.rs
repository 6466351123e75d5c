//! Databases: statements that delete more than a row, given to the clients of databases. What frameworks and
//! migrations do to one is in `migration`.

use super::{Rule, Severity, Subject, Tool, scratch_name::says_scratch, statement::destroys_sql};
use crate::{generated_sql, loopback::is_loopback, path_class::PathClass};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &[
            "psql",
            "mysql",
            "mariadb",
            "sqlite3",
            "sqlite",
            "sqlcmd",
            "cockroach",
            "clickhouse-client",
            "clickhouse",
            "duckdb",
            "usql",
            "pgcli",
            "mycli",
            "litecli",
            "bq",
            "snowsql",
            "trino",
            "presto",
            "hive",
            "beeline",
            "impala-shell",
            "cqlsh",
            "isql",
            "sqlplus",
            "osql",
            "rqlite",
            "turso",
            "prisma",
            "wrangler",
            "ibis",
            "dolt",
            "tsql",
        ],
        takes: "-h -p -U -u -d -f -D --host --port --user --username --dbname --database",
        one_dash: false,
        tests: &[
            ("destroys", |s| {
                let makes = |text: &String| {
                    let made = generated_sql::made_by(text)
                        .filter(|_| generated_sql::runs_what_it_makes(text));
                    made.is_some_and(|made| destroys_sql(&made.replace("execute", "")))
                };
                let texts = texts(s);
                let mut texts = texts.iter();
                let is_tried = s.call.name == "bq" && (s.has("--dry_run") || s.has("-dry_run"));
                texts.any(|text| destroys_sql(text) || makes(text)) && !is_scratch(s) && !is_tried
            }),
            ("replaces", |s| {
                let input = s.call.input.as_ref();
                let restores = || {
                    s.call
                        .words
                        .iter()
                        .any(|word| word.text.starts_with(".restore"))
                };
                let of_dump = input.is_some_and(|input| input.text.contains(generated_sql::DUMP));
                (of_dump || s.call.name.starts_with("sqlite") && restores()) && !is_scratch(s)
            }),
        ],
        rules: &[
            Rule {
                id: "database.destroy",
                when: &["&destroys"],
                severity: Severity::Block,
                reason: "it deletes data that cannot be recovered",
                alternatives: &["psql -l"],
                #[cfg(test)]
                catches: &[
                    "psql -c 'DROP TABLE users'",
                    "mysql -e 'drop database prod'",
                    "sqlite3 x.db 'DELETE FROM t;'",
                    "python3 -c \"import sqlite3; sqlite3.connect('x.db').execute('DELETE FROM t')\"",
                    "echo 'TRUNCATE t' | psql",
                    "psql <<< 'DROP SCHEMA public CASCADE'",
                    "psql -c \"UPDATE u SET admin = true\"",
                    "psql -c 'ALTER TABLE t DROP COLUMN c'",
                    "psql -c 'EXPLAIN ANALYZE DELETE FROM users'",
                    "psql latest -c 'DROP TABLE users'",
                    "PGDATABASE=shop psql -c 'DROP TABLE users'",
                    "PGDATABASE=shop_test psql -d shop -c 'DROP TABLE users'",
                    "mysql shop_test -e 'use shop; drop table users'",
                    "bq query --nodry_run 'DROP TABLE d.t'",
                    "bq query --dry_run=false 'DROP TABLE d.t'",
                    "sqlite3 x.db <<< $'.tables\\ndelete from t;'",
                    "psql <<< $'-- all of it\\nDROP TABLE t;'",
                    "psql -tc \"select 'drop table ' || t || ';' from x\" | psql",
                    "psql -c \"select format('drop table %I', t) from x \\\\gexec\"",
                    "mysql -Ne \"SELECT CONCAT('DROP TABLE ', t, ';') FROM x\" | mysql db",
                ],
                #[cfg(test)]
                spares: &[
                    "psql -c 'SELECT 1'",
                    "mysql -e \"select 'drop table x'\"",
                    "sqlite3 x.db 'DELETE FROM t WHERE id = 1'",
                    "sqlite3 :memory: 'create table t(a); drop table t'",
                    "sqlite3 /tmp/trial.db 'drop table t'",
                    "npx wrangler d1 execute x --local --command 'DROP TABLE t'",
                    "psql shop_test -c 'DROP TABLE users'",
                    "PGDATABASE=shop_test psql -c 'DROP TABLE users'",
                    "export PGDATABASE=shop_test; psql -f - <<< 'DROP TABLE users'",
                    "mysql -e 'DROP DATABASE IF EXISTS shop_test'",
                    "psql -c 'DROP INDEX CONCURRENTLY by_name'",
                    "psql -c 'EXPLAIN DELETE FROM users'",
                    "psql -l",
                    "bq query --dry_run 'DELETE FROM d.t WHERE true'",
                    "bq --dry_run=true query 'DROP TABLE d.t'",
                ],
            },
            Rule {
                id: "database.replace",
                when: &["&replaces"],
                severity: Severity::Ask,
                reason: "the dump or copy drops existing tables before it writes its own",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "mysqldump src | mysql dst",
                    "pg_dump --clean src | psql dst",
                    "mysqldump src > d.sql; mysql dst < d.sql",
                    "sqlite3 app.db '.restore old.db'",
                ],
                #[cfg(test)]
                spares: &[
                    "mysqldump src | gzip > d.sql.gz",
                    "pg_dump src | psql dst",
                    "mysqldump --skip-add-drop-table src | mysql dst",
                    "mysqldump src | mysql shop_test",
                ],
            },
        ],
    },
    Tool {
        names: &["pg_ctl", "pg_ctlcluster"],
        takes: "-D -m -l -o -p -s -t --pgdata --mode --log --options --timeout",
        one_dash: false,
        tests: &[("stops", |s| {
            let mut words = s.operands.iter().map(|(word, _)| word.text.as_str());
            let is_passing = ["-D", "--pgdata"].iter().any(|option| {
                s.value(option)
                    .is_some_and(|at| s.place(at) == PathClass::Free)
            });
            words.any(|word| matches!(word, "stop" | "restart")) && !is_passing
        })],
        rules: &[Rule {
            id: "database.stop",
            when: &["&stops -m=i*|--mode=i*"],
            severity: Severity::Ask,
            reason: "it stops the server and all its work in progress, like a power failure",
            alternatives: &["pg_ctl status"],
            #[cfg(test)]
            catches: &[
                "pg_ctl stop -m immediate",
                "pg_ctl -D data -mi restart",
                "pg_ctlcluster 16 main stop --mode immediate",
            ],
            #[cfg(test)]
            spares: &[
                "pg_ctl -D data stop",
                "pg_ctl stop -m fast",
                "pg_ctl -D data -l log start",
                "pg_ctl -D /tmp/pg -m immediate stop",
            ],
        }],
    },
    Tool {
        names: &[
            "dropdb",
            "dropuser",
            "mysqladmin",
            "mongodump",
            "mongorestore",
            "pg_restore",
            "pg_resetwal",
            "pg_dropcluster",
        ],
        takes: "-h -p -U -u -d --dbname",
        one_dash: false,
        tests: &[("destroys", |s| match s.call.name.as_str() {
            "dropdb" => {
                let named = s.operands.last().map(|(word, _)| word.text.as_str());
                !s.has("--help") && !s.has("--version") && !named.is_some_and(says_scratch)
            }
            "dropuser" | "pg_resetwal" | "pg_dropcluster" => {
                !s.has("--help") && !s.has("--version")
            }
            "mysqladmin" => s.operands.iter().any(|(word, _)| {
                matches!(
                    word.text.as_str(),
                    "drop" | "shutdown" | "password" | "flush-privileges"
                )
            }),
            "mongorestore" => s.has("--drop"),
            "pg_restore" => {
                // With `--create` it is the database of the dump that goes.
                let named = s.value("-d").or_else(|| s.value("--dbname"));
                let is_scratch =
                    named.is_some_and(|name| !name.contains(' ') && says_scratch(name));
                let creates = s.has("--create") || s.has("-C");
                (s.has("--clean") || s.has("-c")) && (creates || !is_scratch)
            }
            _ => false,
        })],
        rules: &[Rule {
            id: "database.drop",
            when: &["&destroys"],
            severity: Severity::Block,
            reason: "it deletes a whole database",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "dropdb prod",
                "dropdb contest",
                "mysqladmin -u root drop prod",
                "mongorestore --drop dump/",
                "pg_restore --clean -d prod x.dump",
                "pg_restore --clean --create -d shop_test x.dump",
            ],
            #[cfg(test)]
            spares: &[
                "dropdb --help",
                "dropdb shop_test",
                "pg_restore -d app_test --clean x.dump",
                "dropdb --if-exists tmp-import",
                "mysqladmin status",
                "mongorestore dump/",
            ],
        }],
    },
    Tool {
        names: &["mongosh", "mongo"],
        takes: "-u -p --host --port --username --password",
        one_dash: false,
        tests: &[("destroys", |s| {
            texts(s).iter().any(|text| {
                let lower = text.to_ascii_lowercase();
                [
                    ".dropdatabase(",
                    ".drop(",
                    ".deletemany({})",
                    ".remove({})",
                    ".deletemany( {} )",
                    "dropdatabase:",
                    "shutdownserver(",
                    "dropuser(",
                    "dropalluser",
                    ".dropindexes(",
                ]
                .iter()
                .any(|word| lower.replace(' ', "").contains(&word.replace(' ', "")))
            }) && !is_scratch_of_mongo(s)
        })],
        rules: &[Rule {
            id: "mongo.destroy",
            when: &["&destroys"],
            severity: Severity::Block,
            reason: "it deletes data that cannot be recovered",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "mongosh --eval 'db.dropDatabase()'",
                "mongosh prod --eval \"db.users.drop()\"",
                "mongo --eval 'db.x.deleteMany({})'",
                "mongosh mongodb://db.example.com/shop_test --eval 'db.dropDatabase()'",
                "mongosh shop_test --eval \"db.getSiblingDB('shop').dropDatabase()\"",
                "mongosh shop_test --eval \"db.getMongo().getDB('shop').dropDatabase()\"",
                "mongosh 'mongodb://localhost:27017,db.example.com:27017/shop_test' --eval 'db.dropDatabase()'",
                "mongosh 'mongodb://localhost/shop?appName=shop-test' --eval 'db.dropDatabase()'",
            ],
            #[cfg(test)]
            spares: &[
                "mongosh --eval 'db.stats()'",
                "mongosh --eval 'db.x.deleteOne({_id: 1})'",
                "mongosh prod",
                "mongosh mongodb://localhost/shop_test --eval 'db.dropDatabase()'",
                "mongosh 'mongodb://u:p@localhost:27017,127.0.0.1:27018/shop_test?replicaSet=r' --eval 'db.dropDatabase()'",
                "mongosh shop_test --eval 'db.users.drop()'",
                "mongosh --quiet shop_test --eval 'db.users.deleteMany({})'",
            ],
        }],
    },
];

/// Returns the texts that a command runs: its words, and its input.
pub(super) fn texts(subject: &Subject<'_>) -> Vec<String> {
    let redis = matches!(
        subject.call.name.as_str(),
        "redis-cli" | "valkey-cli" | "keydb-cli"
    );
    let mut texts: Vec<String> = if redis {
        // Its words are one command, behind what may be the value of an option.
        let line = |skip: usize| {
            let words = subject.operands.iter().skip(skip);
            words
                .map(|(word, _)| word.text.as_str())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let values = subject
            .operands
            .iter()
            .take_while(|(_, value)| *value)
            .count();
        vec![line(0), line(values)]
    } else {
        let words = subject.call.words.iter().skip(1);
        words.map(|word| word.text.clone()).collect()
    };
    texts.extend(subject.call.input.as_ref().map(|input| input.text.clone()));
    texts.extend(
        subject
            .call
            .script
            .as_ref()
            .map(|script| script.text.clone()),
    );
    texts
}

/// Whether the database is disposable: in memory, in a temporary folder, or for tests by its name.
fn is_scratch(subject: &Subject<'_>) -> bool {
    let file = subject.operand(0);
    if matches!(subject.call.name.as_str(), "sqlite3" | "sqlite" | "duckdb") {
        return file == ":memory:" || subject.place(file) == PathClass::Free || says_scratch(file);
    }
    if subject.call.name == "wrangler" {
        return subject.has("--local");
    }
    let named = match subject.call.name.as_str() {
        "psql" | "pgcli" => ["-d", "--dbname"],
        "mysql" | "mariadb" => ["-D", "--database"],
        _ => return false,
    };
    let given = named.iter().find_map(|option| subject.value(option));
    // A statement is no name, and an address ends with one.
    let first = subject.operands.iter().find(|(_, value)| !value);
    let name = given.or(first.map(|(word, _)| word.text.as_str()));
    let mut kept = subject.call.environment.iter();
    let name = name.or_else(|| kept.next().map(|(_, name)| name.as_str()));
    name.is_some_and(|name| !name.contains(' ') && says_scratch(name)) && !leads_on(subject)
}

/// Whether statements go on to a database that is none for tests: `\c shop`, `use shop`.
fn leads_on(subject: &Subject<'_>) -> bool {
    texts(subject).iter().any(|text| {
        let mut statements = text.split([';', '\n']).map(str::split_whitespace);
        statements.any(|mut words| {
            let verb = words.next().unwrap_or("").to_ascii_lowercase();
            matches!(verb.as_str(), "\\c" | "\\connect" | "use")
                && words.next().is_some_and(|name| !says_scratch(name))
        })
    })
}

/// The same of a database of MongoDB's: one on this machine that is for tests by its name, and no other is gone to from it.
fn is_scratch_of_mongo(subject: &Subject<'_>) -> bool {
    // Ways to another database, or to another server.
    const LEADS: [&str; 6] = [
        "getSiblingDB",
        "getSisterDB",
        "getDB(",
        "Mongo(",
        "connect(",
        "use ",
    ];
    let Some(address) = first_of_mongo(subject) else {
        return false;
    };
    let (is_here, name) = if let Some((_, rest)) = address.split_once("://") {
        let (hosts, name) = rest.split_once('/').unwrap_or((rest, ""));
        let hosts = hosts.rsplit('@').next().unwrap_or(hosts);
        (hosts.split(',').all(is_loopback), name)
    } else {
        (subject.value("--host").is_none_or(is_loopback), address)
    };
    let name = name.split('?').next().unwrap_or(name);
    let texts = texts(subject);
    let goes_on = texts
        .iter()
        .any(|text| LEADS.iter().any(|way| text.contains(way)));
    is_here && !name.contains('/') && says_scratch(name) && !goes_on
}

/// The first operand of a client of MongoDB's: behind these options none is a value.
fn first_of_mongo<'s>(subject: &'s Subject<'_>) -> Option<&'s str> {
    const FLAGS: [&str; 5] = ["--quiet", "--norc", "--tls", "--ssl", "--verbose"];
    let (first, maybe_value) = subject.operands.first()?;
    let mut words = subject.call.words.array_windows();
    let is_value = words.any(|[option, word]| {
        word == *first && option.text.starts_with('-') && !FLAGS.contains(&option.text.as_str())
    });
    (!(*maybe_value && is_value)).then_some(first.text.as_str())
}
