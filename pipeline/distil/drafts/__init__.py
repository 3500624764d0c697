"""The reduce half: everything that is known about one cluster, as the draft of an entry."""
