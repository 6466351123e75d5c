//! Updates: what is added, moved, rewritten, copied, removed and excluded.

use callosum_memory::{Client, Memory, UpdateReport};

use crate::machine::{Machine, claude};

const A: &str = ".claude/projects/-src-shop/aaa.jsonl";
const B: &str = ".claude/projects/-src-shop/bbb.jsonl";

fn gemini(lines: &[&str]) -> String {
    let begin = r#"{"sessionId":"ggg","projectHash":"h","kind":"main"}"#;
    let all: Vec<&str> = [begin].into_iter().chain(lines.iter().copied()).collect();
    format!("{}\n", all.join("\n"))
}

/// CALC-L5-1: an update reads what was added, and nothing twice.
#[test]
fn an_update_reads_what_was_added() {
    let mut machine = Machine::new();
    machine.write(A, &claude("1", "aaa", "Why does the checkout hang?"));
    assert_eq!(machine.update().added, 1);
    assert_eq!(machine.update(), UpdateReport::default());
    // A line that is torn is read once it is whole.
    let line = claude("2", "aaa", "It waits for the payment lock");
    let (begin, end) = line.split_at(40);
    machine.append(A, begin);
    assert_eq!(machine.update().added, 0);
    machine.append(A, end);
    let report = machine.update();
    assert_eq!((report.read, report.added, report.removed), (1, 1, 0));
    assert_eq!(machine.found("payment lock"), ["aaa"]);
    assert_eq!(machine.memory.sizes().unwrap().turns, 2);
}

/// CALC-L5-1: a file that was rewritten is read again.
#[test]
fn a_rewritten_file_is_read_again() {
    let mut machine = Machine::new();
    machine.write(A, &claude("1", "aaa", "Use the Bayesian ranker"));
    machine.update();
    let other = claude(
        "2",
        "aaa",
        "Use the frequency ranker instead, it is simpler",
    );
    machine.write(A, &other);
    let report = machine.update();
    assert_eq!((report.added, report.removed), (1, 1));
    assert_eq!(machine.found("Bayesian"), [""; 0]);
    assert_eq!(machine.found("frequency"), ["aaa"]);
}

/// CALC-L5-1: a client's archive of a session keeps its turns.
#[test]
fn a_moved_file_keeps_its_turns() {
    let mut machine = Machine::new();
    let name = "rollout-2026-03-01T10-00-00-ccc.jsonl";
    let line = r#"{"timestamp":"2026-03-01T10:00:00Z","type":"response_item","payload":{"type":"message","id":"m","role":"user","content":[{"type":"input_text","text":"Archive the invoices"}]}}"#;
    let meta = r#"{"type":"session_meta","payload":{"id":"ccc","cwd":"/src/billing"}}"#;
    machine.write(
        &format!(".codex/sessions/2026/03/01/{name}"),
        &format!("{meta}\n{line}\n"),
    );
    machine.update();
    std::fs::create_dir_all(machine.path(".codex/archived_sessions")).unwrap();
    std::fs::rename(
        machine.path(&format!(".codex/sessions/2026/03/01/{name}")),
        machine.path(&format!(".codex/archived_sessions/{name}")),
    )
    .unwrap();
    assert_eq!(machine.update(), UpdateReport::default());
    assert_eq!(machine.found("invoices"), ["ccc"]);
}

/// CALC-L5-1: lines that a resumed session copies are found once; if the original goes, the copy is found.
#[test]
fn a_copy_counts_once_and_replaces_a_removed_original() {
    let mut machine = Machine::new();
    let original = claude("1", "aaa", "Choose Valkey for the cart");
    machine.write(A, &original);
    machine.update();
    machine.write(
        B,
        &format!(
            "{original}{}",
            claude("2", "bbb", "Now the eviction policy")
        ),
    );
    machine.update();
    assert_eq!(machine.memory.sizes().unwrap().turns, 2);
    assert_eq!(machine.found("Valkey"), ["aaa"]);
    std::fs::remove_file(machine.path(A)).unwrap();
    machine.update();
    assert_eq!(machine.found("Valkey"), ["bbb"]);
    assert_eq!(machine.memory.sizes().unwrap().turns, 2);
}

/// CALC-L5-1: deleting a client's session removes its turns.
#[test]
fn a_deleted_session_is_forgotten() {
    let mut machine = Machine::new();
    machine.write(A, &claude("1", "aaa", "Rotate the signing keys"));
    machine.write(B, &claude("2", "bbb", "Paint the shed"));
    machine.update();
    std::fs::remove_file(machine.path(A)).unwrap();
    assert_eq!(machine.update().removed, 1);
    assert_eq!(machine.found("signing keys"), [""; 0]);
    assert_eq!(machine.found("shed"), ["bbb"]);
    let sizes = machine.memory.sizes().unwrap();
    assert_eq!((sizes.files, sizes.sessions, sizes.turns), (1, 1, 1));
}

