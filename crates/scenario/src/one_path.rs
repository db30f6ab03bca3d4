//! Switches that are to choose between equal paths where there is one: told before the runs, which are sound all the same.

use crate::plan::Run;
use crate::problem::Finding;
use crate::topology::Node;

/// Runs with `multipath` in whose networks no two switches are joined in two ways.
pub(crate) fn finding(runs: &[Run]) -> Option<Finding> {
    let mut chosen = runs.iter().filter(|run| chooses(run)).peekable();
    chosen.peek()?;
    chosen.all(is_tree).then(|| {
        Finding::new(
            "network",
            "switches choose between equal paths (multipath), and no two of them are joined in two ways: nothing changes",
            "a topology with several paths, such as leaf-spine or fat-tree, or without multipath",
        )
    })
}

fn chooses(run: &Run) -> bool {
    let mut switches = run.network.switches.iter();
    switches.any(|switch| !switch.config.multipath.is_by_flow())
}

/// All nodes are connected, and hosts have one link each: a tree of switches has a link fewer than switches.
fn is_tree(run: &Run) -> bool {
    let is_switch = |node| matches!(node, Node::Switch(_));
    let links = run.network.links.iter();
    let between = links.filter(|link| is_switch(link.a) && is_switch(link.b));
    between.count() < run.network.switches.len()
}
