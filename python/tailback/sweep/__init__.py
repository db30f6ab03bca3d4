"""Sweeps: independent runs, spread over what there is to run them on."""
