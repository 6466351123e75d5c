//! Sessions in the database of opencode.

use rusqlite::Connection;

use crate::machine::Machine;

const TABLES: &str = "
CREATE TABLE session(id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
INSERT INTO session VALUES('ses_1', NULL, '/src/shop', 'Fix the cart', 1, 1),
 ('ses_2', NULL, '/src/x', 'Use ghp_abcdefghijklmnopqrstuvwxyz0123456789', 1, 1);
INSERT INTO message VALUES('m1', 'ses_1', 1, 1, '{\"role\":\"user\"}'), ('m2', 'ses_2', 1, 1, '{\"role\":\"assistant\"}');
INSERT INTO part VALUES('p1', 'm1', 'ses_1', 10, 10, '{\"type\":\"text\",\"text\":\"The cart loses items\"}'),
 ('p2', 'm2', 'ses_2', 10, 10, '{\"type\":\"tool\",\"tool\":\"bash\",\"state\":{\"status\":\"error\",\"input\":{\"command\":\"make cart\"},\"error\":\"no rule\"}}'),
 ('p3', 'm2', 'ses_2', 10, 10, '{\"type\":\"reasoning\",\"text\":\"cart thoughts\"}');
";

/// CALC-L5-1: parts are turns; what changed is read, and a session that is gone is forgotten.
#[test]
fn parts_are_turns_and_changes_are_read() {
    let mut machine = Machine::new();
    machine.write(".local/share/opencode/none", "");
    let connection = Connection::open(machine.path(".local/share/opencode/opencode.db")).unwrap();
    connection
        .execute_batch("PRAGMA journal_mode=WAL;")
        .unwrap();
    connection.execute_batch(TABLES).unwrap();
    assert_eq!(machine.update().added, 3);
    assert_eq!(machine.update().added, 0);
    let hit = &machine.search("loses items")[0];
    assert_eq!(
        (hit.session.as_str(), hit.title.as_deref()),
        ("ses_1", Some("Fix the cart"))
    );
    assert_eq!(machine.found("\"no rule\""), ["ses_2"]);
    let title = machine.search("\"no rule\"").remove(0).title.unwrap();
    assert!(!title.contains("ghp_abc"), "{title}");
    let change = "UPDATE part SET time_updated = 20, data = '{\"type\":\"text\",\"text\":\"The cart doubles items\"}' WHERE id = 'p1'";
    connection.execute_batch(change).unwrap();
    machine.update();
    assert_eq!(machine.found("doubles"), ["ses_1"]);
    assert_eq!(machine.found("loses"), [""; 0]);
    connection
        .execute_batch(
            "DELETE FROM part WHERE session_id = 'ses_2'; DELETE FROM session WHERE id = 'ses_2';",
        )
        .unwrap();
    machine.update();
    assert_eq!(machine.found("make"), [""; 0]);
}
