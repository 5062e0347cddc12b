"""Statistics of records: intervals, comparisons, and the one aggregation that every report renders."""
