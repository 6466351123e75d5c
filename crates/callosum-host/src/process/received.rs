//! [`last_received`]: when processes last received something by way of TCP.
//!
//! The system keeps that with each connection and tells it by `sock_diag`, to everybody and of everybody's, so that it need not be
//! measured. Deliberately not here: other ways than TCP, and other network namespaces, whose connections are not told here.

use std::{collections::HashSet, io, path::Path, time::Duration};

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType,
    netlink::{SOCK_DIAG, SocketAddrNetlink},
    recv, sendto, socket_with,
    sockopt::{Timeout, set_socket_timeout},
};

use crate::Disk;

/// Bytes before what a message of the system says.
const HEAD: usize = 16;

/// Bytes that say which connection it is, without attributes.
const CONNECTION: usize = 72;

/// Where in these the number of the socket stands.
const SOCKET: usize = 68;

/// The attribute that has what TCP knows, and where in it stand the milliseconds since something was received, and how many
/// bytes have been.
const TCP_INFO: u16 = 2;
const SINCE_RECEIVED: usize = 52;
const BYTES_RECEIVED: usize = 128;

/// The kinds of messages that end a listing: that it is over, and an error.
const DONE: u16 = 3;
const ERROR: u16 = 2;

/// Asks for the connections of a family.
const BY_FAMILY: u16 = 20;

/// How long the system may take to answer.
const WITHIN: Duration = Duration::from_millis(200);

/// How long ago the last bytes came by a TCP connection that one of the processes has open; `None` where none did, or where the
/// system does not tell.
///
/// Costs a look at what the processes have open, and at each connection of the machine.
pub(super) fn last_received(processes: &[u32]) -> Option<Duration> {
    let sockets: HashSet<u32> = processes.iter().flat_map(|pid| sockets_of(*pid)).collect();
    if sockets.is_empty() {
        return None;
    }
    let families = [AddressFamily::INET, AddressFamily::INET6];
    let all = families.iter().filter_map(|family| listed(*family).ok());
    let ours = all.flatten().filter(|one| sockets.contains(&one.socket));
    ours.map(|one| one.ago).min()
}

/// A connection by which something has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Received {
    socket: u32,
    ago: Duration,
}

fn sockets_of(pid: u32) -> Vec<u32> {
    let folder = Path::new("/proc").join(pid.to_string()).join("fd");
    let open = Disk::real().list_dir(&folder).unwrap_or_default();
    let number = |entry: &crate::disk::ListedEntry| {
        let link = rustix::fs::readlink(folder.join(&entry.name), Vec::new()).ok()?;
        let link = link.to_str().ok()?;
        link.strip_prefix("socket:[")?
            .strip_suffix(']')?
            .parse()
            .ok()
    };
    open.iter().filter_map(number).collect()
}

fn listed(family: AddressFamily) -> io::Result<Vec<Received>> {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        flags,
        Some(SOCK_DIAG),
    )?;
    set_socket_timeout(&socket, Timeout::Recv, Some(WITHIN))?;
    let system = SocketAddrNetlink::new(0, 0);
    sendto(&socket, &request(family), SendFlags::empty(), &system)?;
    let mut found = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let (length, _) = recv(&socket, buffer.as_mut_slice(), RecvFlags::empty())?;
        if length == 0 || read(&buffer[..length], &mut found) {
            return Ok(found);
        }
    }
}

/// The request for all connections of a family that are or were open, with what TCP knows of each.
fn request(family: AddressFamily) -> Vec<u8> {
    const REQUEST_AND_DUMP: u16 = 0x301;
    const TCP: u8 = 6;
    const ALL_BUT_LISTENING: u32 = 0xfff & !(1 << 10);

    let mut body = vec![family.as_raw() as u8, TCP, 1 << (TCP_INFO - 1), 0];
    body.extend(ALL_BUT_LISTENING.to_ne_bytes());
    // Which connection it is to be: any.
    body.extend([0; 48]);
    let mut request = Vec::new();
    request.extend(((HEAD + body.len()) as u32).to_ne_bytes());
    request.extend(BY_FAMILY.to_ne_bytes());
    request.extend(REQUEST_AND_DUMP.to_ne_bytes());
    request.extend(1_u32.to_ne_bytes());
    request.extend(0_u32.to_ne_bytes());
    request.extend(body);
    request
}

