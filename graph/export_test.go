package graph

import (
	"context"
	"slices"

	"github.com/sosgo/sosgo/internal/arrayfile"
)

// Tuned is o with other bounds, so that small heaps meet what large ones do.
func (o Options) Tuned(deferFrom, piece uint64, wide bool) Options {
	o.deferFrom, o.piece, o.wide = deferFrom, piece, wide
	return o
}

// IsCache is isCache.
var IsCache = isCache

// KeptParts are the files of a Keep with the names of their arrays.
var KeptParts = map[string][]string{
	keptRows: {"facts", "starts", "offsets", "targets", "sizes", "type of object", "high bits of type", "types", "large objects", "sizes of these",
		"slots of roots", "roots of slots"},
	keptLive:       {"live"},
	keptReferrers:  {"offsets", "targets"},
	keptDominators: {"dominators", "retained"},
}

// KeptPath returns where a part of g is kept.
func (g *Graph) KeptPath(part string) string { return g.store.path(part) }

// Forge writes a part of what is kept of g again, with other arrays and right checksums.
func (g *Graph) Forge(ctx context.Context, part string, change func(name string, data []byte) []byte) error {
	f, err := arrayfile.Open(ctx, g.store.path(part), g.store.keyOf(part), arrayfile.Options{NoMmap: true})
	if err != nil {
		return err
	}
	defer f.Close()
	var sections []arrayfile.Section
	for _, name := range KeptParts[part] {
		data, err := arrayfile.Values[byte](f, name)
		if err != nil {
			return err
		}
		sections = append(sections, arrayfile.Section{Name: name, Data: change(name, slices.Clone(data))})
	}
	return arrayfile.Write(ctx, g.store.path(part), g.store.keyOf(part), sections)
}
