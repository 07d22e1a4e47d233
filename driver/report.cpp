// Replaced by the first real file of the layer.
