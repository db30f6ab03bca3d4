//! One kernel as the simulator sees it: its process, its two sockets and its network card.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as WallTime;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use tailback_units::Time;

use crate::error::{Context, KernelError};
use crate::look_ahead;
use crate::network::{Network, Port};
use crate::nic::{Nic, RECEIVE, TRANSMIT};
use crate::process::Process;
use crate::socket::{Stream, send_all, wait_readable};
use crate::time_travel::{Message, Op, SharedClock};
use crate::vhost_user::{Answer, Header, REPLY_FLAGS, Session, call_message};

/// A wish to run at this time or later means never (the kernel's S64_MAX).
const IDLE_NS: u64 = i64::MAX as u64;

/// How long a kernel is waited for, wall-clock time, before a look at whether the run is given up.
const LOOK: WallTime = WallTime::from_millis(100);

/// What all hosts of a run have in common.
pub(crate) struct Common {
    /// The clock in shared memory; without it times travel in messages.
    pub(crate) clock: Option<SharedClock>,
    /// Time of day at time zero, ns since 1970.
    pub(crate) epoch_ns: u64,
    /// How long a kernel may run without a word, wall-clock time.
    pub(crate) patience: WallTime,
    /// Set from another thread: the run is given up.
    pub(crate) given_up: Arc<AtomicBool>,
    /// Buffers for packets that are not in use.
    pub(crate) spare: Vec<Vec<u8>>,
}

impl Common {
    /// Waits until one of the descriptors can be read or its other side is gone, and says which; `None` when
    /// patience is over.
    pub(crate) fn wait<const N: usize>(
        &self,
        fds: [BorrowedFd<'_>; N],
    ) -> Result<Option<[bool; N]>, KernelError> {
        let mut left = self.patience;
        loop {
            let part = left.min(LOOK);
            let ready = wait_readable(fds, part).context(|| "wait for a kernel".to_owned())?;
            if ready.is_some() {
                return Ok(ready);
            }
            self.is_given_up()?;
            left -= part;
            if left.is_zero() {
                return Ok(None);
            }
        }
    }

    /// An error if it is.
    pub(crate) fn is_given_up(&self) -> Result<(), KernelError> {
        match self.given_up.load(Ordering::Relaxed) {
            true => Err(KernelError::GivenUp),
            false => Ok(()),
        }
    }
}

/// One kernel.
pub(crate) struct Host {
    pub(crate) name: String,
    /// Its number in the shared clock, from 1; its port in the network is one less.
    party: u16,
    process: Process,
    clock: Option<Stream>,
    listener: UnixListener,
    device: Option<Stream>,
    session: Session,
    pub(crate) nic: Nic,
    /// When it wants to run, ns, if times travel in messages.
    wish_ns: Option<u64>,
    /// Its own time, ns, if times travel in messages.
    local_ns: u64,
    seq: u32,
    ended: bool,
}

impl Host {
    pub(crate) fn new(
        name: &str,
        party: u16,
        process: Process,
        listener: UnixListener,
        nic: Nic,
    ) -> Host {
        Host {
            name: name.to_owned(),
            party,
            process,
            clock: None,
            listener,
            device: None,
            session: Session::new(nic.features(), nic.config_space()),
            nic,
            wish_ns: None,
            local_ns: 0,
            seq: 0,
            ended: false,
        }
    }

