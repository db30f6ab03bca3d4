use super::*;

#[test]
fn a_page_holds_what_the_kernels_reckon() {
    let today = Pages(Receiver::Linux72);
    // SKB_MAX_ORDER(0, 0), and SKB_TRUESIZE of it.
    assert_eq!((today.payload(), today.memory(3776)), (3776, 4352));
    // A tail of 1448 bytes is in an allocation of 2048.
    assert_eq!(today.memory(3776 + 1448), 4352 + 2048 + 256);
    assert_eq!(today.memory(100), 704 + 256);
    let once = Pages(Receiver::Linux26);
    assert_eq!(once.memory(3648), 3776 + 240);
    assert_eq!(once.memory(0), 0);
}

#[test]
fn only_today_a_small_packet_on_its_own_is_left_alone() {
    assert!(Pages(Receiver::Linux72).leaves(1, 1448));
    assert!(!Pages(Receiver::Linux72).leaves(2, 1448));
    assert!(!Pages(Receiver::Linux72).leaves(1, 8948));
    assert!(!Pages(Receiver::Linux26).leaves(1, 1448));
}
