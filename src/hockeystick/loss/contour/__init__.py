"""The contour integral through the saddle point (Bromwich line), by the trapezoidal rule."""
