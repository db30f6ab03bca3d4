use tailback_units::Time;

use super::{Direction, Writer};

/// The blocks of a capture: type and body. Fails where the lengths before and after differ.
fn blocks(mut bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes[..4].try_into().expect("four bytes"));
    let mut blocks = Vec::new();
    while !bytes.is_empty() {
        let length = word(&bytes[4..]) as usize;
        assert_eq!(length % 4, 0);
        assert_eq!(word(&bytes[length - 4..]) as usize, length);
        blocks.push((word(bytes), bytes[8..length - 4].to_vec()));
        bytes = &bytes[length..];
    }
    blocks
}

#[test]
fn blocks_are_framed_and_times_are_nanoseconds() {
    let mut writer = Writer::new(Vec::new(), "tailback").expect("a vector takes all");
    let first = writer.interface("a-b", 10_000_000_000).expect("written");
    let second = writer.interface("b-a", 1).expect("written");
    let at = Time::from_ps(((5 << 32) + 7) * 1000 + 999);
    writer
        .packet(first, at, &[0xaa; 61], Direction::Outbound, Some("dropped"))
        .expect("written");
    writer
        .packet(second, at, &[0xbb; 60], Direction::Inbound, None)
        .expect("written");
    let blocks = blocks(&writer.finish().expect("flushed"));
    let kinds: Vec<u32> = blocks.iter().map(|block| block.0).collect();
    assert_eq!(kinds, [0x0a0d_0d0a, 1, 1, 6, 6]);
    let packet = &blocks[3].1;
    let words: Vec<u32> = packet
        .chunks(4)
        .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
        .collect();
    assert_eq!(words[..5], [0, 5, 7, 61, 61]);
    assert_eq!(packet[20..81], [0xaa; 61]);
    // Padding, then the comment: code 1, 7 bytes.
    assert_eq!(words[21], 7 << 16 | 1);
    assert_eq!(&packet[88..95], b"dropped");
    assert_eq!(blocks[4].1[..4], [1, 0, 0, 0]);
}
