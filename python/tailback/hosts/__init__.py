"""Real hosts: network namespaces of this machine, and the agents on them.

Where imports go: `tools` (programs of the system) < `shaping`, `namespaces` (the network) <
`agents` (what runs on the hosts).
"""
