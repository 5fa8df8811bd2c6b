"""Files of contact problems: captured frames in HDF5, and FCLib's format."""
