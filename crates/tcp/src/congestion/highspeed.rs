//! HighSpeed TCP: RFC 3649 as in Linux net/ipv4/tcp_highspeed.c (7.2), which takes growth and cut
//! from the table of appendix B. The row is the first whose window is at least cwnd; a
//! cwnd's worth of acknowledgements (not of segments) grows the window by the row's number.
//! Left out: limited slow start (RFC 3742), as there.

use super::{CongestionControl, Growth, View, Window};
use crate::stack::Stack;

/// RFC 3649 appendix B: window up to which a row holds, segments, and the cut in 256ths.
const TABLE: [(u32, u32); 72] = [
    (38, 128),
    (118, 112),
    (221, 104),
    (347, 98),
    (495, 93),
    (663, 89),
    (851, 86),
    (1058, 83),
    (1284, 81),
    (1529, 78),
    (1793, 76),
    (2076, 74),
    (2378, 72),
    (2699, 71),
    (3039, 69),
    (3399, 68),
    (3778, 66),
    (4177, 65),
    (4596, 64),
    (5036, 62),
    (5497, 61),
    (5979, 60),
    (6483, 59),
    (7009, 58),
    (7558, 57),
    (8130, 56),
    (8726, 55),
    (9346, 54),
    (9991, 53),
    (10661, 52),
    (11358, 52),
    (12082, 51),
    (12834, 50),
    (13614, 49),
    (14424, 48),
    (15265, 48),
    (16137, 47),
    (17042, 46),
    (17981, 45),
    (18955, 45),
    (19965, 44),
    (21013, 43),
    (22101, 43),
    (23230, 42),
    (24402, 41),
    (25618, 41),
    (26881, 40),
    (28193, 39),
    (29557, 39),
    (30975, 38),
    (32450, 38),
    (33986, 37),
    (35586, 36),
    (37253, 36),
    (38992, 35),
    (40808, 35),
    (42707, 34),
    (44694, 33),
    (46776, 33),
    (48961, 32),
    (51258, 32),
    (53677, 31),
    (56230, 30),
    (58932, 30),
    (61799, 29),
    (64851, 28),
    (68113, 28),
    (71617, 27),
    (75401, 26),
    (79517, 26),
    (84035, 25),
    (89053, 24),
];

/// HighSpeed TCP: the row it is in.
#[derive(Clone, Debug)]
pub(crate) struct HighSpeed {
    row: usize,
}

impl HighSpeed {
    /// Moves to the row of this window; most steps are to a neighbour.
    fn find_row(&mut self, cwnd: u32) {
        while self.row + 1 < TABLE.len() && cwnd > TABLE[self.row].0 {
            self.row += 1;
        }
        while self.row > 0 && cwnd <= TABLE[self.row - 1].0 {
            self.row -= 1;
        }
    }
}

impl CongestionControl for HighSpeed {
    fn new(_stack: &Stack, _seed: u64) -> HighSpeed {
        HighSpeed { row: 0 }
    }

    fn init(&mut self, window: &mut Window, _view: &View) {
        // So that the cut's product fits in 32 bits.
        window.cwnd_clamp = window.cwnd_clamp.min(u32::MAX / 128);
    }

    #[inline]
    fn grow(&mut self, window: &mut Window, _view: &View, growth: Growth) {
        if !growth.cwnd_limited {
            return;
        }
        if window.in_slow_start() {
            let _ = window.slow_start(growth.acked);
            return;
        }
        self.find_row(window.cwnd);
        if window.cwnd < window.cwnd_clamp {
            window.cwnd_count += self.row as u32 + 1;
            if window.cwnd_count >= window.cwnd {
                window.cwnd_count -= window.cwnd;
                window.cwnd += 1;
            }
        }
    }

    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        let cut = (u64::from(window.cwnd) * u64::from(TABLE[self.row].1)) >> 8;
        (window.cwnd - cut as u32).max(2)
    }
}
