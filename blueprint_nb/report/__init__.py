"""Charts, and the self-contained HTML report. The chart libraries are imported when a chart is drawn."""
