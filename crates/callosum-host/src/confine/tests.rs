//! Orders as words; what they do is tested where there is a program that carries them out.

use std::{ffi::OsString, os::unix::ffi::OsStringExt, path::PathBuf};

use super::*;

fn order() -> Order {
    let odd = PathBuf::from(OsString::from_vec(b"/odd\xff \n".to_vec()));
    Order {
        report: "/r".into(),
        controller: 7,
        layers: Layers {
            namespaces: true,
            network: true,
            landlock: true,
            system_calls: true,
            sockets: true,
        },
        room: "/room".into(),
        places: vec![
            Place::here("/usr", Access::Read),
            Place {
                source: odd.clone(),
                path: "/tmp".into(),
                access: Access::Write,
            },
            Place::here("/home/somebody", Access::Fresh),
        ],
        links: vec![("/bin".into(), "usr/bin".into())],
        listen: vec![([127, 0, 0, 1], 3128).into(), "[::1]:80".parse().unwrap()],
        gate: Some("/g".into()),
        folder: odd,
        program: "run".into(),
        arguments: ["run", "report", "", "-x"].map(OsString::from).to_vec(),
    }
}

#[test]
fn an_order_is_read_as_it_was_written() {
    let words = order().arguments();
    assert_eq!(Order::read(words[1..].iter().cloned()), Some(order()));
}

/// What is cut off is no order: nothing is started with less given away than was meant.
#[test]
fn a_part_of_an_order_is_none() {
    let words = order().arguments();
    let whole = words.len() - order().arguments.len();
    for end in 1..whole {
        assert_eq!(Order::read(words[1..end].iter().cloned()), None, "{end}");
    }
    let unknown = ["layer", "wings", "run", "x"].map(OsString::from);
    assert_eq!(Order::read(unknown), None);
}

#[test]
fn other_command_lines_are_no_orders() {
    for words in [&["callosum"][..], &["callosum", "delegate"], &[]] {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        assert_eq!(run(&words), None);
    }
}
