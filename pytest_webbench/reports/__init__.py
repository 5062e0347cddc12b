"""Reports: each module renders a Summary into one form; none computes a figure."""
