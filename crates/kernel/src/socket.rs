//! Unix sockets that carry descriptors, and waiting for them with a limit in wall-clock time.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, send, sendmsg,
};

/// Most descriptors in one message of either protocol.
const FDS_MAX: usize = 8;

/// A stream with what has been read from it and not been used.
#[derive(Debug)]
pub(crate) struct Stream {
    fd: OwnedFd,
    bytes: VecDeque<u8>,
    fds: VecDeque<OwnedFd>,
}

impl Stream {
    pub(crate) fn new(fd: OwnedFd) -> Stream {
        Stream {
            fd,
            bytes: VecDeque::with_capacity(1024),
            fds: VecDeque::new(),
        }
    }

    /// Reads what is there, once; zero bytes say that the other side is gone.
    pub(crate) fn fill(&mut self) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FDS_MAX))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut buffer = [0; 1024];
        let received = loop {
            let mut parts = [IoSliceMut::new(&mut buffer)];
            match recvmsg(&self.fd, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC) {
                Err(rustix::io::Errno::INTR) => {}
                // Gone before it had read all that was sent to it.
                Err(rustix::io::Errno::CONNRESET) => break 0,
                other => break other?.bytes,
            }
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                self.fds.extend(fds);
            }
        }
        self.bytes.extend(&buffer[..received]);
        Ok(received)
    }

    /// How many bytes are there to be used.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes that are there to be used.
    pub(crate) fn peek(&mut self) -> &[u8] {
        self.bytes.make_contiguous()
    }

    /// Takes the first `N` bytes if they are there.
    pub(crate) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        if self.bytes.len() < N {
            return None;
        }
        let mut taken = [0; N];
        for (to, from) in taken.iter_mut().zip(self.bytes.drain(..N)) {
            *to = from;
        }
        Some(taken)
    }

    /// Takes the first `count` bytes, which are there.
    pub(crate) fn take_vec(&mut self, count: usize) -> Vec<u8> {
        self.bytes.drain(..count).collect()
    }

    /// Takes the descriptor that came first.
    pub(crate) fn take_fd(&mut self) -> Option<OwnedFd> {
        self.fds.pop_front()
    }

    /// Sends bytes.
    pub(crate) fn send(&self, bytes: &[u8]) -> io::Result<()> {
        send_all(self.fd.as_fd(), bytes)
    }

    /// Sends bytes with descriptors.
    pub(crate) fn send_with_fds(&self, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FDS_MAX))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !control.push(SendAncillaryMessage::ScmRights(fds)) {
            return Err(io::Error::other("too many descriptors for one message"));
        }
        let sent = sendmsg(
            &self.fd,
            &[IoSlice::new(bytes)],
            &mut control,
            SendFlags::NOSIGNAL,
        )?;
        if sent == bytes.len() {
            Ok(())
        } else {
            Err(io::ErrorKind::WriteZero.into())
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Sends all of `bytes` on a socket that blocks, or has room.
pub(crate) fn send_all(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        match send(fd, rest, SendFlags::NOSIGNAL) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(sent) => rest = &rest[sent..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Waits until one of the descriptors can be read or its other side is gone, and says which;
/// `None` when `patience` has passed.
pub(crate) fn wait_readable<const N: usize>(
    fds: [BorrowedFd<'_>; N],
    patience: Duration,
) -> io::Result<Option<[bool; N]>> {
    let mut polled = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
    let limit = Timespec {
        tv_sec: patience.as_secs() as i64,
        tv_nsec: i64::from(patience.subsec_nanos()),
    };
    loop {
        match poll(&mut polled, Some(&limit)) {
            Ok(0) => return Ok(None),
            Ok(_) => return Ok(Some(polled.map(|fd| !fd.revents().is_empty()))),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