/// CALC-L5-1: what a person rewound away in Gemini CLI is not found, also if it was read before.
#[test]
fn a_rewind_removes_turns() {
    let mut machine = Machine::new();
    let path = ".gemini/tmp/shop/chats/session-2026-03-01T10-00-ggg.jsonl";
    machine.write(".gemini/tmp/shop/.project_root", "/src/shop\n");
    let one = r#"{"id":"a","type":"user","content":[{"text":"Try the oak table"}]}"#;
    let two = r#"{"id":"b","type":"gemini","content":"The walnut desk is better"}"#;
    machine.write(path, &gemini(&[one, two]));
    machine.update();
    assert_eq!(
        machine.search("walnut")[0].folder.as_deref(),
        Some("/src/shop")
    );
    let newer = r#"{"id":"b","type":"gemini","content":"The maple desk is better"}"#;
    machine.append(path, &format!("{newer}\n"));
    machine.update();
    assert_eq!(machine.found("walnut"), [""; 0]);
    assert_eq!(machine.found("maple"), ["ggg"]);
    machine.append(path, "{\"$rewindTo\":\"b\"}\n");
    machine.update();
    assert_eq!(machine.found("maple"), [""; 0]);
    assert_eq!(machine.found("oak"), ["ggg"]);
    machine.append(path, "{\"$rewindTo\":\"unknown\"}\n");
    machine.update();
    assert_eq!(machine.memory.sizes().unwrap().turns, 0);
}

/// CALC-L5-1: a sub-agent's turns count for the session that started it.
#[test]
fn a_sub_agent_counts_for_its_session() {
    let mut machine = Machine::new();
    machine.write(A, &claude("1", "aaa", "Survey the parsers"));
    let sub = ".claude/projects/-src-shop/aaa/subagents/agent-9.jsonl";
    machine.write(sub, &claude("2", "aaa", "Grammar lives in pest files"));
    machine.update();
    assert_eq!(machine.found("pest"), ["aaa"]);
    assert_eq!(machine.memory.sizes().unwrap().sessions, 1);
}

/// CALC-L5-2: sessions in excluded folders are not stored, from then on and until the exclusion ends.
#[test]
fn excluded_folders_are_not_stored() {
    let mut machine = Machine::new();
    machine.write(A, &claude("1", "aaa", "The salary table"));
    machine.update();
    machine.excluded = vec!["/src".into()];
    assert_eq!(machine.update().removed, 1);
    machine.append(A, &claude("2", "aaa", "The bonus table"));
    machine.write(B, &claude("3", "bbb", "The pension table"));
    machine.update();
    assert_eq!(machine.memory.sizes().unwrap().turns, 0);
    machine.excluded = vec!["/srcs".into()];
    machine.update();
    assert_eq!(machine.memory.sizes().unwrap().turns, 3);
}

/// CALC-L5-2: a session that was forgotten is not read again, also if its client goes on with it.
#[test]
fn a_forgotten_session_stays_forgotten() {
    let mut machine = Machine::new();
    machine.write(A, &claude("1", "aaa", "The surprise party"));
    machine.write(B, &claude("2", "bbb", "The release party"));
    machine.update();
    machine.forgotten = vec![(Client::ClaudeCode.into(), "aaa".to_owned())];
    assert_eq!(machine.update().removed, 1);
    machine.append(A, &claude("3", "aaa", "The party is on Friday"));
    machine.update();
    assert_eq!(machine.found("party"), ["bbb"]);
    let path = machine.path("state/memory/turns.db");
    machine.memory = Memory::rebuild(&machine.disk, &path).unwrap();
    machine.update();
    assert_eq!(machine.found("party"), ["bbb"]);
}

/// CALC-L5-1: a damaged index is made again, and two processes may update one.
#[test]
fn a_damaged_index_is_made_again() {
    let mut machine = Machine::new();
    machine.write(A, &claude("1", "aaa", "Sharpen the saw"));
    machine.update();
    let path = machine.path("state/memory/turns.db");
    for ending in ["-wal", "-shm"] {
        let path = machine.path(&format!("state/memory/turns.db{ending}"));
        machine.disk.remove_file(&path).unwrap();
    }
    std::fs::write(&path, vec![7; 8192]).unwrap();
    machine.memory = Memory::open(&machine.disk, &path).unwrap();
    machine.update();
    assert_eq!(machine.found("saw"), ["aaa"]);
    let scope = machine.scope();
    machine.append(A, &claude("2", "aaa", "Oil the saw"));
    let mut other = Memory::open(&machine.disk, &path).unwrap();
    let added = std::thread::scope(|threads| {
        let disk = machine.disk.clone();
        let other =
            threads.spawn(move || other.update(&disk, &scope, &mut |_| true).unwrap().added);
        machine.update().added + other.join().unwrap()
    });
    assert_eq!((added, machine.memory.sizes().unwrap().turns), (1, 2));
}

/// CALC-L5-1: two processes that read the same new files at once store each turn once, and know its file.
#[test]
fn two_processes_at_once_store_each_turn_once() {
    let mut machine = Machine::new();
    let files = 40;
    for file in 0..files {
        let lines: String = (0..20)
            .map(|line| {
                claude(
                    &format!("{file}-{line}"),
                    &format!("s{file}"),
                    "Turn of two readers",
                )
            })
            .collect();
        machine.write(&format!(".claude/projects/-p/s{file}.jsonl"), &lines);
    }
    let path = machine.path("state/memory/turns.db");
    let scope = machine.scope();
    let start = std::sync::Barrier::new(2);
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                let disk = callosum_host::Disk::real();
                let mut memory = Memory::open(&disk, &path).unwrap();
                start.wait();
                memory.update(&disk, &scope, &mut |_| true).unwrap();
            });
        }
    });
    machine.update();
    assert_eq!(machine.memory.sizes().unwrap().turns, files * 20);
    std::fs::remove_dir_all(machine.path(".claude")).unwrap();
    machine.update();
    assert_eq!(machine.memory.sizes().unwrap().turns, 0);
}
