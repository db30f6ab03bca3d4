use super::Behind;
use crate::seq::Seq;

#[test]
fn what_joins_is_in_the_last_packet() {
    let mut behind = Behind::default();
    // In the first packet, which is not kept.
    behind.join(700);
    assert_eq!((behind.next(), behind.memory), (None, 0));
    behind.begin(Seq(1000), 2000);
    behind.begin(Seq(3000), 500);
    behind.join(300);
    assert_eq!(behind.next(), Some(Seq(1000)));
    assert_eq!(behind.packets, [(Seq(1000), 2000), (Seq(3000), 800)]);
    assert_eq!(behind.memory, 2800);
    behind.clear();
    assert_eq!((behind.next(), behind.memory), (None, 0));
}
