"""The figures and tables of papers, made again with our own robots, references and steppers."""
