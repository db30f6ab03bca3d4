//! The window that is offered, and which part of the buffer it is.
//!
//! Models Linux net/ipv4/tcp_output.c (tcp_select_initial_window, tcp_select_window, __tcp_select_window)
//! and include/net/tcp.h (tcp_win_from_space, tcp_space_from_win, tcp_receive_window,
//! tcp_max_receive_window) of 2.4, of 2.6.18 and of 7.2.

use super::{InitialReceiveWindow, Receive, Receiver};
use crate::seq::Seq;

/// Headers' room that the kernel reckons with for a received segment: MAX_TCP_HEADER + 16 +
/// sizeof(sk_buff) (include/net/tcp.h, x86_64).
const SEGMENT_ROOM: u32 = 160 + 16 + 240;

/// Largest window of a peer that takes it for a signed number (MAX_TCP_WINDOW), bytes.
const WINDOW_SIGNED: u32 = 32_767;

/// Least window that an application may set (half of SOCK_MIN_RCVBUF), bytes.
pub(super) const CLAMP_LEAST: u32 = 1152;

impl Receive {
    /// The application limits the window (tcp_set_window_clamp); zero is no limit.
    pub(crate) fn clamp_window(&mut self, bytes: u32) {
        if bytes == 0 {
            return;
        }
        let clamp = bytes.max(CLAMP_LEAST);
        if clamp < self.window_clamp {
            self.rcv_ssthresh = self.rcv_ssthresh.min(clamp);
        } else {
            self.rcv_ssthresh = self.rcv_ssthresh.max(self.rcv_wnd.min(clamp));
        }
        self.window_clamp = clamp;
    }

    /// The window offered in the SYN, and its scale (tcp_select_initial_window).
    pub(super) fn select_initial_window(&mut self) {
        let mss = self.advmss.max(1);
        self.window_clamp = match self.clamp {
            0 => 65_535 << 14,
            bytes => bytes,
        };
        if self.locked {
            self.window_clamp = self.window_clamp.min(self.full_space());
        }
        self.window_shift = 0;
        let mut space = self.full_space().min(self.window_clamp);
        if space > mss {
            space = space / mss * mss;
        }
        self.rcv_wnd = if self.signed {
            space.min(WINDOW_SIGNED)
        } else {
            space
        };
        if self.scaling {
            let mut most = self.rmem_max;
            if self.initial_window == InitialReceiveWindow::Buffer {
                most = most.max(space).max(self.core_rmem_max);
            }
            most = most.min(self.window_clamp);
            while most > 65_535 && self.window_shift < 14 {
                most >>= 1;
                self.window_shift += 1;
            }
        }
        if self.initial_window == InitialReceiveWindow::Segments && mss > 1 << self.window_shift {
            let segments = match mss {
                m if m > 1460 * 3 => 2,
                m if m > 1460 => 3,
                _ => 4,
            };
            self.rcv_wnd = self.rcv_wnd.min(segments * mss);
        }
        self.window_clamp = self.window_clamp.min(65_535 << self.window_shift);
        self.rcv_ssthresh = self.rcv_wnd;
    }

    /// Buffer that a full segment needs, with its overhead.
    pub(super) fn segment_room(&self) -> u32 {
        let mut room = self.advmss + SEGMENT_ROOM;
        while self.window_of(room) < self.advmss {
            room += 128;
        }
        room
    }

    /// The part of `space` that is window (tcp_win_from_space).
    #[inline]
    pub(crate) fn window_of(&self, space: u32) -> u32 {
        if self.scaling_ratio > 0 {
            return ((u64::from(space) * u64::from(self.scaling_ratio)) >> 8) as u32;
        }
        space - (space >> self.adv_win_scale)
    }

    /// The buffer of which `window` is the window (tcp_space_from_win).
    pub(super) fn space_of(&self, window: u64) -> u64 {
        if self.scaling_ratio > 0 {
            return (window << 8) / u64::from(self.scaling_ratio);
        }
        let segments = (window / u64::from(self.advmss.max(1))).max(1);
        segments * u64::from(self.segment_room())
    }

    #[inline]
    pub(super) fn full_space(&self) -> u32 {
        self.window_of(self.rcvbuf)
    }

    #[inline]
    pub(super) fn free_space(&self) -> u32 {
        self.window_of(self.rcvbuf.saturating_sub(self.queued_memory))
    }

    /// What is left of the window last advertised (tcp_receive_window).
    #[inline]
    pub(crate) fn window_left(&self) -> u32 {
        let left = (self.rcv_wup + self.rcv_wnd) - self.rcv_nxt;
        if left as i32 > 0 { left } else { 0 }
    }

    /// Whether data in order up to `end` is taken in without further ado: nothing is out of order,
    /// and there is room.
    #[inline(always)]
    pub(crate) fn takes_at_once(&self, end: Seq) -> bool {
        self.reassembly.is_idle()
            && self.fin_end.is_none()
            && self.window_left() > 0
            && !end.after(self.rightmost())
            && self.queued_memory <= self.rcvbuf
    }

