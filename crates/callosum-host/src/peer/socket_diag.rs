//! One socket of TCP asked of the system by its two ends (`sock_diag(7)`), however many there are.

use std::net::SocketAddr;

use netlink_packet_core::{NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::{
    SockDiagMessage,
    constants::{AF_INET, AF_INET6, IPPROTO_TCP},
    inet::{ExtensionFlags, InetRequest, SocketId, StateFlags},
};
use netlink_sys::{Socket, protocols::NETLINK_SOCK_DIAG};

/// What says that no cookie is meant, by the system's header `linux/inet_diag.h`.
const NO_COOKIE: [u8; 8] = [0xff; 8];

/// A socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its user.
    pub(super) owner: u32,
    /// Its number; 0 where nobody holds it any more.
    pub(super) socket: u32,
}

/// Looks a socket up by its own address and the other end's. `None` where there is none, or where the system does not answer such
/// questions.
pub(super) fn socket(local: SocketAddr, remote: SocketAddr) -> Option<Found> {
    let socket = Socket::new(NETLINK_SOCK_DIAG).ok()?;
    let (family, mut id) = if local.is_ipv4() {
        (AF_INET, SocketId::new_v4())
    } else {
        (AF_INET6, SocketId::new_v6())
    };
    (id.source_port, id.source_address) = (local.port(), local.ip());
    (id.destination_port, id.destination_address) = (remote.port(), remote.ip());
    id.cookie = NO_COOKIE;
    let request = SockDiagMessage::InetRequest(InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::empty(),
        states: StateFlags::all(),
        socket_id: id,
    });
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST;
    let mut message = NetlinkMessage::new(header, request.into());
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    socket.send(&bytes, 0).ok()?;
    let mut answer = Vec::with_capacity(4096);
    // It is there when the question is handed in.
    socket.recv(&mut answer, libc::MSG_DONTWAIT).ok()?;
    let answer = NetlinkMessage::<SockDiagMessage>::deserialize(&answer).ok()?;
    let NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(found)) = answer.payload else {
        return None;
    };
    // Where there is no such connection, who listens at that port may be told of.
    let ends = &found.header.socket_id;
    let is_it = (ends.source_port, ends.destination_port) == (local.port(), remote.port())
        && (ends.source_address, ends.destination_address) == (local.ip(), remote.ip());
    is_it.then_some(Found {
        owner: found.header.uid,
        socket: found.header.inode,
    })
}
