"""Readers of measured files and tables. Knows only units and errors: neither models nor systems, nor what a cost is."""
