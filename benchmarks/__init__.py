"""Figures as ratios against baselines, measured in one run; see README.md."""