    /// Whether its kernel has powered off.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Its process, before it is connected.
    pub(crate) fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// The clock in memory, if this kernel has taken it into use.
    fn shared<'a>(&self, common: &'a Common) -> Option<&'a SharedClock> {
        common
            .clock
            .as_ref()
            .filter(|clock| clock.shares(self.party))
    }

    /// The process of its kernel.
    pub(crate) fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Its connection to the calendar, from which `Start` has been read.
    pub(crate) fn connected(&mut self, clock: Stream) {
        self.clock = Some(clock);
    }

    /// When its kernel wants to run, ns.
    pub(crate) fn request_ns(&self, common: &Common) -> Option<u64> {
        if self.ended {
            return None;
        }
        let at = match self.shared(common) {
            Some(clock) => clock.request(self.party),
            None => self.wish_ns,
        };
        at.filter(|at| *at < IDLE_NS)
    }

    /// Answers its first word and lets it boot until it waits for the first time.
    pub(crate) fn boot(
        &mut self,
        start: Message,
        network: &mut impl Network,
        common: &mut Common,
    ) -> Result<(), KernelError> {
        let none = std::fs::File::open("/dev/null").context(|| "open /dev/null".to_owned())?;
        if let Some(clock) = &common.clock {
            // Nobody may let time run until all have started.
            clock.run(self.party, 0, 0);
            let ack = start.ack(u64::from(self.party)).to_bytes();
            let fds = [clock.fd(), none.as_fd()];
            let sent = self.clock_stream()?.send_with_fds(&ack, &fds);
            self.sent(sent)?;
        } else {
            let sent = self.clock_stream()?.send(&start.ack(0).to_bytes());
            self.sent(sent)?;
        }
        self.serve(0, Time::ZERO, network, common)
    }

    /// Lets the kernel run at `now_ns` until it waits; see `bound_ns` for `leash`.
    pub(crate) fn run(
        &mut self,
        now_ns: u64,
        leash: Time,
        network: &mut impl Network,
        common: &mut Common,
    ) -> Result<(), KernelError> {
        self.local_ns = now_ns;
        self.wish_ns = None;
        if let Some(clock) = self.shared(common) {
            clock.run(self.party, now_ns, self.bound_ns(leash, network));
        }
        self.seq = self.seq.wrapping_add(1);
        let run = Message {
            op: Op::Run,
            seq: self.seq,
            time: now_ns,
        };
        let sent = self.clock_stream()?.send(&run.to_bytes());
        self.sent(sent)?;
        self.serve(now_ns, leash, network, common)
    }

    /// Interrupts the guest at `now_ns` for what its card has to say.
    pub(crate) fn handle_nic(
        &mut self,
        now_ns: u64,
        network: &mut impl Network,
        common: &mut Common,
    ) -> Result<(), KernelError> {
        let now = time(now_ns);
        let Some(memory) = &self.session.memory else {
            return Err(self.protocol("its card has work, but no memory".to_owned()));
        };
        let mut port = Port::new(network, usize::from(self.party - 1), &mut common.spare);
        let mut emptied = Vec::new();
        let wanted = self
            .nic
            .handle(
                now,
                &mut self.session.queues,
                memory,
                &mut port,
                &mut emptied,
            )
            .map_err(|what| protocol(&self.name, what))?;
        common.spare.append(&mut emptied);
        let mut calls = [0; 40];
        let mut count = 0;
        for (queue, wanted) in [(RECEIVE, wanted.receive), (TRANSMIT, wanted.transmit)] {
            if wanted {
                calls[20 * count..20 * (count + 1)].copy_from_slice(&call_message(queue));
                count += 1;
            }
        }
        if count == 0 {
            return Ok(());
        }
        self.local_ns = now_ns;
        if let Some(clock) = &common.clock {
            clock.run(crate::time_travel::SIMULATOR, now_ns, now_ns);
        }
        self.call(&calls[..20 * count], count, common)
    }

    /// Sends interrupts and waits until the kernel has noted them.
    fn call(&mut self, calls: &[u8], count: usize, common: &Common) -> Result<(), KernelError> {
        const REPLY_BYTES: usize = 20;
        let Some(fd) = &self.session.call_fd else {
            return Err(self.protocol("it gave no descriptor for interrupts".to_owned()));
        };
        if send_all(fd.as_fd(), calls).is_err() {
            return self.gone();
        }
        let mut replies = [0; 2 * REPLY_BYTES];
        let mut have = 0;
        let mut waited = WallTime::ZERO;
        // With the clock in memory it has nothing to say or ask until it has replied.
        let only_replies = self.shared(common).is_some();
        while have < REPLY_BYTES * count {
            if !only_replies && !self.replies_next(common)? {
                if self.ended {
                    return Ok(());
                }
                continue;
            }
            let Some(fd) = &self.session.call_fd else {
                return Err(self.protocol("it is not connected".to_owned()));
            };
            let room = &mut replies[have..REPLY_BYTES * count];
            match rustix::io::read(fd, room) {
                Ok(0) | Err(rustix::io::Errno::CONNRESET) => return self.gone(),
                Ok(read) => have += read,
                Err(rustix::io::Errno::INTR) => {}
                // The socket's limit, set when it came.
                Err(rustix::io::Errno::AGAIN) => {
                    common.is_given_up()?;
                    waited += LOOK;
                    if waited >= common.patience {
                        return Err(self.stuck(common));
                    }
                }
                Err(error) => {
                    return Err(io::Error::from(error))
                        .context(|| format!("read from the card's driver on host {}", self.name));
                }
            }
        }
        for reply in replies.chunks(REPLY_BYTES).take(count) {
            let word = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|i| reply[at + i]));
            if word(4) & !8 != REPLY_FLAGS || word(12) != 0 {
                return Err(self.protocol("it refused an interrupt".to_owned()));
            }
        }
        Ok(())
    }

    /// Answers what the kernel says about time until there is a reply to an interrupt; false if
    /// there is none yet, or the kernel is gone.
    fn replies_next(&mut self, common: &Common) -> Result<bool, KernelError> {
        let (Some(fd), Some(clock)) = (&self.session.call_fd, &self.clock) else {
            return Err(self.protocol("it is not connected".to_owned()));
        };
        match common.wait([fd.as_fd(), clock.as_fd()])? {
            None => Err(self.stuck(common)),
            Some([true, _]) => Ok(true),
            Some([false, _]) => {
                if !self.fill_clock()? {
                    self.gone()?;
                    return Ok(false);
                }
                while let Some(message) = self.next_message()? {
                    self.handle_message(message, common)?;
                }
                Ok(false)
            }
        }
    }

    /// Answers what the kernel says until it waits.
    fn serve(
        &mut self,
        now_ns: u64,
        leash: Time,
        network: &mut impl Network,
        common: &mut Common,
    ) -> Result<(), KernelError> {
        self.local_ns = now_ns;
        while !self.ended {
            if self.serve_device(leash, network, common)? {
                continue;
            }
            if let Some(message) = self.next_message()? {
                if self.handle_message(message, common)? {
                    if let Some(clock) = &common.clock {
                        clock.rest();
                    }
                    return Ok(());
                }
                continue;
            }
            let Some(clock) = &self.clock else {
                return Err(self.protocol("it is not connected".to_owned()));
            };
            let other = match &self.device {
                Some(device) => device.as_fd(),
                None => self.listener.as_fd(),
            };
            let Some([clock, device]) = common.wait([clock.as_fd(), other])? else {
                return Err(self.stuck(common));
            };
            if device {
                match &mut self.device {
                    Some(device) => {
                        let filled = device.fill();
                        if self.check(filled)? == 0 {
                            return self.gone();
                        }
                    }
                    None => {
                        let accepted = self.listener.accept();
                        let (stream, _) = self.check(accepted)?;
                        self.device = Some(Stream::new(OwnedFd::from(stream)));
                    }
                }
            } else if clock && !self.fill_clock()? {
                return self.gone();
            }
        }
        Ok(())
    }

    /// Handles one message of the card's driver, if there is a whole one.
    fn serve_device(
        &mut self,
        leash: Time,
        network: &mut impl Network,
        common: &mut Common,
    ) -> Result<bool, KernelError> {
        let Some(device) = &mut self.device else {
            return Ok(false);
        };
        let Some(head) = device.peek().first_chunk() else {
            return Ok(false);
        };
        let header = Header::from_bytes(head);
        let whole = Header::BYTES + header.size as usize;
        if device.len() < whole {
            return Ok(false);
        }
        let message = device.take_vec(whole);
        let fd = || device.take_fd();
        let answer = self
            .session
            .handle(header, &message[Header::BYTES..], fd)
            .map_err(|what| protocol(&self.name, what))?;
        let reply = match answer {
            Answer::Silence => return Ok(true),
            Answer::Reply(reply) => reply,
            Answer::Ready(reply) => {
                self.nic.negotiated(self.session.features);
                if let Some(fd) = &self.session.call_fd {
                    set_socket_timeout(fd, Timeout::Recv, Some(LOOK))
                        .context(|| "limit the wait for a kernel".to_owned())?;
                }
                reply
            }
            Answer::Kick(queue, reply) => {
                self.kicked(queue, leash, network, common)?;
                reply
            }
        };
        let sent = self
            .device
            .as_ref()
            .map_or(Ok(()), |device| device.send(&reply));
        self.sent(sent)?;
        Ok(true)
    }

    /// The driver has kicked a queue.
    fn kicked(
        &mut self,
        queue: u32,
        leash: Time,
        network: &mut impl Network,
        common: &mut Common,
    ) -> Result<(), KernelError> {
        if queue != TRANSMIT {
            return Ok(());
        }
        let now_ns = match self.shared(common) {
            Some(clock) => clock.current_ns(),
            None => self.local_ns,
        };
        let Some(memory) = &self.session.memory else {
            return Err(self.protocol("it kicks before it has given its memory".to_owned()));
        };
        let mut port = Port::new(network, usize::from(self.party - 1), &mut common.spare);
        let transmit = &mut self.session.queues[TRANSMIT as usize];
        self.nic
            .kicked(time(now_ns), transmit, memory, &mut port)
            .map_err(|what| protocol(&self.name, what))?;
        if let Some(clock) = self.shared(common) {
            clock.set_free_until(self.bound_ns(leash, network));
        }
        Ok(())
    }

    /// How far this kernel may let time run: no interrupt can come for it before.
    /// `leash` is when anything could arrive from other hosts, or zero if it may not run ahead.
    fn bound_ns(&self, leash: Time, network: &mut impl Network) -> u64 {
        if leash == Time::ZERO {
            return 0;
        }
        ceil_ns(look_ahead::bound(leash, network.next_event(), &self.nic))
    }

    /// Handles a message about time; true if the kernel waits from now on.
    fn handle_message(&mut self, message: Message, common: &Common) -> Result<bool, KernelError> {
        let now_ns = match self.shared(common) {
            Some(clock) => clock.current_ns(),
            None => self.local_ns,
        };
        let ack = match message.op {
            Op::Wait if self.shared(common).is_some() => return Ok(true),
            Op::Ack => return Ok(false),
            Op::Request => {
                match self.shared(common) {
                    Some(clock) => clock.set_request(self.party, message.time),
                    None => self.wish_ns = Some(message.time),
                }
                message.ack(0)
            }
            Op::Get => message.ack(now_ns),
            Op::TimeOfDay => message.ack(common.epoch_ns + now_ns),
            Op::Update => {
                self.local_ns = message.time;
                message.ack(0)
            }
            Op::Wait | Op::Broadcast => message.ack(0),
            Op::Start | Op::Run | Op::FreeUntil => {
                return Err(self.protocol(format!("{:?} is not for it to say", message.op)));
            }
        };
        let sent = self.clock_stream()?.send(&ack.to_bytes());
        self.sent(sent)?;
        Ok(message.op == Op::Wait)
    }

    fn next_message(&mut self) -> Result<Option<Message>, KernelError> {
        let Some(bytes) = self.clock.as_mut().and_then(Stream::take) else {
            return Ok(None);
        };
        Message::from_bytes(&bytes)
            .map(Some)
            .map_err(|op| self.protocol(format!("time-travel operation {op} is not known here")))
    }

    /// Reads from the calendar's socket; false if the kernel is gone.
    fn fill_clock(&mut self) -> Result<bool, KernelError> {
        let Some(clock) = &mut self.clock else {
            return Ok(false);
        };
        let filled = clock.fill();
        self.check(filled).map(|count| count > 0)
    }

    fn clock_stream(&self) -> Result<&Stream, KernelError> {
        self.clock
            .as_ref()
            .ok_or_else(|| self.protocol("it is not connected".to_owned()))
    }

    /// The kernel has closed its sockets: it has ended, in order or not.
    fn gone(&mut self) -> Result<(), KernelError> {
        self.ended = true;
        self.process.end()
    }

    fn stuck(&mut self, common: &Common) -> KernelError {
        self.process.kill();
        self.ended = true;
        KernelError::Stuck {
            host: self.name.clone(),
            at_ns: self.local_ns,
            wall_s: common.patience.as_secs(),
        }
    }

    /// What came of sending it something: to a kernel that is gone nothing can be sent, and why it is gone is
    /// the error, if it is one.
    fn sent(&mut self, result: io::Result<()>) -> Result<(), KernelError> {
        use io::ErrorKind::{BrokenPipe, ConnectionReset};
        match result {
            Err(error) if matches!(error.kind(), BrokenPipe | ConnectionReset) => self.gone(),
            other => self.check(other),
        }
    }

    fn check<T>(&self, result: io::Result<T>) -> Result<T, KernelError> {
        result.context(|| format!("talk to the kernel of host {}", self.name))
    }

    fn protocol(&self, what: String) -> KernelError {
        protocol(&self.name, what)
    }
}

fn protocol(host: &str, what: String) -> KernelError {
    KernelError::Protocol {
        host: host.to_owned(),
        what,
    }
}

/// A kernel's nanoseconds as the simulator's time.
pub(crate) fn time(ns: u64) -> Time {
    Time::from_ps(ns * 1000)
}

/// The first whole nanosecond that is not before `at`.
pub(crate) fn ceil_ns(at: Time) -> u64 {
    at.as_ps().div_ceil(1000)
}
