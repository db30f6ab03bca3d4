"""The charts, each defined once: one file, one function from results to an Altair chart.

They carry no colours or fonts of their own (`tailback.report.theme` gives those), so the same
chart shows in a notebook, in the report on a light or dark page, and as PNG or SVG.
"""
