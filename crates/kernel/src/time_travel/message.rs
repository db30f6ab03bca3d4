//! Messages of the time-travel socket: 16 bytes, in the machine's byte order.

/// What a message asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Op {
    /// Answers any other message, with its number.
    Ack = 0,
    /// A kernel's first word; its time is the identifier of the command line.
    Start = 1,
    /// A kernel wants to run at this time, in place of any earlier wish.
    Request = 2,
    /// A kernel has nothing more to do now.
    Wait = 3,
    /// What time is it?
    Get = 4,
    /// A kernel's own time has come so far.
    Update = 5,
    /// A kernel may run; it is this time.
    Run = 6,
    /// A kernel may let its time run up to here.
    FreeUntil = 7,
    /// What time of day is it? Asked once, at boot.
    TimeOfDay = 8,
    /// A word to all; we only answer it.
    Broadcast = 9,
}

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) op: Op,
    pub(crate) seq: u32,
    /// Nanoseconds, or what [`Op`] says.
    pub(crate) time: u64,
}

/// Bytes of a message.
pub(crate) const BYTES: usize = 16;

impl Message {
    pub(crate) fn to_bytes(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..4].copy_from_slice(&(self.op as u32).to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.seq.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.time.to_ne_bytes());
        bytes
    }

    /// The message in `bytes`, or the operation that is none.
    pub(crate) fn from_bytes(bytes: &[u8; BYTES]) -> Result<Message, u32> {
        let word = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|i| bytes[at + i]));
        let op = match word(0) {
            0 => Op::Ack,
            1 => Op::Start,
            2 => Op::Request,
            3 => Op::Wait,
            4 => Op::Get,
            5 => Op::Update,
            6 => Op::Run,
            7 => Op::FreeUntil,
            8 => Op::TimeOfDay,
            9 => Op::Broadcast,
            other => return Err(other),
        };
        let time = u64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| bytes[8 + i]));
        Ok(Message {
            op,
            seq: word(4),
            time,
        })
    }

    /// The answer to this message.
    pub(crate) fn ack(self, time: u64) -> Message {
        Message {
            op: Op::Ack,
            seq: self.seq,
            time,
        }
    }
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
