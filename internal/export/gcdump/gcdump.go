// Package gcdump writes the graph of a heap as a .gcdump file for PerfView, Visual Studio and "dotnet-gcdump
// report". The format is PerfView's FastSerialization (github.com/microsoft/perfview, src/FastSerialization and
// src/MemoryGraph; src/HeapDump/GCHeapDump.cs), with labels of four bytes. It does not read such files. Start
// at Write.
//
// Objects keep their sizes, types, addresses and references, below PerfView's nodes: [.NET Roots] with [static
// vars], [thread static vars], [local vars] and [other roots]. As in files of dotnet-gcdump, garbage is left
// out. With Options.Garbage it is below [unreachable], because some viewers only show reachable objects.
package gcdump

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/ticks"
	"github.com/sosgo/sosgo/internal/export/pieces"
	"github.com/sosgo/sosgo/target"
)

// Limits of the readers.
const (
	// MaxNodes is the largest number of nodes that PerfView opens: its arrays of nodes have at most 2^31 bytes,
	// and 16 per node.
	MaxNodes = 1<<27 - 11
	maxBlob  = 1<<31 - 1 // bytes of all nodes: the length is an int32
	maxSize  = 1<<31 - 1 // largest size of an object: an int32
)

// Options describe the process of the heap. All may be empty.
type Options struct {
	Process string
	ID      uint32
	Machine string
	Time    time.Time // when the dump was written

	Garbage bool // include unreachable objects
}

// A Summary describes the written file.
type Summary struct {
	answer.Gaps
	Objects uint64 // in the file
	Garbage uint64 // unreachable objects of the heap, whether or not they are in the file
	Nodes   int    // objects, and what keeps them alive
	Types   int
	Edges   uint64
	Size    uint64 // bytes of all objects in the file
	// Shortened is the number of objects of 2 GB and more. The format cannot represent them: they have 2^31-1
	// bytes.
	Shortened int
}

// Write writes the heap. If no reader of the format could open it, Write returns target.ErrUnsupported before
// it writes anything. The bytes are the same for any number of workers. Beside the graph it takes a few
// megabytes, and a bit and a half for each object.
func Write(ctx context.Context, w io.Writer, h *pieces.Heap, o Options) (*Summary, error) {
	ctx, done, err := h.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	live, err := h.Graph.Live(ctx)
	if err != nil {
		return nil, err
	}
	e := &encoder{ctx: ctx, h: h, g: h.Graph, summary: &Summary{}, garbage: o.Garbage, nodesOf: numberAll(h.Graph)}
	count, _ := live.Count()
	e.summary.Garbage = uint64(e.g.Objects()) - count
	if !o.Garbage {
		e.nodesOf = numberLive(h.Graph, live)
	}
	if n := int64(e.nodesOf.objects) + int64(e.g.Nodes()-e.g.Objects()) + 2; n > MaxNodes {
		return nil, target.Unsupportedf("the heap has %d objects and roots: PerfView opens .gcdump files of at most %d nodes", n, MaxNodes)
	}
	if err := e.plan(); err != nil {
		return nil, err
	}
	buffered := bufio.NewWriterSize(w, 1<<20)
	e.out = out{w: buffered}
	e.file(o)
	if e.err == nil {
		e.err = buffered.Flush()
	}
	return e.summary, e.err
}

// An out writes the basic types and counts bytes. It keeps the first error.
type out struct {
	w       *bufio.Writer
	at      int64
	err     error
	scratch [8]byte
}

func (o *out) bytes(b []byte) {
	if o.err == nil {
		_, o.err = o.w.Write(b)
	}
	o.at += int64(len(b))
}

func (o *out) byte(b byte)     { o.scratch[0] = b; o.bytes(o.scratch[:1]) }
func (o *out) int32(v int32)   { o.bytes(le.AppendUint32(o.scratch[:0], uint32(v))) }
func (o *out) int64(v int64)   { o.bytes(le.AppendUint64(o.scratch[:0], uint64(v))) }
func (o *out) label(at int64)  { o.int32(int32(uint32(at))) }
func (o *out) string(s string) { o.bytes(appendString(nil, s)) }

func (o *out) bool(v bool) {
	if v {
		o.byte(1)
	} else {
		o.byte(0)
	}
}

// checkSize returns an error for a size that labels cannot represent.
func checkSize(nodes int, blob int64) error {
	const head = 64 << 20 // an upper bound for types, segments and the end
	switch {
	case blob > maxBlob:
		return target.Unsupportedf("the nodes of the heap take %d bytes in a .gcdump file, which has room for %d", blob, int64(maxBlob))
	case blob+12*int64(nodes)+head > 1<<32:
		return target.Unsupportedf("a .gcdump file of %d nodes would be larger than 4 GB, which its labels can't number", nodes)
	}
	return nil
}

// dateTime returns a time as a .NET DateTime, 0 for the zero time.
func dateTime(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return ticks.Of(t)
}

// logText returns the text that PerfView shows as the log of the collection.
func (s *Summary) logText() string {
	text := fmt.Sprintf("Written by sosgo from a dump: %d objects, %d bytes, %d references.", s.Objects, s.Size, s.Edges)
	if s.Shortened > 0 {
		text += fmt.Sprintf(" %d objects of 2 GB and more stand with 2147483647 bytes.", s.Shortened)
	}
	for _, err := range s.Noted() {
		text += "\n" + err.Error()
	}
	return text
}
