"""Statistics of records: intervals, and the one aggregation that every report renders."""
