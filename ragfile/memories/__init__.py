"""What `ragfile.memory` is made of: statements about the world with their times, and turns of talks."""
