"""The map half: what one document says about its errors, as claims with quotes."""
