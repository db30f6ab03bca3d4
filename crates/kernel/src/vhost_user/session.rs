//! One device's side of the conversation with its driver: requests in, answers out.

use std::fs::File;
use std::os::fd::OwnedFd;

use virtio_queue::{Queue, QueueT};
use vm_memory::{FileOffset, GuestAddress, GuestMemoryMmap};

use super::message::{Header, NEED_REPLY, long, request, word};

/// Queues of a network card: receive, transmit.
const QUEUES: usize = 2;
/// Ring size that User-Mode Linux asks for (MAX_SUPPORTED_QUEUE_SIZE).
const RING_SIZE_MAX: u16 = 256;

/// VHOST_USER_F_PROTOCOL_FEATURES.
const PROTOCOL_FEATURES: u64 = 1 << 30;
/// VIRTIO_RING_F_EVENT_IDX.
const EVENT_IDX: u64 = 1 << 29;
/// Protocol features: REPLY_ACK, BACKEND_REQ, CONFIG, INBAND_NOTIFICATIONS.
const OFFERED_PROTOCOL_FEATURES: u64 = 1 << 3 | 1 << 5 | 1 << 9 | 1 << 14;

/// What a request comes to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nothing is to be said.
    Silence,
    /// These bytes are to be sent.
    Reply(Vec<u8>),
    /// A queue has been kicked: look at it, then send the bytes.
    Kick(u32, Vec<u8>),
    /// Both queues are ready to be used; then send the bytes.
    Ready(Vec<u8>),
}

/// The conversation so far.
#[derive(Debug)]
pub(crate) struct Session {
    offered: u64,
    config: Vec<u8>,
    /// What the driver took of what was offered.
    pub(crate) features: u64,
    /// The guest's memory.
    pub(crate) memory: Option<GuestMemoryMmap>,
    /// Receive and transmit queue.
    pub(crate) queues: [Queue; QUEUES],
    /// Where interrupts go.
    pub(crate) call_fd: Option<OwnedFd>,
    enabled: [bool; QUEUES],
}

impl Session {
    /// A device with these features and this configuration space.
    pub(crate) fn new(features: u64, config: Vec<u8>) -> Session {
        let queue = || Queue::new(RING_SIZE_MAX).expect("256 is a power of two");
        Session {
            offered: features | PROTOCOL_FEATURES,
            config,
            features: 0,
            memory: None,
            queues: [queue(), queue()],
            call_fd: None,
            enabled: [false; QUEUES],
        }
    }

    /// Handles a request; `fd` is what came with it. An error says what was wrong.
    pub(crate) fn handle(
        &mut self,
        header: Header,
        payload: &[u8],
        fd: impl FnOnce() -> Option<OwnedFd>,
    ) -> Result<Answer, String> {
        let mut ready = false;
        match header.request {
            request::GET_FEATURES => return Ok(number(header, self.offered)),
            request::GET_PROTOCOL_FEATURES => {
                return Ok(number(header, OFFERED_PROTOCOL_FEATURES));
            }
            request::GET_CONFIG => return self.config(header, payload),
            request::VRING_KICK => return Ok(Answer::Kick(word(payload, 0), done(header))),
            request::SET_OWNER | request::SET_CONFIG => {}
            request::SET_PROTOCOL_FEATURES => {
                let missing = OFFERED_PROTOCOL_FEATURES & !long(payload, 0);
                if missing != 0 {
                    return Err(format!(
                        "its virtio driver lacks vhost-user protocol features {missing:#x}; \
                         exact virtual time needs them (Linux 5.15 and later have them)"
                    ));
                }
            }
            request::SET_FEATURES => self.features = long(payload, 0),
            request::SET_BACKEND_REQ_FD => {
                self.call_fd = Some(fd().ok_or("no descriptor for interrupts came")?);
            }
            request::SET_MEM_TABLE => self.memory = Some(map(payload, fd())?),
            request::SET_VRING_NUM => {
                let size = word(payload, 4) as u16;
                self.queue(payload)?.set_size(size);
            }
            request::SET_VRING_BASE => {
                let base = word(payload, 4) as u16;
                let queue = self.queue(payload)?;
                queue.set_next_avail(base);
                queue.set_next_used(base);
            }
            request::SET_VRING_ADDR => {
                let [table, used, available] = [8, 16, 24].map(|at| long(payload, at));
                let halves = |address: u64| (Some(address as u32), Some((address >> 32) as u32));
                let queue = self.queue(payload)?;
                let (low, high) = halves(table);
                queue.set_desc_table_address(low, high);
                let (low, high) = halves(used);
                queue.set_used_ring_address(low, high);
                let (low, high) = halves(available);
                queue.set_avail_ring_address(low, high);
            }
            request::SET_VRING_ENABLE => {
                let on = word(payload, 4) != 0;
                let event_idx = self.features & EVENT_IDX != 0;
                let queue = self.queue(payload)?;
                queue.set_event_idx(event_idx);
                queue.set_ready(on);
                self.enabled[word(payload, 0) as usize] = on;
                ready = self.enabled == [true; QUEUES];
            }
            other => return Err(format!("vhost-user request {other} is not known here")),
        }
        Ok(match (ready, header.flags & NEED_REPLY != 0) {
            (true, _) => Answer::Ready(done(header)),
            (false, true) => Answer::Reply(done(header)),
            (false, false) => Answer::Silence,
        })
    }

    fn queue(&mut self, payload: &[u8]) -> Result<&mut Queue, String> {
        let index = word(payload, 0);
        self.queues
            .get_mut(index as usize)
            .ok_or_else(|| format!("there is no queue {index}"))
    }

    /// The configuration space from zero on, as long as it was asked for; zeros beyond its end.
    fn config(&self, header: Header, payload: &[u8]) -> Result<Answer, String> {
        const FIELDS: usize = 12;
        let asked = (header.size as usize).saturating_sub(FIELDS);
        let offset = word(payload, 0) as usize;
        let mut reply = payload.get(..FIELDS).ok_or("a short request")?.to_vec();
        reply.extend((offset..offset + asked).map(|at| self.config.get(at).copied().unwrap_or(0)));
        Ok(Answer::Reply(header.reply(&reply)))
    }
}

/// The reply that carries a number.
fn number(header: Header, value: u64) -> Answer {
    Answer::Reply(header.reply(&value.to_ne_bytes()))
}

/// The bytes that say a request was done, if that was asked for.
fn done(header: Header) -> Vec<u8> {
    if header.flags & NEED_REPLY == 0 {
        return Vec::new();
    }
    header.reply(&0_u64.to_ne_bytes())
}

/// Maps the guest's memory; the kernel announces one region, whose user addresses are its guest
/// addresses.
fn map(payload: &[u8], fd: Option<OwnedFd>) -> Result<GuestMemoryMmap, String> {
    const REGION: usize = 8;
    let [guest, size, user, offset] = [0, 8, 16, 24].map(|at| long(payload, REGION + at));
    if word(payload, 0) != 1 || guest != user {
        return Err("its memory is not one region with its own addresses".to_owned());
    }
    let file = File::from(fd.ok_or("no descriptor for its memory came")?);
    let range = (
        GuestAddress(guest),
        size as usize,
        Some(FileOffset::new(file, offset)),
    );
    GuestMemoryMmap::from_ranges_with_files([range])
        .map_err(|error| format!("its memory cannot be mapped: {error}"))
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
