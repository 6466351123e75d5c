//! Two clients of different makers that edit one file at once.

use std::{path::Path, thread};

use callosum_testkit::model::Call;
use serde_json::json;

use crate::{
    client::{ALL, Client},
    install::Installed,
    sessions::ask_with,
    stage::Stage,
};

/// The file before both edits.
const BASE: &str = "alpha\nbeta\ngamma\ndelta\nepsilon\nzeta\n";

/// Files with which the two wait for each other. They are outside of the project.
const FIRST_DONE: &str = "first-done";
const SECOND_DONE: &str = "second-done";

/// CALC-FUT-1: each of two clients that edit one file at once reads the other's change with its next tool call; nothing is
/// lost, and a resolution leaves a clean tree.
pub(crate) fn edits_a_file_with_another(client: &Client, installed: &Installed) {
    if client.shell.is_none() {
        return;
    }
    let partner = if client.name == "claude" {
        "codex"
    } else {
        "claude"
    };
    let partner = ALL.iter().find(|other| other.name == partner).unwrap();
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("real-clients");
    // Without a partner, two sessions of the client itself.
    let found = Installed::find(partner, &cache);
    let (partner, found) = match &found {
        Ok(found) => (partner, found),
        Err(_) => (client, installed),
    };
    let stage = Stage::new(client, installed);
    stage.env.write("src/list.txt", BASE);
    stage.env.git(&["add", "--all"]);
    stage.env.git(&["commit", "--quiet", "--message=list"]);
    let other = stage.beside(partner, found);
    for name in [client.name, partner.name] {
        let init = ["init", "--all", "--share", "--client", name];
        stage.callosum().arguments(init).run().success();
    }
    stage.env.git(&["add", "--all"]);
    stage.env.git(&["commit", "--quiet", "--message=init"]);
    // A mesh exists once someone uses it.
    let share = ["mesh", "discovery", "share", "go on", "--as", "person"];
    stage.env.run(share).success();
    let (first, second) = thread::scope(|scope| {
        let first = scope.spawn(|| {
            let wait = waiting(&stage, FIRST_DONE, SECOND_DONE);
            asked(&stage, ("alpha", "ALPHA"), None, Some(&wait))
        });
        let wait = waiting(&other, SECOND_DONE, FIRST_DONE);
        let second = asked(&other, ("zeta", "ZETA"), Some(&wait), None);
        (first.join().unwrap(), second)
    });
    let file = stage.env.read("src/list.txt");
    assert_eq!(file, BASE.replace("alpha", "ALPHA").replace("zeta", "ZETA"));
    // Whose edit came first decides the texts; the wait makes it the client's own.
    assert!(second.contains("+ALPHA"), "{second}");
    assert!(first.contains("+ZETA"), "{first}");
    let listed = stage.env.run(["mesh", "conflicts", "list", "--json"]);
    let listed = listed.success().json();
    let conflict = &listed["conflicts"][0];
    assert_eq!(conflict["is_change_missing"], false, "{listed}");
    let id = conflict["id"].as_str().unwrap();
    let resolve = ["mesh", "conflicts", "resolve", id, "--json"];
    let done = stage.env.run(resolve).success().json();
    assert_eq!(done["resolution"]["how"], "kept", "{done}");
    assert_eq!(stage.env.read("src/list.txt"), file);
    assert_eq!(
        stage.env.git(&["status", "--porcelain", "--", "src"]),
        " M src/list.txt\n"
    );
}

/// A command that tells the other client to go on, and waits until it has done so too.
fn waiting(stage: &Stage<'_>, own: &str, other: &str) -> String {
    let folder = stage.env.folder();
    let (own, other) = (folder.join(own), folder.join(other));
    let (own, other) = (own.display(), other.display());
    let wait = format!("timeout 100 sh -c 'until test -f {other}; do sleep 0.1; done'");
    if own.to_string().ends_with(FIRST_DONE) {
        format!("touch {own}; {wait}")
    } else {
        wait
    }
}

/// Has a client replace a word of the file, between two commands; returns what its model was sent.
fn asked(
    stage: &Stage<'_>,
    (old, new): (&str, &str),
    before: Option<&str>,
    after: Option<&str>,
) -> String {
    let shell = stage.client.shell.as_ref().unwrap();
    let path = stage.env.project().join("src/list.txt");
    let call = |name: &str, input| Call {
        name: name.to_owned(),
        input,
        ..Call::default()
    };
    let edit = json!({"file_path": path, "old_string": old, "new_string": new,
                      "instruction": "Replace the word"});
    let edit = match stage.client.name {
        "claude" => {
            let edit = json!({"file_path": path, "old_string": old, "new_string": new});
            vec![call("Read", json!({"file_path": path})), call("Edit", edit)]
        }
        "codex" => {
            let patch = format!(
                "*** Begin Patch\n*** Update File: src/list.txt\n@@\n-{old}\n+{new}\n*** End Patch"
            );
            vec![call("apply_patch", json!(patch))]
        }
        "gemini" => vec![call("replace", edit)],
        _ => vec![
            call("read_file", json!({"file_path": path})),
            call("edit", edit),
        ],
    };
    let mut calls: Vec<Call> = before.iter().map(|command| shell.call(command)).collect();
    calls.extend(edit);
    calls.extend(after.iter().map(|command| shell.call(command)));
    if before.is_some() {
        let done = stage.env.folder().join(SECOND_DONE);
        calls.push(shell.call(&format!("touch {}", done.display())));
    }
    let arguments: Vec<&str> = shell
        .arguments
        .iter()
        .map(|argument| match *argument {
            "Bash" => "Bash,Read,Edit",
            argument => argument,
        })
        .collect();
    // Other sessions read the beginning of the prompt, which must not be a script to their model.
    let words = format!(
        "Change {old} in the list of words. Change that one word and no other, keep the order of the words as it is, \
         and write nothing else into the file. Then do what else there is to do, one step after the other."
    );
    ask_with(stage, &arguments, &[], &words, calls).unwrap();
    // Both clients ask the same server.
    let heard = stage.server.heard();
    let bodies = heard.iter().map(|heard| heard.body.to_string());
    bodies.filter(|body| body.contains(&words)).collect()
}
