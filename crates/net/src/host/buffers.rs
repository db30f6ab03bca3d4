//! Memory of received frames.
//!
//! Models what one received frame costs a socket's receive buffer (truesize), whatever it carries:
//! the card's buffer and the kernel's structures beside it. Buffers hold the largest frame, in whole
//! cache lines of 64 bytes (Linux net/core/skbuff.c: 16 bytes of headroom; the nes driver asks for
//! MTU + 18; virtio_net for MTU + 30), or the next of the sizes the driver has. Drivers with a page pool cut them from pages, and the last
//! of a page gets what is left of it (page_pool_alloc_frag's truesize, net/core/page_pool.c and
//! include/net/page_pool/helpers.h of Linux 7.2), so that frames differ in turn.
//! Left out: buffers that grow with the frames that come, frames in several buffers.

use super::HostConfig;
use crate::frame::ETHERNET_BYTES;

/// Buffers cut from pages, one after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageBuffers {
    /// What a frame costs in all buffers of a page but the last, and in that, bytes.
    costs: [u32; 2],
    per_page: u32,
    /// The buffer in its page that the next frame goes into.
    next: u32,
}

impl PageBuffers {
    /// The buffers of a host whose card cuts them from pages.
    #[must_use]
    pub fn new(config: &HostConfig, mtu: u32) -> Option<PageBuffers> {
        let page = config.rx_page?.get().min(1 << 20) as u32;
        let overhead = overhead(config);
        let buffer = buffer_bytes(mtu);
        let per_page = (page / buffer).max(1);
        let last = (page.max(buffer)) - (per_page - 1) * buffer;
        Some(PageBuffers {
            costs: [buffer + overhead, last + overhead],
            per_page,
            next: 0,
        })
    }

    /// What the next frame costs, bytes.
    #[inline]
    pub fn take(&mut self) -> u32 {
        self.next += 1;
        if self.next < self.per_page {
            return self.costs[0];
        }
        self.next = 0;
        self.costs[1]
    }

    /// What the next so many frames cost together, bytes.
    #[inline]
    pub fn take_many(&mut self, frames: u32) -> u32 {
        self.next += frames;
        let mut last = 0;
        while self.next >= self.per_page {
            self.next -= self.per_page;
            last += 1;
        }
        (frames - last) * self.costs[0] + last * self.costs[1]
    }
}

fn buffer_bytes(mtu: u32) -> u32 {
    (mtu + ETHERNET_BYTES + 16).next_multiple_of(64)
}

fn overhead(config: &HostConfig) -> u32 {
    config.skb_overhead.get().min(1 << 20) as u32
}

impl HostConfig {
    /// What a received frame costs a socket's receive buffer where every frame costs the same, bytes.
    #[must_use]
    pub fn rx_truesize_bytes(&self, mtu: u32) -> u32 {
        let sizes = self.rx_buffer_sizes.iter();
        let sizes = sizes.map(|size| size.get().min(1 << 20) as u32);
        let chosen = sizes.into_iter().find(|size| *size >= mtu + ETHERNET_BYTES);
        chosen.unwrap_or(buffer_bytes(mtu)) + overhead(self)
    }

    /// The part of it that is given up when a frame's data joins that of the frame before, bytes:
    /// everything but the buffer, where buffers are parts of pages.
    #[must_use]
    pub fn rx_head_bytes(&self) -> u32 {
        self.rx_page.map_or(0, |_| overhead(self))
    }
}

#[cfg(test)]
mod tests {
    use tailback_units::Bytes;

    use super::PageBuffers;
    use crate::host::HostConfig;
    use crate::testing::host_config;

    fn costs(page: u64, mtu: u32) -> Option<[u32; 5]> {
        let config = HostConfig {
            rx_page: Some(Bytes::new(page)),
            skb_overhead: Bytes::new(832),
            ..host_config()
        };
        let mut buffers = PageBuffers::new(&config, mtu)?;
        Some([(); 5].map(|()| buffers.take()))
    }

    #[test]
    fn the_last_buffer_of_a_page_gets_the_rest_of_it() {
        // virtio_net at an MTU of 1500: 1536 bytes, and 4096 - 1536.
        assert_eq!(costs(4096, 1500), Some([2368, 3392, 2368, 3392, 2368]));
        assert_eq!(costs(8192, 1500).map(|c| c[4]), Some(8192 - 4 * 1536 + 832));
        // A buffer of more than half a page has it alone; one of more than a page is as it is.
        assert_eq!(costs(4096, 3000), Some([4928; 5]));
        assert_eq!(costs(4096, 9000), Some([9024 + 64 + 832; 5]));
    }

    #[test]
    fn many_frames_cost_what_each_does() {
        let config = HostConfig {
            rx_page: Some(Bytes::new(8192)),
            ..host_config()
        };
        let buffers = PageBuffers::new(&config, 1500);
        let (mut one_by_one, mut at_once) =
            (buffers.clone().expect("pages"), buffers.expect("pages"));
        for frames in [1, 4, 5, 6, 17, 0, 44] {
            let each: u32 = (0..frames).map(|_| one_by_one.take()).sum();
            assert_eq!(at_once.take_many(frames), each);
        }
        assert_eq!(at_once, one_by_one);
    }

    #[test]
    fn without_pages_every_frame_costs_the_same() {
        assert_eq!(PageBuffers::new(&host_config(), 1500), None);
        assert_eq!(host_config().rx_truesize_bytes(1500), 1536 + 256);
        assert_eq!(host_config().rx_head_bytes(), 0);
    }
}
