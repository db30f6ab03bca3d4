use tailback_units::Bytes;

use super::{FrameMemory, PageBuffers};
use crate::host::HostConfig;
use crate::testing::host_config;

fn buffers(page: u64, mtu: u32) -> PageBuffers {
    let config = HostConfig {
        rx_page: Some(Bytes::new(page)),
        skb_overhead: Bytes::new(832),
        ..host_config()
    };
    PageBuffers::new(&config, mtu).expect("pages")
}

fn costs(page: u64, mtu: u32) -> [u32; 5] {
    let mut buffers = buffers(page, mtu);
    [(); 5].map(|()| buffers.take(mtu as u16 + 18).bytes)
}

#[test]
fn the_last_buffer_of_a_page_gets_the_rest_of_it() {
    // virtio_net at an MTU of 1500: 1536 bytes, and 4096 - 1536.
    assert_eq!(costs(4096, 1500), [2368, 3392, 2368, 3392, 2368]);
    assert_eq!(costs(8192, 1500)[4], 8192 - 4 * 1536 + 832);
    // Buffers are made for 1500 bytes also where none has as many.
    assert_eq!(costs(4096, 1000), [2368, 3392, 2368, 3392, 2368]);
}

#[test]
fn a_long_frame_takes_several_buffers() {
    let mut buffers = buffers(4096, 9000);
    let memory = |bytes, fragments| FrameMemory {
        bytes,
        fragments,
        room: 0,
    };
    // 9014 bytes and virtio's 12, in buffers of 1536 and 2560 in turn: five, of three pages.
    let two = 1536 + 2560;
    assert_eq!(buffers.take(9018), memory(2 * two + 1536 + 832, 3));
    assert_eq!(buffers.take(9018), memory(2 * two + 2560 + 832, 3));
    // A short one takes one too, and leaves it: it is copied.
    assert_eq!(buffers.take(194), memory(832, 0));
    assert_eq!(buffers.take(195), memory(2560 + 832, 1));
    // What is left of its head has room for what follows.
    assert_eq!(buffers.take(94).room, 100);
    assert_eq!(buffers.take(194).room, 0);
}

#[test]
fn buffers_grow_with_the_frames_that_come() {
    let mut buffers = buffers(4096, 9000);
    let mut takes = |frames: u32| {
        for _ in 0..frames {
            buffers.take(9018);
            buffers.polled();
        }
        buffers.take(9018)
    };
    let (whole, fragments) = (3 * 4096 + 832, 3);
    // The card has 256 buffers of before.
    assert!(takes(40).bytes < whole);
    assert_eq!(
        takes(60),
        FrameMemory {
            bytes: whole,
            fragments,
            room: 0,
        }
    );
    // Short ones make them shorter, and later.
    for _ in 0..600 {
        buffers.take(70);
        buffers.polled();
    }
    assert!(buffers.take(9018).bytes < whole);
}

#[test]
fn new_buffers_come_when_more_than_half_a_budget_is_missing() {
    let mut buffers = buffers(4096, 9000);
    let waiting = |buffers: &PageBuffers| buffers.ring.as_ref().map(|ring| ring.buffers.len());
    for _ in 0..32 {
        buffers.take(70);
        buffers.polled();
    }
    assert_eq!(waiting(&buffers), Some(256 - 32));
    buffers.take(70);
    assert_eq!(waiting(&buffers), Some(256 - 33));
    buffers.polled();
    assert_eq!(waiting(&buffers), Some(256));
}

#[test]
fn without_pages_every_frame_costs_the_same() {
    assert_eq!(PageBuffers::new(&host_config(), 1500), None);
    assert_eq!(host_config().rx_truesize_bytes(1500), 1536 + 256);
    assert_eq!(host_config().rx_head_bytes(), 0);
}
