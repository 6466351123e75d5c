//! The loopback of a new network namespace.

use std::io;

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink::SocketAddrNetlink, recv,
    sendto, socket_with,
};

/// Loopback is the first interface of every network namespace.
const LOOPBACK: i32 = 1;

/// Brings the loopback up, which is down in a new namespace.
pub(super) fn raise() -> io::Result<()> {
    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
    const UP: u32 = 1;
    let mut message = Vec::with_capacity(32);
    // The header: length, type, flags, sequence number, port.
    message.extend(32_u32.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    message.extend([0; 8]);
    // The link: family and type, index, flags, and which of them are meant.
    message.extend([0; 4]);
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());

    let kernel = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        // Protocol 0 of this family is the one about links and routes.
        None,
    )?;
    sendto(
        &kernel,
        &message,
        SendFlags::empty(),
        &SocketAddrNetlink::new(0, 0),
    )?;
    let mut answer = [0_u8; 256];
    let (length, _) = recv(&kernel, &mut answer[..], RecvFlags::empty())?;
    // The answer's header is followed by the negated error number.
    match answer.get(16..20).filter(|_| length >= 20) {
        Some(bytes) => match i32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(-error)),
        },
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
