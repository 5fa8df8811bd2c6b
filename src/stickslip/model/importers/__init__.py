"""Read MJCF and URDF through MuJoCo's compiler. Unsupported features are errors that name them."""
