"""Pages that list error codes with what each means."""
