//! Open descriptors, passed to another process by a socket.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::{
        fd::{BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
};

use rustix::{
    io::Errno,
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
    },
};

/// Most descriptors that are passed at once.
pub(super) const MOST: usize = 64;

/// Sends one byte, and these with it.
pub(super) fn send(socket: &UnixStream, ends: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut message = SendAncillaryBuffer::new(&mut space);
    if ends.len() > MOST || !message.push(SendAncillaryMessage::ScmRights(ends)) {
        return Err(Errno::TOOBIG.into());
    }
    let byte = [IoSlice::new(&[0])];
    loop {
        match sendmsg(socket, &byte, &mut message, SendFlags::NOSIGNAL) {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Takes the descriptors that were sent together; `None` if the other end is closed.
///
/// No program that is started later inherits them.
pub(super) fn receive(socket: &UnixStream) -> io::Result<Option<Vec<OwnedFd>>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut message = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    #[cfg(target_os = "linux")]
    let how = RecvFlags::CMSG_CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let how = RecvFlags::empty();
    let received = recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut message, how)?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let mut ends = Vec::new();
    for part in message.drain() {
        if let RecvAncillaryMessage::ScmRights(passed) = part {
            ends.extend(passed);
        }
    }
    #[cfg(not(target_os = "linux"))]
    for end in &ends {
        rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC)?;
    }
    Ok(Some(ends))
}
