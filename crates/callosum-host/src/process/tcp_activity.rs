//! [`last_received`]: when processes last received something by way of TCP.
//!
//! The system keeps that with each [connection](crate::connections), so that it need not be measured.

use std::{collections::HashSet, path::Path, time::Duration};

use crate::{Disk, socket_table};

/// Returns the time since the last bytes came over a TCP connection that one of the processes has
/// open; `None` if none did, or if the system does not tell.
///
/// Costs a look at the open files of the processes, and at each connection of the machine.
pub(super) fn last_received(processes: &[u32]) -> Option<Duration> {
    let sockets: HashSet<u32> = processes.iter().flat_map(|pid| sockets_of(*pid)).collect();
    if sockets.is_empty() {
        return None;
    }
    let all = socket_table::received().ok()?;
    let ours = all.iter().filter(|one| sockets.contains(&one.socket));
    ours.map(|one| one.ago).min()
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

/// Whether the system lists connections at all; some kinds of containers hide them.
#[cfg(test)]
pub(super) fn tells() -> bool {
    socket_table::received().is_ok()
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::{TcpListener, TcpStream},
    };

    use super::*;

    /// Bytes over a connection of this process are seen, if the system tells of connections at all.
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
