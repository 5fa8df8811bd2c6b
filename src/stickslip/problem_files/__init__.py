"""Files of contact problems: frames in HDF5, and FCLib's format."""
