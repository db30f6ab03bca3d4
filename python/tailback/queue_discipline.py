"""Queue disciplines of one's own, in Python, for modelled switches.

docs/guide/own-queue.md shows how.
"""

from tailback._native import Packet, Queue


class QueueDiscipline:
    """How the frames of one class wait at one port: one object for each such queue.

    Its memory is the switch's (`buffer.shared` and what limits its ports); a frame for which there
    is no room never comes to it. Attributes of the class are its parameters: `[python.NAME]` of a
    scenario sets them (`set`), and a sweep varies them. `__init__` takes no arguments and sees them
    set.

    Nothing but what its methods are told may decide what it does: an object that looks at the clock
    of the machine, or at other objects, gives other results each time. Randomness is drawn from
    `random.Random(self.seed)`.
    """

    seed: int
    """The queue's own, set before `__init__`."""

    def enqueue(self, q: Queue, packet: Packet) -> None:
        """A frame has come. It may be marked (`packet.set_ce()`) or dropped (`packet.drop()`)."""

    def rank(self, q: Queue, packet: Packet) -> int:  # noqa: ARG002  # what others go by
        """Where it joins the queue: behind all of the same rank or a lower one.

        Asked after `enqueue`, of what has not been dropped. A class without this method has a
        first-in, first-out queue.
        """
        return 0

    def due_ns(self, q: Queue, packet: Packet) -> int:  # noqa: ARG002  # what others go by
        """When this frame, the first of those that wait, may leave, in `now_ns`'s time.

        Asked anew whenever a frame has come or left, since that may change it; until then the port
        sends nothing of this queue, free though it be. The frame is counted in `q`.
        """
        return 0

    def dequeue(self, q: Queue, packet: Packet) -> None:
        """A frame is the next to leave, and no longer counted in `q`. It may be marked or dropped;
        if it is dropped this is asked of the next.
        """
