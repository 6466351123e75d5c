//! [`Peer`]: owner of the program at the other end of a connection over loopback.
//!
//! A socket with a path knows it itself; for TCP the system is asked. If the system does not tell,
//! [`OtherUsers`] knows whether it can be another user at all. Deliberately not here: whether to
//! answer.

mod other_users;

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    path::Path,
};

use rustix::event::{PollFd, PollFlags, poll};

pub use self::other_users::OtherUsers;
use crate::process::Cancel;

/// Owner of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// This user's, or the superuser's, whom nothing is kept from.
    Own,
    /// Another user's.
    Other,
    /// Of one who has let go of the connection already: the system tells no more whose it was.
    Gone,
    /// The system does not say (off Linux).
    Unknown,
}

/// Waits for the next connection, and looks up at once whose it is: who asks later finds of some that they have gone. `None` once it is cancelled.
/// The listener does not block.
pub fn accept(listener: &TcpListener, cancel: &Cancel) -> io::Result<Option<(TcpStream, Peer)>> {
    loop {
        let cancelled = cancel.readable();
        let mut ends = [
            PollFd::from_borrowed_fd(cancelled, PollFlags::IN),
            PollFd::new(listener, PollFlags::IN),
        ];
        match poll(&mut ends, None) {
            Ok(_) if cancel.is_cancelled() => return Ok(None),
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        match listener.accept() {
            Ok((stream, other)) => {
                let peer = stream.local_addr().map(|own| of(own, other));
                return Ok(Some((stream, peer.unwrap_or(Peer::Gone))));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

/// Looks up whose the other end of a TCP connection is; `own` and `other` are its two addresses, as
/// this process has them.
///
/// Asks for that socket alone, some microseconds; a system that does not answer that is asked for its table of TCP sockets, whose time grows
/// with how many there are, about a millisecond for 1,000.
pub fn of(own: SocketAddr, other: SocketAddr) -> Peer {
    let user = rustix::process::geteuid().as_raw();
    #[cfg(target_os = "linux")]
    if let Some(found) = crate::socket_table::by_ends(other, own) {
        return whose(Some((found.owner, found.socket != 0)), user);
    }
    let table = if other.is_ipv4() {
        "/proc/net/tcp"
    } else {
        "/proc/net/tcp6"
    };
    let Ok(table) = crate::Disk::real().read(Path::new(table)) else {
        return Peer::Unknown;
    };
    in_table(&String::from_utf8_lossy(&table), (other, own), user)
}

/// Returns the process at the other end of a TCP connection; `own` and `other` are its two addresses, as this process has them.
///
/// `None` if it has gone, belongs to a user whose files this one may not see, or the system does not say (off Linux). Reads
/// the open files of every process: some milliseconds.
pub fn process(own: SocketAddr, other: SocketAddr) -> Option<u32> {
    #[cfg(target_os = "linux")]
    {
        let found = crate::socket_table::by_ends(other, own)?;
        crate::machine::holder(u64::from(found.socket))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (own, other);
        None
    }
}

/// Finds the owner in a table: its second and third columns are the two ends of a socket, the
/// eighth is its user and the tenth its number, which is 0 once no process holds it.
fn in_table(table: &str, (local, remote): (SocketAddr, SocketAddr), user: u32) -> Peer {
    let ends = [column(local), column(remote)];
    let found = table.lines().skip(1).find_map(|line| {
        let mut columns = line.split_ascii_whitespace().skip(1);
        let is_it = ends.iter().all(|end| columns.next() == Some(end.as_str()));
        let (owner, socket) = (columns.nth(4)?, columns.nth(1)?);
        is_it.then_some((owner.parse::<u32>().ok()?, socket != "0"))
    });
    whose(found, user)
}

/// Determines the owner of a socket with this user, held or not. For one without a holder many
/// systems report the superuser, regardless of its real owner.
fn whose(found: Option<(u32, bool)>, user: u32) -> Peer {
    match found {
        None | Some((0, false)) => Peer::Gone,
        Some((owner, _)) if owner == user || owner == 0 => Peer::Own,
        Some(_) => Peer::Other,
    }
}

/// An address as the table has it: the words of its bytes in the machine's order, and the port.
fn column(address: SocketAddr) -> String {
    use std::fmt::Write as _;
    let bytes = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let mut text = String::new();
    for word in bytes.as_chunks::<4>().0 {
        let _ = write!(text, "{:08X}", u32::from_ne_bytes(*word));
    }
    let _ = write!(text, ":{:04X}", address.port());
    text
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
         0: 0100007F:2198 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 29871 1\n   \
         1: 0100007F:C350 0100007F:2198 01 00000000:00000000 00:00000000 00000000  1000        0 31000 1\n   \
         2: 0100007F:C351 0100007F:2198 01 00000000:00000000 00:00000000 00000000 65534        0 31001 1\n   \
         3: 0100007F:C352 0100007F:2198 06 00000000:00000000 00:00000000 00000000     0        0 0 3\n   \
         4: 0100007F:C353 0100007F:2198 01 00000000:00000000 00:00000000 00000000     0        0 31002 1\n   \
         5: 0100007F:2198 0100007F:C351 01 00000000:00000000 00:00000000 00000000  1000        0 31003 1\n   \
         6: 0100007F:C355 0100007F:2198 04 00000000:00000000 00:00000000 00000000  1000        0 0 1\n   \
         7: 0100007F:C356 0100007F:2198 04 00000000:00000000 00:00000000 00000000  1001        0 0 1\n";

    /// CALC-SEC-1: distinguishes sockets of this user and of the superuser from those of another,
    /// and from those without a holder.
    #[test]
    #[cfg(target_endian = "little")]
    fn a_table_says_whose_it_is() {
        let own: SocketAddr = "127.0.0.1:8600".parse().unwrap();
        for (port, peer) in [
            (0xC350, Peer::Own),
            (0xC351, Peer::Other),
            (0xC352, Peer::Gone),
            (0xC353, Peer::Own),
            (0xC354, Peer::Gone),
            (0xC355, Peer::Own),
            (0xC356, Peer::Other),
        ] {
            let other = SocketAddr::new(own.ip(), port);
            assert_eq!(in_table(TABLE, (other, own), 1000), peer, "{port:x}");
        }
    }

    /// CALC-SEC-1: an own connection is known as one, over both kinds of addresses.
    #[test]
    #[cfg(target_os = "linux")]
    fn an_own_connection_is_known() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // A machine may have no addresses of this kind.
            let Ok(listener) = TcpListener::bind(address) else {
                continue;
            };
            let held = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (stream, other) = listener.accept().unwrap();
            let own = stream.local_addr().unwrap();
            assert_eq!(of(own, other), Peer::Own);
            // A system may not answer questions about one socket.
            let process = process(own, other);
            assert!(
                process.is_none_or(|pid| pid == std::process::id()),
                "{process:?}"
            );
            // A system may not answer questions about one socket.
            if let Some(found) = crate::socket_table::by_ends(other, own) {
                let user = rustix::process::geteuid().as_raw();
                assert!(found.socket != 0 && found.owner == user, "{found:?}");
                assert_eq!(crate::socket_table::by_ends(own, own), None);
            }
            drop(held);
            assert_eq!(of(own, other), Peer::Gone);
        }
    }
}
