//! Encoding of orders; their effect is tested with a program that carries them out.

use std::{
    ffi::OsString,
    io::{self, Cursor},
    os::unix::ffi::OsStringExt,
    path::PathBuf,
};

use super::*;

fn order() -> SandboxSpec {
    let odd = PathBuf::from(OsString::from_vec(b"/odd\xff \n".to_vec()));
    SandboxSpec {
        layers: Layers {
            namespaces: true,
            network: true,
            landlock: true,
            system_calls: true,
            sockets: true,
        },
        room: "/room".into(),
        places: vec![
            MountPoint::here("/usr", Access::Read),
            MountPoint {
                source: odd.clone(),
                path: "/tmp".into(),
                access: Access::Write,
            },
            MountPoint::here("/home/somebody", Access::Fresh),
            MountPoint::here("/scratch", Access::Bounded),
            MountPoint::here("/home/somebody/p/.cal_lock", Access::Hidden),
        ],
        links: vec![("/bin".into(), "usr/bin".into())],
        listen: vec![([127, 0, 0, 1], 3128).into(), "[::1]:80".parse().unwrap()],
        gate: Some("/g".into()),
        folder: odd,
        program: "run".into(),
        arguments: ["run", "room", "", "-x"].map(OsString::from).to_vec(),
        environment: vec![("A".into(), "".into()), ("B".into(), "run".into())],
    }
}

fn written() -> Vec<u8> {
    let mut bytes = Vec::new();
    order().write(&mut bytes).unwrap();
    bytes
}

#[test]
fn an_order_is_read_as_it_was_written() {
    let mut bytes = Cursor::new(written());
    assert_eq!(SandboxSpec::receive(&mut bytes).unwrap(), order());
}

/// A truncated order is rejected: nothing is started with fewer restrictions than intended.
#[test]
fn a_part_of_an_order_is_none() {
    let bytes = written();
    for end in 0..bytes.len() {
        let cut = SandboxSpec::receive(&mut &bytes[..end]).unwrap_err();
        assert_eq!(cut.kind(), io::ErrorKind::UnexpectedEof, "{end}");
    }
    let words = b"layer\0wings\0run\0x\0";
    let mut unknown = (words.len() as u64).to_le_bytes().to_vec();
    unknown.extend_from_slice(words);
    let error = SandboxSpec::receive(&mut &unknown[..]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}

/// One word must not become two.
#[test]
fn a_word_with_a_nul_is_refused() {
    let mut with_nul = order();
    with_nul.environment = vec![("A".into(), "b\0run\0/bin/sh".into())];
    let error = with_nul.write(&mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn other_command_lines_start_no_server() {
    for words in [
        &["callosum"][..],
        &["callosum", "delegate"],
        &["callosum", "confined", "too"],
        &[],
    ] {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        assert_eq!(run(&words), None);
    }
}
