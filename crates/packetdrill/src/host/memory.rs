//! What a packet from a tun device is charged for.
//!
//! Models Linux 7.2 drivers/net/tun.c (tun_get_user, tun_alloc_skb) and net/core/skbuff.c
//! (__alloc_skb, alloc_skb_with_frags) on x86_64: up to 3712 bytes in one piece of memory, whose
//! size is a power of two, the rest in pieces of one to eight pages.

/// A page, bytes.
const PAGE: u32 = 4096;
/// Largest part in one piece: SKB_MAX_HEAD of the room before it.
const LINEAR: u32 = 3712;
/// Room before a packet (NET_SKB_PAD), bytes.
const PAD: u32 = 64;
/// sizeof(struct skb_shared_info), aligned, bytes.
const SHARED_INFO: u32 = 320;
/// sizeof(struct sk_buff), aligned, bytes.
const SK_BUFF: u32 = 256;
/// Alignment of memory (SMP_CACHE_BYTES), bytes.
const CACHE_LINE: u32 = 64;
/// Largest piece but the first: 2^3 pages (PAGE_ALLOC_COSTLY_ORDER).
const PIECE_PAGES: u32 = 8;

/// truesize of a packet of `length` bytes, IP header included.
pub(super) fn truesize_bytes(length: u32) -> u32 {
    let linear = length.min(LINEAR);
    let head = (linear + PAD).next_multiple_of(CACHE_LINE) + SHARED_INFO;
    let mut bytes = head.next_power_of_two() + SK_BUFF;
    let mut rest = length - linear;
    let mut piece = PIECE_PAGES * PAGE;
    while rest > 0 {
        while piece > PAGE && rest.next_multiple_of(PAGE) < piece {
            piece /= 2;
        }
        bytes += piece;
        rest = rest.saturating_sub(piece);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::truesize_bytes;

    #[test]
    fn a_full_frame_takes_two_kilobytes_and_its_descriptor() {
        assert_eq!(truesize_bytes(1040), 2048 + 256);
        assert_eq!(truesize_bytes(1500), 2048 + 256);
    }

    #[test]
    fn what_does_not_fit_a_page_is_in_pieces() {
        assert_eq!(truesize_bytes(9040), 4096 + 256 + 8192);
        assert_eq!(truesize_bytes(60_040), 4096 + 256 + 32_768 + 16_384 + 8192);
    }
}
