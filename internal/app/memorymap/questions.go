package memorymap

import (
	"cmp"
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/dump/crashreport"
	"github.com/sosgo/sosgo/process"
)

// Memory shows the purpose of the process's memory: the GC heap, the runtime's native heaps, images, stacks, malloc and
// the rest. Without a runtime it shows less.
func Memory(ctx context.Context, p *process.Process, o Options) (*answer.MemoryMap, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.MemoryMap, error) {
		if crashreport.Of(p.Dump().File().Target) != nil {
			_, err := p.Instance()
			return nil, err
		}
		m, err := Of(p)
		if err != nil {
			return nil, err
		}
		o.Symbols = cmp.Or(o.Symbols, p.Dump().Symbols())
		o.Scan = c.Scan("scanning the heap", o.Scan)
		return m.Describe(ctx, o)
	})
}

// Native compares malloc's memory with the GC heap's.
type Native struct {
	Arenas uint64 // bytes that malloc's arenas have from the system
	Blocks uint64 // bytes of blocks with their own mappings
	Heap   uint64 // committed bytes of the GC heap
	Loader uint64 // bytes in use of the runtime's heaps for types and code, as far as the dump has them
	// Counted reports whether Blocks is malloc's own count. Otherwise it is the sum of what look like such blocks.
	Counted bool
	Err     error // why memory of malloc may be missing
	// Fields are the fields of objects that refer to most of it. They are only read if it is much.
	Fields []PointerField
}

// Memory of malloc is much from muchNative bytes and timesNative times the GC heap.
const (
	muchNative  = 256 << 20
	timesNative = 2
)

// Much reports whether so many bytes of malloc are much beside the GC heap.
func (n *Native) Much(bytes uint64) bool { return bytes >= muchNative && bytes/timesNative >= n.Heap }

// NativeMemory returns the sizes of malloc's memory and the GC heap.
func NativeMemory(ctx context.Context, p *process.Process) (*Native, error) {
	return process.Answer(ctx, p, func(ctx context.Context, _ *process.Call) (*Native, error) {
		m, err := Of(p)
		if err != nil {
			return nil, err
		}
		arenas, blocks, counted, err := m.Malloc()
		n := &Native{Arenas: arenas, Blocks: blocks, Counted: counted, Heap: m.Committed(), Loader: m.loader, Err: err}
		if n.Much(arenas + blocks) {
			n.Fields, _ = pointerFields(ctx, p, m.blocks(ctx)) // the size stands without them
		}
		return n, ctx.Err()
	})
}
