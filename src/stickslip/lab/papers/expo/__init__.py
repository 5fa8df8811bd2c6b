"""Hammoud, Olivieri, Righetti, Carpentier, Del Prete: "Exponential Integration for Efficient and Accurate Multi-Body
Simulation with Stiff Viscoelastic Contacts"."""