/// Reads messages of the system; whether the last has come.
fn read(mut messages: &[u8], found: &mut Vec<Received>) -> bool {
    while let (Some(length), Some(kind)) = (word(messages, 0), half_word(messages, 4)) {
        let length = length as usize;
        if matches!(kind, DONE | ERROR) || length < HEAD {
            return true;
        }
        let end = length.min(messages.len());
        found.extend(messages.get(HEAD..end).and_then(connection));
        messages = &messages[aligned(length).min(messages.len())..];
    }
    false
}

fn connection(told: &[u8]) -> Option<Received> {
    let socket = word(told, SOCKET)?;
    let mut attributes = told.get(CONNECTION..)?;
    while let (Some(length), Some(kind)) = (half_word(attributes, 0), half_word(attributes, 2)) {
        let length = usize::from(length);
        let value = attributes.get(4..length)?;
        if kind == TCP_INFO {
            let bytes = value.get(BYTES_RECEIVED..BYTES_RECEIVED + 8)?;
            let ago = Duration::from_millis(word(value, SINCE_RECEIVED)?.into());
            return bytes
                .iter()
                .any(|byte| *byte != 0)
                .then_some(Received { socket, ago });
        }
        attributes = attributes.get(aligned(length)..)?;
    }
    None
}

/// Messages and attributes begin at multiples of four bytes.
fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn half_word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// Whether the system tells of connections at all; not of what containers of some kinds hide.
#[cfg(test)]
pub(super) fn tells() -> bool {
    listed(AddressFamily::INET).is_ok()
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::{TcpListener, TcpStream},
    };

    use super::*;

    fn message(socket: u32, since: u32, bytes: u64) -> Vec<u8> {
        let mut info = vec![0; BYTES_RECEIVED];
        info[SINCE_RECEIVED..SINCE_RECEIVED + 4].copy_from_slice(&since.to_ne_bytes());
        info.extend(bytes.to_ne_bytes());
        let mut body = vec![0; CONNECTION];
        body[SOCKET..SOCKET + 4].copy_from_slice(&socket.to_ne_bytes());
        // An attribute that is passed over, and what fills it up.
        body.extend([5, 0, 8, 0, 1, 0, 0, 0]);
        body.extend(((4 + info.len()) as u16).to_ne_bytes());
        body.extend(TCP_INFO.to_ne_bytes());
        body.extend(info);
        let mut message = ((HEAD + body.len()) as u32).to_ne_bytes().to_vec();
        message.extend(BY_FAMILY.to_ne_bytes());
        message.extend([0; 10]);
        message.extend(body);
        message
    }

    #[test]
    fn what_the_system_lists_is_read_whatever_it_holds() {
        let over = [&20_u32.to_ne_bytes()[..], &DONE.to_ne_bytes(), &[0; 14]].concat();
        let all = [message(7, 1500, 10), message(8, 3, 0), over].concat();
        let mut found = Vec::new();
        assert!(read(&all, &mut found));
        let ago = Duration::from_millis(1500);
        assert_eq!(found, [Received { socket: 7, ago }]);
        for end in 0..all.len() {
            read(&all[..end], &mut Vec::new());
            let mut broken = all.clone();
            broken[end] = 0xff;
            read(&broken, &mut Vec::new());
        }
    }

    /// What comes by a connection of this process is seen where the system tells of connections at all.
    #[test]
    fn bytes_that_come_are_seen() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        far.write_all(b"something").unwrap();
        near.read_exact(&mut [0; 9]).unwrap();
        assert_eq!(last_received(&[std::process::id()]).is_some(), tells());
        assert_eq!(last_received(&[]), None);
    }
}
