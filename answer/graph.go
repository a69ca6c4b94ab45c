package answer

import (
	"iter"

	"github.com/sosgo/sosgo/target"
)

// HeapGraph is the heap as a graph: types, roots, and objects with what they refer to. Free blocks are no part of it.
type HeapGraph struct {
	Gaps
	Types   []Text // names, in the order of their first objects
	Roots   []HeapRoot
	Objects iter.Seq2[*GraphObject, error] // in address order
}

// A HeapRoot keeps an object alive.
type HeapRoot struct {
	Kind   string // "handle", "finalizer" or "stack"
	Object target.Addr
}

// A GraphObject is an object with what it refers to. It is valid until the next.
type GraphObject struct {
	Address     target.Addr
	MethodTable target.Addr
	Type        int // index in HeapGraph.Types
	Size        uint64
	References  []target.Addr // in the order of memory
}

// GraphFile says what was written of a HeapGraph.
type GraphFile struct {
	Gaps
	File    string `json:"file" doc:"the file that was written"`
	Types   int    `json:"types" doc:"number of types"`
	Roots   int    `json:"roots" doc:"number of roots"`
	Objects uint64 `json:"objects" doc:"number of objects"`
}
