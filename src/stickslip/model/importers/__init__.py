"""Reading MJCF and URDF through MuJoCo's compiler; what cannot be simulated as the file asks is refused by name."""
