"""The timeline: its plot, painting and controls."""
