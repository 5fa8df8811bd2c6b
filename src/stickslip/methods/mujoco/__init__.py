"""The method mujoco: MuJoCo's engine on the identical model."""
