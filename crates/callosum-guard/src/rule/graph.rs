//! Databases of graphs: statements of Cypher that delete more than what they pick out, and the
//! clients of some others.

use super::{Rule, Severity, Tool, database::texts};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["cypher-shell", "mgconsole", "memgraph", "neo4j-client"],
        takes: "-a --address -u --username -p --password -d --database --host --port -f --file",
        one_dash: false,
        tests: &[("destroys", |s| {
            texts(s).iter().any(|text| destroys_cypher(text))
        })],
        rules: &[Rule {
            id: "graph.destroy",
            when: &["&destroys"],
            severity: Severity::Block,
            reason: "it deletes every node or relationship of this kind",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "cypher-shell 'MATCH (n) DETACH DELETE n'",
                "cypher-shell -u neo4j -p x \"MATCH ()-[r]->() DELETE r\"",
                "echo 'MATCH (n:Person) DETACH DELETE n;' | cypher-shell",
                "mgconsole <<< 'MATCH (n) OPTIONAL MATCH (n)-[r]-() DELETE n, r;'",
                "cypher-shell \"CALL apoc.periodic.iterate('MATCH (n) RETURN n', 'DETACH DELETE n', {batchSize:1000})\"",
                "cypher-shell 'DROP DATABASE shop'",
            ],
            #[cfg(test)]
            spares: &[
                "cypher-shell 'MATCH (n) RETURN n LIMIT 5'",
                "cypher-shell 'MATCH (n:Person {id: 7}) DETACH DELETE n'",
                "cypher-shell 'MATCH (s:Session) WHERE s.ends < 5 DELETE s'",
                "cypher-shell \"CREATE (n:Note {text: 'MATCH (n) DELETE n'})\"",
                "cypher-shell 'DROP INDEX by_name'",
                "cypher-shell 'DROP DATABASE shop_test'",
            ],
        }],
    },
    Tool {
        names: &["neo4j-admin", "arangosh", "arangorestore", "surreal"],
        takes: "--from-path --server.endpoint --endpoint --namespace --ns --db",
        one_dash: false,
        tests: &[("replaces", |s| {
            let text = s.text();
            match s.call.name.as_str() {
                "arangosh" => ["_drop(", "_dropDatabase(", ".truncate("]
                    .iter()
                    .any(|call| text.contains(call)),
                "arangorestore" => s.has("--overwrite"),
                "surreal" => texts(s).iter().any(|text| {
                    let lower = text.to_ascii_lowercase();
                    let things = ["remove table", "remove database", "remove namespace"];
                    things.iter().any(|thing| lower.contains(thing))
                }),
                _ => s.has("--overwrite-destination") && !text.contains("=false"),
            }
        })],
        rules: &[Rule {
            id: "graph.replace",
            when: &["&replaces"],
            severity: Severity::Block,
            reason: "it deletes or replaces the data in the database",
            alternatives: &["neo4j-admin database info"],
            #[cfg(test)]
            catches: &[
                "neo4j-admin database load --overwrite-destination=true neo4j",
                "arangosh --javascript.execute-string 'db._dropDatabase(\"shop\")'",
                "echo 'REMOVE TABLE person' | surreal sql --ns a --db b",
                "arangorestore --overwrite true --input-directory dump",
            ],
            #[cfg(test)]
            spares: &[
                "neo4j-admin database dump neo4j",
                "arangosh --javascript.execute-string 'db._databases()'",
                "echo 'SELECT * FROM person' | surreal sql --ns a --db b",
                "arangorestore --input-directory dump",
            ],
        }],
    },
];

/// Whether statements delete everything, or all of a kind: no condition selects among the matches.
fn destroys_cypher(text: &str) -> bool {
    let (statements, strings) = parted(&text.to_ascii_lowercase());
    // Procedures take the statements that they run as texts.
    statements.split(';').any(|statement| {
        deletes_all(statement) || statement.contains("apoc.") && deletes_all(&strings)
    })
}

/// Statements without comments and texts, and the texts.
fn parted(text: &str) -> (String, String) {
    let (mut statements, mut strings) = (String::new(), String::new());
    let mut quote = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match quote {
            Some(open) if open == letter => {
                quote = None;
                strings.push(' ');
            }
            Some(_) => strings.push(letter),
            None if matches!(letter, '\'' | '"') => quote = Some(letter),
            None if letter == '/' && letters.peek() == Some(&'/') => {
                letters.by_ref().find(|letter| *letter == '\n');
                statements.push('\n');
            }
            None => statements.push(letter),
        }
    }
    (statements, strings)
}

fn deletes_all(statement: &str) -> bool {
    let mut words = statement
        .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-')
        .filter(|word| !word.is_empty());
    let has = |wanted: &str| words.clone().any(|word| word == wanted);
    let picks = has("where") || patterns(statement).any(|pattern| pattern.contains('{'));
    if has("match") && has("delete") && !picks {
        return true;
    }
    let drop = words.position(|word| word == "drop");
    let thing = drop.and_then(|_| words.next());
    let drops = matches!(thing, Some("database" | "graph" | "composite"));
    drops
        && !words
            .next_back()
            .is_some_and(super::scratch_name::says_scratch)
}

/// Lists the contents of the innermost brackets of a statement: patterns of nodes and
/// relationships.
fn patterns(statement: &str) -> impl Iterator<Item = &str> {
    let opened = statement.split(['(', '[']).skip(1);
    opened.filter_map(|behind| Some(behind.split_once([')', ']'])?.0))
}
