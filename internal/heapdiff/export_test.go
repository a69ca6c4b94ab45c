package heapdiff

// WithMost returns options for at most n nodes of paths.
func (o GraphOptions) WithMost(n int) GraphOptions {
	o.most = n
	return o
}