    /// Up to where data has ever been welcome (tcp_max_receive_window).
    #[inline]
    pub(crate) fn rightmost(&self) -> Seq {
        self.rightmost.max(self.rcv_nxt)
    }

    /// The window that could be advertised now (__tcp_select_window).
    #[inline(always)]
    pub(crate) fn selectable_window(&mut self) -> u32 {
        let free = self.free_space();
        let full = self.window_clamp.min(self.full_space());
        if self.today() && self.window_shift > 0 && !self.shrinks && free >= full / 2 && full > 0 {
            // Most are: there is room, and nothing is rounded but the window.
            return free
                .min(self.rcv_ssthresh)
                .next_multiple_of(1 << self.window_shift);
        }
        let mss = self.ack.rcv_mss.min(full);
        if self.today() {
            return self.selectable_window_today(free, full, mss);
        }
        self.selectable_window_once(free, full, mss)
    }

    /// The same in a function of its own, for where it is asked less often.
    #[inline(never)]
    fn selectable_window_apart(&mut self) -> u32 {
        self.selectable_window()
    }

    /// The same of 2.6.18, and of 2.4, where windows are whole segments even if they are scaled.
    #[inline(never)]
    fn selectable_window_once(&mut self, mut free: u32, full: u32, mss: u32) -> u32 {
        if free < full / 2 {
            self.ack.quick = 0;
            if free < mss {
                return 0;
            }
        }
        free = free.min(self.rcv_ssthresh);
        if self.window_shift > 0 && self.receiver != Receiver::Linux24 {
            let unit = 1 << self.window_shift;
            return free.next_multiple_of(unit);
        }
        let window = self.rcv_wnd;
        if window + mss <= free || window > free {
            free / mss.max(1) * mss
        } else {
            window
        }
    }

    /// The same of today: zero is told before the buffer is quite full.
    #[inline(never)]
    pub(super) fn selectable_window_today(&mut self, mut free: u32, full: u32, mss: u32) -> u32 {
        if mss == 0 {
            return 0;
        }
        let unit = 1 << self.window_shift;
        let shrinks = self.shrinks && self.window_shift > 0;
        if shrinks {
            free -= free % unit;
        }
        if free < full / 2 {
            self.ack.quick = 0;
            free -= free % unit;
            if free < self.full_space() >> 4 || free < mss || (shrinks && free < unit) {
                return 0;
            }
        }
        free = free.min(self.rcv_ssthresh);
        if self.window_shift > 0 {
            return free.next_multiple_of(unit);
        }
        let window = self.rcv_wnd;
        if window + mss <= free || window > free {
            free / mss * mss
        } else if mss == full && free > window + full / 2 {
            free
        } else {
            window
        }
    }

    /// The window field of a segment about to leave (tcp_select_window).
    /// `selectable` is [`Receive::selectable_window`]'s answer, if it was asked just now.
    #[inline(always)]
    pub(crate) fn advertise(&mut self, selectable: Option<u32>) -> u16 {
        self.advertise_selected(|receive| {
            selectable.unwrap_or_else(|| receive.selectable_window_apart())
        })
    }

    /// The same where it is asked so often that a call is saved.
    #[inline(always)]
    pub(crate) fn advertise_here(&mut self) -> u16 {
        self.advertise_selected(Receive::selectable_window)
    }

    #[inline(always)]
    fn advertise_selected(&mut self, selectable: impl FnOnce(&mut Receive) -> u32) -> u16 {
        if std::mem::take(&mut self.no_memory) {
            self.rcv_wnd = 0;
            self.rcv_wup = self.rcv_nxt;
            return 0;
        }
        let window = selectable(self);
        let left = self.window_left();
        self.rcv_wnd = if window >= left {
            window
        } else if !self.today() {
            left
        } else if self.shrinks && self.window_shift > 0 {
            window
        } else {
            left.next_multiple_of(1 << self.window_shift)
        };
        self.rcv_wup = self.rcv_nxt;
        self.rightmost = self.rightmost.max(self.rcv_wup + self.rcv_wnd);
        let most = if self.signed && self.window_shift == 0 {
            WINDOW_SIGNED
        } else {
            65_535 << self.window_shift
        };
        (self.rcv_wnd.min(most) >> self.window_shift) as u16
    }

    /// Whether a read has freed so much that the peer should be told (tcp_cleanup_rbuf).
    #[inline(always)]
    pub(crate) fn window_opened(&mut self) -> bool {
        let left = self.window_left();
        if 2 * left > self.window_clamp {
            return false;
        }
        // With nothing queued no window is larger than this, and none changes anything.
        let unit = 1 << self.window_shift;
        let at_rest = self.today() && !self.shrinks && self.queued_memory == 0;
        if at_rest && self.rcv_ssthresh + unit <= 2 * left {
            return false;
        }
        let window = self.selectable_window_apart();
        window > 0 && window >= 2 * left
    }
}
