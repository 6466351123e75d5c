//! A shell whose input and output are a connection: the other end could run anything here.

use super::{
    function::RUN,
    is_shell,
    token::Token::{self, Name, Run, Text},
};

/// Functions that make a socket.
const SOCKETS: [&str; 6] = [
    "socket",
    "Socket",
    "TCPSocket",
    "fsockopen",
    "create_connection",
    "createConnection",
];

/// Libraries of Node that make one.
const LIBRARIES: [&str; 4] = ["net", "node:net", "tls", "node:tls"];

/// Functions that reach another machine, or wait for one.
const CONNECTS: [&str; 8] = [
    "connect",
    "accept",
    "INET",
    "TCPSocket",
    "fsockopen",
    "socket_connect",
    "create_connection",
    "createConnection",
];

/// Whether a program connects, and joins a shell to that.
pub(super) fn joins_a_shell(tokens: &[Token]) -> bool {
    let names = |wanted: &[&str]| {
        tokens.iter().any(|token| match token {
            Name(name) => name
                .split(['.', ':', '>'])
                .any(|part| wanted.contains(&part)),
            _ => false,
        })
    };
    let texts = || {
        tokens.iter().filter_map(|token| match token {
            Text(text) | Run(text) => Some(text.as_str()),
            _ => None,
        })
    };
    let has_socket = names(&SOCKETS) || texts().any(|text| LIBRARIES.contains(&text));
    if !has_socket || !names(&CONNECTS) {
        return false;
    }
    let runs_a_shell = names(RUN) && texts().any(is_bare) && !texts().any(|text| text == "-c");
    names(&["dup2"]) || runs_a_shell
}

/// Whether a command is a shell that is given nothing but descriptors: `sh -i <&3 >&3`.
fn is_bare(text: &str) -> bool {
    let words = text.split_whitespace();
    let own: Vec<&str> = words.filter(|word| !word.contains(['<', '>'])).collect();
    !own.is_empty() && is_shell(&own.join(" "))
}
