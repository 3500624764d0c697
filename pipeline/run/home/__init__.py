"""What a home remembers of its runs: who holds it, what ran, what each stage took and gave."""
