"""From raw pages to entries and the database: the map step, the reduce step, and what a build is compared with."""
