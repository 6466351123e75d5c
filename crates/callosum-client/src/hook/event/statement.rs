//! Statements for a database that a tool gets, or that its name describes.
//!
//! Each becomes a call of the database's own client.

use callosum_guard::tool_name::words;

use super::{shell_quote::quoted, tool_input::Given};

/// Parts of a tool's name that say that its query is for a database.
const DATABASES: [&str; 19] = [
    "sql",
    "postgres",
    "maria",
    "database",
    "duckdb",
    "clickhouse",
    "snowflake",
    "bigquery",
    "redshift",
    "supabase",
    "cockroach",
    "timescale",
    "cassandra",
    "scylla",
    "couchbase",
    "planetscale",
    "execute_query",
    "run_query",
    "write_query",
];

/// Words of a tool's name that say the same.
const DATABASE_WORDS: [&str; 8] = [
    "pg", "db", "d1", "neon", "turso", "oracle", "trino", "athena",
];

/// Parts of a tool's name that say that its query is for a database of graphs.
const GRAPHS: [&str; 5] = ["cypher", "neo4j", "memgraph", "falkor", "kuzu"];

/// Arguments that hold database statements.
const STATEMENTS: [&str; 8] = [
    "sqlstatements",
    "sql",
    "statement",
    "statements",
    "sqlquery",
    "sqlstatement",
    "querysql",
    "rawsql",
];

/// Arguments that hold graph statements.
const PATTERNS: [&str; 4] = ["cypher", "cypherquery", "cypherstatement", "querycypher"];

/// Arguments that hold a query of any kind.
const QUERIES: [&str; 3] = ["query", "queries", "querytext"];

/// First words of statements that change a database.
const CHANGES: [&str; 7] = [
    "drop", "delete", "truncate", "alter", "update", "insert", "create",
];

fn is_about(tool: &str, parts: &[&str]) -> bool {
    let lower = tool.to_ascii_lowercase();
    parts.iter().any(|part| lower.contains(part))
}

fn is_of_database(tool: &str) -> bool {
    let names = words(tool);
    let mut names = names.iter();
    is_about(tool, &DATABASES) || names.any(|name| DATABASE_WORDS.contains(&name.as_str()))
}

/// The statement that a tool is given, as its client is.
pub(super) fn asked(tool: &str, given: Given<'_>) -> Option<String> {
    if let Some(pattern) = given.lines(&PATTERNS, ";\n") {
        return Some(quoted("cypher-shell", &pattern));
    }
    let query = || given.lines(&QUERIES, ";\n");
    if is_about(tool, &GRAPHS)
        && let Some(query) = query().or_else(|| given.lines(&STATEMENTS, ";\n"))
    {
        return Some(quoted("cypher-shell", &query));
    }
    let statement = given.lines(&STATEMENTS, ";\n");
    let statement = statement.or_else(|| query().filter(|_| is_of_database(tool)));
    statement.map(|statement| of_client(tool, &statement))
}

/// Returns a command if it is a statement, judged by its first word and the tool's name.
pub(super) fn commanded(tool: &str, command: &str) -> Option<String> {
    let first = command.split_whitespace().next()?.to_ascii_lowercase();
    let is_statement = CHANGES.contains(&first.as_str()) && is_of_database(tool);
    is_statement.then(|| of_client(tool, command))
}

/// Returns the statement that a tool runs if an argument names the operation on a table.
pub(super) fn meant(tool: &str, given: Given<'_>) -> Option<String> {
    let operation = given.text(&["operation", "action"])?.to_ascii_lowercase();
    let table = given.text(&["table", "tablename"])?;
    let which = given.text(&["where", "condition"]);
    let statement = match &*operation {
        "delete" => match which {
            Some(which) => format!("DELETE FROM {table} WHERE {which}"),
            None => format!("DELETE FROM {table}"),
        },
        "drop" | "drop_table" => format!("DROP TABLE {table}"),
        "truncate" | "truncate_table" => format!("TRUNCATE {table}"),
        _ => return None,
    };
    is_of_database(tool).then(|| of_client(tool, &statement))
}

/// The statement as the database's own client is given it.
fn of_client(tool: &str, statement: &str) -> String {
    let tool = tool.to_ascii_lowercase();
    let client = if tool.contains("mysql") || tool.contains("maria") {
        "mysql -e"
    } else if tool.contains("sqlite") {
        "sqlite3 database.sqlite"
    } else if tool.contains("cassandra") || tool.contains("scylla") {
        "cqlsh -e"
    } else {
        "psql -c"
    };
    quoted(client, statement)
}
