//! Messages of a vhost-user socket: a header of 12 bytes and a payload.

/// Header flags: version 1 in bits 0 and 1.
const VERSION: u32 = 1;
/// Header flag: an answer is asked for.
pub(crate) const NEED_REPLY: u32 = 1 << 3;
/// What a reply's flags have to be: version 1, reply.
pub(crate) const REPLY_FLAGS: u32 = VERSION | 1 << 2;
/// Request of the back-end: interrupt for a queue (VHOST_USER_BACKEND_VRING_CALL).
const VRING_CALL: u32 = 4;

/// Requests of the front-end (vhost-user.rst, front-end message types).
pub(crate) mod request {
    pub(crate) const GET_FEATURES: u32 = 1;
    pub(crate) const SET_FEATURES: u32 = 2;
    pub(crate) const SET_OWNER: u32 = 3;
    pub(crate) const SET_MEM_TABLE: u32 = 5;
    pub(crate) const SET_VRING_NUM: u32 = 8;
    pub(crate) const SET_VRING_ADDR: u32 = 9;
    pub(crate) const SET_VRING_BASE: u32 = 10;
    pub(crate) const GET_PROTOCOL_FEATURES: u32 = 15;
    pub(crate) const SET_PROTOCOL_FEATURES: u32 = 16;
    pub(crate) const SET_VRING_ENABLE: u32 = 18;
    pub(crate) const SET_BACKEND_REQ_FD: u32 = 21;
    pub(crate) const GET_CONFIG: u32 = 24;
    pub(crate) const SET_CONFIG: u32 = 25;
    pub(crate) const VRING_KICK: u32 = 35;
}

/// A message's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) request: u32,
    pub(crate) flags: u32,
    /// Bytes of payload.
    pub(crate) size: u32,
}

impl Header {
    /// Bytes of a header.
    pub(crate) const BYTES: usize = 12;

    pub(crate) fn from_bytes(bytes: &[u8; Header::BYTES]) -> Header {
        Header {
            request: word(bytes, 0),
            flags: word(bytes, 4),
            size: word(bytes, 8),
        }
    }

    pub(crate) fn to_bytes(self) -> [u8; Header::BYTES] {
        let mut bytes = [0; Header::BYTES];
        bytes[..4].copy_from_slice(&self.request.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.flags.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.size.to_ne_bytes());
        bytes
    }

    /// This message's reply with `payload`.
    pub(crate) fn reply(self, payload: &[u8]) -> Vec<u8> {
        let header = Header {
            request: self.request,
            flags: REPLY_FLAGS,
            size: payload.len() as u32,
        };
        let mut bytes = header.to_bytes().to_vec();
        bytes.extend_from_slice(payload);
        bytes
    }
}

/// The message that interrupts a guest for a queue.
pub(crate) fn call_message(queue: u32) -> [u8; 20] {
    let header = Header {
        request: VRING_CALL,
        flags: VERSION | NEED_REPLY,
        size: 8,
    };
    let mut bytes = [0; 20];
    bytes[..12].copy_from_slice(&header.to_bytes());
    bytes[12..16].copy_from_slice(&queue.to_ne_bytes());
    bytes
}

/// The 32-bit number at `at`; zero beyond the end.
pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..at + 4)
        .map_or(0, |b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
}

/// The 64-bit number at `at`; zero beyond the end.
pub(super) fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
}
