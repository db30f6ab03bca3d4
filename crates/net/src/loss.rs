//! What was lost at one place.

use std::ops::AddAssign;

/// Frames lost at one place, those with payload apart from those without (acknowledgements).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// All frames.
    pub frames: u64,
    /// Those that carried payload.
    pub data_frames: u64,
    /// The payload, bytes.
    pub payload_bytes: u64,
}

impl Losses {
    /// Counts a frame with so much payload.
    pub fn count(&mut self, payload_bytes: u64) {
        self.frames += 1;
        self.data_frames += u64::from(payload_bytes > 0);
        self.payload_bytes += payload_bytes;
    }

    /// Counts the frames that a packet with so much payload would have been cut into, `mss` bytes each.
    #[cold]
    pub fn count_cut(&mut self, payload_bytes: u64, mss: u16) {
        let frames = payload_bytes.div_ceil(u64::from(mss.max(1)));
        self.frames += frames.max(1);
        self.data_frames += frames;
        self.payload_bytes += payload_bytes;
    }
}

impl AddAssign for Losses {
    fn add_assign(&mut self, more: Losses) {
        self.frames += more.frames;
        self.data_frames += more.data_frames;
        self.payload_bytes += more.payload_bytes;
    }
}
