//! The receiver of Linux 2.4, where it differs from that of 2.6.18.

use tailback_units::Duration;

use crate::receive::Receiver;
use crate::segment::Segment;
use crate::testing::{CLIENT, Net, SERVER, config, stack};
use crate::{Config, Stack};

const MS: Duration = Duration::from_ms(1);

fn of_2_4() -> Stack {
    Stack {
        receiver: Receiver::Linux24,
        ..stack()
    }
}

/// A server whose frames are as wasteful as those of a card with buffers of 2 KiB.
fn wasteful(stack: &Stack) -> Net {
    let host = |seed| Config {
        rx_truesize_bytes: 2304,
        ..config(stack.clone(), seed)
    };
    let mut net = Net::between(host(1), host(2));
    net.open();
    net.end(SERVER).receive.lock_buffer(64 << 10);
    net
}

#[test]
fn wasteful_frames_open_the_window_to_half_the_buffers() {
    let half = (64 << 10) / 4 * 3 / 2;
    for (stack, grows) in [(stack(), true), (of_2_4(), false)] {
        let mut net = wasteful(&stack);
        for _ in 0..100 {
            net.write(CLIENT, 1448);
            net.run_for(MS);
        }
        let reached = net.end(SERVER).receive.rcv_ssthresh();
        assert!(reached > half, "{reached}");
        assert_eq!(reached > half + 2 * 1448, grows, "{reached}");
    }
}

#[test]
fn windows_are_whole_segments_though_they_are_scaled() {
    for (stack, whole) in [(stack(), false), (of_2_4(), true)] {
        let mut net = wasteful(&stack);
        for _ in 0..20 {
            net.write(CLIENT, 1448);
            net.run_for(MS);
        }
        let scale = net.end(SERVER).receive.window_shift;
        assert!(scale > 0);
        let window = net.end(SERVER).receive.rcv_wnd;
        assert_eq!(window.is_multiple_of(1448), whole, "{window}");
    }
}

#[test]
fn a_window_too_large_for_the_memory_stays_small() {
    for (stack, stays) in [(stack(), false), (of_2_4(), true)] {
        let mut net = Net::of(stack);
        net.open();
        net.end(SERVER).receive.lock_buffer(20_000);
        let clamp = net.end(SERVER).receive.window_clamp();
        net.reads[SERVER] = false;
        for _ in 0..60 {
            let mut segment: Segment = net.end(SERVER).plain_segment();
            segment.payload_bytes = 100;
            net.inject(SERVER, &segment);
        }
        assert!(net.end(SERVER).shortage().prune_called > 0);
        let most = net.end(SERVER).readable();
        net.read(SERVER, most);
        let after = net.end(SERVER).receive.window_clamp();
        if stays {
            // What waited then, but no less than two segments.
            assert_eq!(after, 2 * 1448);
        } else {
            assert_eq!(after, clamp);
        }
    }
}
