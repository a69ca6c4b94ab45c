package graph

// Tuned is o with other bounds, so that small heaps meet what large ones do.
func (o Options) Tuned(deferFrom, piece uint64, wide bool) Options {
	o.deferFrom, o.piece, o.wide = deferFrom, piece, wide
	return o
}

// IsCache is isCache.
var IsCache = isCache
