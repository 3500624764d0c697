"""What brings pages into raw: files, GitHub, official pages, each as the settings name it."""
