//! A receive queue that is charged more than its buffer has: what is copied together, what is thrown
//! away, and what is counted.

use crate::Stack;
use crate::segment::Segment;
use crate::testing::{Net, SERVER, arrival, preset, stack, with_receiver_of_today};

/// A server that does not read, with a buffer of so many bytes.
fn unread(stack: Stack, buffer: u32) -> Net {
    let mut net = Net::of(stack);
    net.open();
    net.reads[SERVER] = false;
    net.end(SERVER).receive.lock_buffer(buffer);
    net
}

/// Gives the server `count` segments of `bytes`, the first so far ahead of what it expects.
fn give(net: &mut Net, count: u32, bytes: u16, ahead: u32) {
    for _ in 0..count {
        let mut segment: Segment = net.end(SERVER).plain_segment();
        segment.seq += ahead;
        segment.payload_bytes = bytes;
        net.inject(SERVER, &segment);
    }
}

/// The same, each after the one before and all of them out of order.
fn give_ahead(net: &mut Net, count: u32, bytes: u16) {
    for n in 1..=count {
        give(net, 1, bytes, n * u32::from(bytes));
    }
}

#[test]
fn small_segments_are_copied_together_and_none_is_lost() {
    for stack in [stack(), with_receiver_of_today(stack())] {
        let mut net = unread(stack, 20_000);
        give(&mut net, 60, 100, 0);
        let shortage = net.end(SERVER).shortage();
        assert!(shortage.prune_called > 0);
        assert!(shortage.rcv_collapsed >= 8, "{shortage:?}");
        // Twice are only those of a last packet that was not full.
        let twice = shortage.collapsed_bytes.saturating_sub(6000);
        assert!(shortage.collapsed_bytes > 0, "{shortage:?}");
        assert!(
            twice < 3776 * (shortage.prune_called - 1).max(1),
            "{shortage:?}"
        );
        assert_eq!((shortage.refused_frames, shortage.pruned_frames), (0, 0));
        assert_eq!(net.end(SERVER).readable(), 6000);
    }
}

#[test]
fn the_last_that_was_copied_is_copied_again_with_what_came_since() {
    let mut net = unread(with_receiver_of_today(stack()), 20_000);
    let mut prunes = Vec::new();
    for _ in 0..60 {
        let before = net.end(SERVER).shortage();
        give(&mut net, 1, 100, 0);
        let now = net.end(SERVER).shortage();
        if now.prune_called > before.prune_called {
            prunes.push((
                net.end(SERVER).readable(),
                now.collapsed_bytes - before.collapsed_bytes,
            ));
        }
    }
    // All that waited but the segment at hand, three times: what was copied had memory for a larger window than it had
    // data. Then it has not: 3000 bytes lie in a page.
    assert_eq!(
        prunes[..4],
        [(1200, 1100), (2200, 2100), (3100, 3000), (4000, 900)]
    );
}

#[test]
fn a_frame_that_fits_is_taken_where_the_buffer_is_full() {
    let full_after = |memory: u32| {
        let mut net = Net::of(preset("linux-7.2"));
        net.open();
        net.reads[SERVER] = false;
        net.end(SERVER).receive.lock_buffer(20_000);
        let mut prunes = Vec::new();
        for _ in 0..40 {
            let mut segment: Segment = net.end(SERVER).plain_segment();
            segment.payload_bytes = 100;
            let before = net.end(SERVER).shortage().prune_called;
            let used = net.end(SERVER).receive.queued_memory();
            let now = net.now;
            net.end(SERVER)
                .handle_aggregate(now, &segment, arrival(0, memory));
            prunes.push((used, net.end(SERVER).shortage().prune_called > before));
        }
        prunes
    };
    // 2000 bytes are more than lacks to a page after 20 480 of them, five pages.
    let ten = full_after(2048);
    let first = ten.iter().position(|(used, _)| *used > 20_000);
    assert!(ten[first.expect("it fills up")].1, "{ten:?}");
    // After 21 600 of 1800 each, 2976 bytes of the sixth page are left.
    let twelve = full_after(1800);
    let over: Vec<_> = twelve.iter().filter(|(used, _)| *used > 20_000).collect();
    assert_eq!(over[0], &(21_600, false), "{twelve:?}");
    assert!(over[1].1, "{twelve:?}");
}

#[test]
fn memory_is_free_again_when_what_was_copied_is_read_in_parts() {
    let mut net = unread(with_receiver_of_today(stack()), 20_000);
    give(&mut net, 60, 100, 0);
    assert!(!net.end(SERVER).receive.is_empty());
    for _ in 0..15 {
        net.read(SERVER, 400);
    }
    assert_eq!(net.end(SERVER).readable(), 0);
    assert!(net.end(SERVER).receive.is_empty());
}

#[test]
fn frames_that_are_as_full_as_the_window_reckons_are_not_copied() {
    // The part of the buffer that is window is what the frames have as payload: nothing to gain.
    let mut net = unread(with_receiver_of_today(stack()), 20_000);
    give(&mut net, 20, 1448, 0);
    let stats = *net.end(SERVER).stats();
    let shortage = net.end(SERVER).shortage();
    assert_eq!(shortage.rcv_collapsed, 0);
    assert!(shortage.rcv_pruned > 0);
    assert_eq!(
        shortage.refused_frames,
        u64::from(stats.receive_queue_drops)
    );
    assert_eq!(shortage.refused_bytes, 1448 * shortage.refused_frames);
    assert!(stats.receive_queue_drops > 0);
}

#[test]
fn what_is_out_of_order_is_copied_before_it_is_thrown_away() {
    let mut net = unread(stack(), 20_000);
    net.end(SERVER).receive.rcv_wnd = 60_000;
    give_ahead(&mut net, 14, 600);
    let shortage = net.end(SERVER).shortage();
    assert!(shortage.rcv_collapsed > 0, "{shortage:?}");
    assert_eq!(shortage.ofo_pruned, 0);
    // Full buffers' worth of it goes nevertheless, and is counted in frames and bytes.
    give_ahead(&mut net, 60, 600);
    let shortage = net.end(SERVER).shortage();
    assert!(shortage.ofo_pruned > 0, "{shortage:?}");
    let segments = shortage.pruned_bytes.div_ceil(536);
    assert!((segments..segments + shortage.ofo_pruned).contains(&shortage.pruned_frames));
}
