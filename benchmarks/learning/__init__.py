"""How the network of the trained reader is learned: material here, teacher and student on a machine with a GPU."""
