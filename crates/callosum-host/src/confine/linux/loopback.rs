//! The loopback of a new network namespace, and the one way out of it.

use std::{
    io,
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink::SocketAddrNetlink, recv,
    sendto, socket_with,
};

use super::super::order::Order;

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

/// What listens on the inner loopback for the proxy outside.
pub(super) struct Proxy {
    listener: TcpListener,
    socket: PathBuf,
}

impl Proxy {
    pub(super) fn listen(socket: &Path) -> io::Result<Self> {
        Ok(Self {
            listener: TcpListener::bind((Ipv4Addr::LOCALHOST, Order::PROXY_PORT))?,
            socket: socket.to_owned(),
        })
    }

    /// Passes each connection on to the socket, as long as this process lives.
    pub(super) fn pass_on(self) -> io::Result<()> {
        thread::Builder::new()
            .name("proxy".to_owned())
            .spawn(move || {
                for inner in self.listener.incoming() {
                    // A connection that cannot be passed on is closed, which its opener sees.
                    if let (Ok(inner), Ok(outer)) = (inner, UnixStream::connect(&self.socket)) {
                        drop(join(inner, outer));
                    }
                }
            })?;
        Ok(())
    }
}

/// Two threads, one for each direction; each ends with what it reads from.
fn join(inner: TcpStream, outer: UnixStream) -> io::Result<()> {
    let (inner, outer) = (Arc::new(inner), Arc::new(outer));
    let (from, to) = (Arc::clone(&inner), Arc::clone(&outer));
    thread::Builder::new().spawn(move || {
        drop(io::copy(&mut &*from, &mut &*to));
        drop(to.shutdown(Shutdown::Write));
    })?;
    thread::Builder::new().spawn(move || {
        drop(io::copy(&mut &*outer, &mut &*inner));
        drop(inner.shutdown(Shutdown::Write));
    })?;
    Ok(())
}
