//! The machine's TCP connections, as the system lists them (`sock_diag(7)`): to every user, and of
//! every user.
//!
//! Start with [`by_ends`] for one of them, at a cost independent of their number, and [`received`]
//! for all that have received something. Deliberately not here: other protocols than TCP, and other
//! network namespaces, whose connections are not listed here.

use std::{io, net::SocketAddr, time::Duration};

use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NetlinkBuffer, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_sock_diag::{
    SockDiagMessage,
    constants::{AF_INET, AF_INET6, IPPROTO_TCP},
    inet::{ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags, nlas::Nla},
};
use netlink_sys::{Socket, protocols::NETLINK_SOCK_DIAG};
use rustix::net::sockopt::{Timeout, set_socket_timeout};

/// Value for "no cookie", by the system's header `linux/inet_diag.h`.
const NO_COOKIE: [u8; 8] = [0xff; 8];

/// Offsets in TCP's data about a connection: milliseconds since something was received, and number
/// of bytes received (`tcpi_last_data_recv`, `tcpi_bytes_received` of `linux/tcp.h`). Later systems
/// add fields behind these.
const SINCE_RECEIVED: usize = 52;
const BYTES_RECEIVED: usize = 128;

/// Timeout for the system to list connections.
const WITHIN: Duration = Duration::from_millis(200);

/// Owner of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owned {
    /// Its user.
    pub(crate) owner: u32,
    /// Its number; 0 once no process holds it.
    pub(crate) socket: u32,
}

/// A connection by which something has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Received {
    /// The number of its socket.
    pub(crate) socket: u32,
    /// Time since the last bytes came.
    pub(crate) ago: Duration,
}

/// Looks a socket up by its own address and the other end's. `None` if there is none, or if the
/// system does not answer such questions.
pub(crate) fn by_ends(local: SocketAddr, remote: SocketAddr) -> Option<Owned> {
    let socket = Socket::new(NETLINK_SOCK_DIAG).ok()?;
    let (family, mut id) = if local.is_ipv4() {
        (AF_INET, SocketId::new_v4())
    } else {
        (AF_INET6, SocketId::new_v6())
    };
    (id.source_port, id.source_address) = (local.port(), local.ip());
    (id.destination_port, id.destination_address) = (remote.port(), remote.ip());
    id.cookie = NO_COOKIE;
    let asked = InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::empty(),
        states: StateFlags::all(),
        socket_id: id,
    };
    ask(&socket, asked, NLM_F_REQUEST).ok()?;
    let mut answer = Vec::with_capacity(4096);
    // The answer is there once the question is sent.
    socket.recv(&mut answer, libc::MSG_DONTWAIT).ok()?;
    let answer = NetlinkMessage::<SockDiagMessage>::deserialize(&answer).ok()?;
    let NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(found)) = answer.payload else {
        return None;
    };
    // If there is no such connection, the system may report the listener at that port.
    let ends = &found.header.socket_id;
    let is_it = (ends.source_port, ends.destination_port) == (local.port(), remote.port())
        && (ends.source_address, ends.destination_address) == (local.ip(), remote.ip());
    is_it.then_some(Owned {
        owner: found.header.uid,
        socket: found.header.inode,
    })
}

/// Lists the connections by which something has come.
///
/// Costs a look at each connection of the machine.
///
/// # Errors
///
/// Where the system tells nothing, as within containers of some kinds.
pub(crate) fn received() -> io::Result<Vec<Received>> {
    let mut found = Vec::new();
    for (family, socket_id) in [
        (AF_INET, SocketId::new_v4()),
        (AF_INET6, SocketId::new_v6()),
    ] {
        let socket = Socket::new(NETLINK_SOCK_DIAG)?;
        set_socket_timeout(&socket, Timeout::Recv, Some(WITHIN))?;
        let asked = InetRequest {
            family,
            protocol: IPPROTO_TCP,
            extensions: ExtensionFlags::INFO,
            states: StateFlags::all().difference(StateFlags::LISTEN),
            socket_id,
        };
        ask(&socket, asked, NLM_F_REQUEST | NLM_F_DUMP)?;
        let mut buffer = Vec::with_capacity(64 * 1024);
        loop {
            buffer.clear();
            let length = socket.recv(&mut buffer, 0)?;
            if length == 0 || read(&buffer, &mut found) {
                break;
            }
        }
    }
    Ok(found)
}

fn ask(socket: &Socket, asked: InetRequest, flags: u16) -> io::Result<()> {
    let mut header = NetlinkHeader::default();
    header.flags = flags;
    let asked = SockDiagMessage::InetRequest(asked);
    let mut message = NetlinkMessage::new(header, asked.into());
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    socket.send(&bytes, 0).map(|_| ())
}

/// Reads messages of the system; whether the last has come. One that cannot be read is passed over.
fn read(mut messages: &[u8], found: &mut Vec<Received>) -> bool {
    while let Ok(head) = NetlinkBuffer::new_checked(messages) {
        let length = (head.length() as usize).next_multiple_of(4);
        match NetlinkMessage::<SockDiagMessage>::deserialize(messages).map(|it| it.payload) {
            Ok(NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response))) => {
                found.extend(connection(&response));
            }
            Ok(NetlinkPayload::Done(_) | NetlinkPayload::Error(_)) => return true,
            _ => {}
        }
        messages = &messages[length.min(messages.len())..];
    }
    false
}

fn connection(response: &InetResponse) -> Option<Received> {
    let known = response.nlas.iter().find_map(|nla| match nla {
        Nla::TcpInfo(known) => Some(known),
        _ => None,
    })?;
    let since = known.get(SINCE_RECEIVED..)?.first_chunk().copied()?;
    let bytes = known.get(BYTES_RECEIVED..)?.first_chunk().copied()?;
    (u64::from_ne_bytes(bytes) > 0).then(|| Received {
        socket: response.header.inode,
        ago: Duration::from_millis(u32::from_ne_bytes(since).into()),
    })
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::{TcpListener, TcpStream},
    };

    use super::*;

    /// Bytes before the content of a message, and those that identify the connection.
    const HEAD: usize = 16;
    const CONNECTION: usize = 72;

    fn message(socket: u32, since: u32, bytes: u64) -> Vec<u8> {
        const BY_FAMILY: u16 = 20;
        const INFO: u16 = 2;
        let mut info = vec![0; BYTES_RECEIVED];
        info[SINCE_RECEIVED..SINCE_RECEIVED + 4].copy_from_slice(&since.to_ne_bytes());
        info.extend(bytes.to_ne_bytes());
        let mut body = vec![0; CONNECTION];
        body[..2].copy_from_slice(&[AF_INET, 1]);
        body[CONNECTION - 4..].copy_from_slice(&socket.to_ne_bytes());
        // An attribute that is passed over, and what fills it up.
        body.extend([5, 0, 8, 0, 1, 0, 0, 0]);
        body.extend(((4 + info.len()) as u16).to_ne_bytes());
        body.extend(INFO.to_ne_bytes());
        body.extend(info);
        let mut message = ((HEAD + body.len()) as u32).to_ne_bytes().to_vec();
        message.extend(BY_FAMILY.to_ne_bytes());
        message.extend([0; 10]);
        message.extend(body);
        message
    }

    #[test]
    fn a_list_of_the_system_with_any_contents_is_read() {
        const DONE: u16 = 3;
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

    /// Bytes over a connection are listed with its socket, and its owner is found by its two ends,
    /// if the system tells of connections at all.
    #[test]
    fn a_connection_is_found_with_what_came_by_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        far.write_all(b"something").unwrap();
        near.read_exact(&mut [0; 9]).unwrap();
        let Ok(all) = received() else {
            return;
        };
        let ends = (near.local_addr().unwrap(), near.peer_addr().unwrap());
        let owned = by_ends(ends.0, ends.1).unwrap();
        assert_eq!(owned.owner, rustix::process::geteuid().as_raw());
        let it = all.iter().find(|one| one.socket == owned.socket).unwrap();
        assert!(it.ago < Duration::from_mins(1), "{it:?}");
        assert_eq!(by_ends(ends.0, ends.0), None);
    }
}
