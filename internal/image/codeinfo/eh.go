package codeinfo

import (
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// An EHKind is the kind of an exception clause.
type EHKind uint8

// The kinds of clause.
const (
	EHTyped   EHKind = iota // catches a type
	EHFilter                // catches exceptions that its filter accepts
	EHFinally               // always runs
	EHFault                 // runs when an exception leaves the block
)

// String returns the kind in SOS's words.
func (k EHKind) String() string { return [...]string{"TYPED", "FILTER", "FINALLY", "FAULT"}[k&3] }

// Flags of a clause (runtime: corhdr.h, CorExceptionFlag; CACHED_CLASS is internal to the runtime).
const (
	clauseFilter     = 1 << 0
	clauseFinally    = 1 << 1
	clauseFault      = 1 << 2
	clauseDuplicated = 1 << 3
	clauseSameTry    = 1 << 4
	clauseCached     = 1 << 28
)

// An EHClause is an exception clause of compiled code. Offsets are bytes from the method's start.
type EHClause struct {
	Kind    EHKind
	Try     CodeRange
	Handler CodeRange
	Filter  uint32 // EHFilter: start of the filter, which ends at the start of the handler

	// The type that EHTyped catches: a token of the method's module, or the type's handle once the
	// runtime has resolved it. If both are zero, it catches everything.
	ClassToken uint32
	TypeHandle target.Addr

	// Duplicated marks a clause that repeats another one for code that was moved out of its block,
	// such as the body of a finally.
	Duplicated bool
	SameTry    bool // same block as the previous clause
}

// ClonedFinally reports whether the clause marks the compiler's copy of a finally for the path
// without an exception. It covers no code.
func (c *EHClause) ClonedFinally() bool {
	return c.Kind == EHFinally && c.Duplicated && c.Try.Start == c.Try.End && c.Try.Start == c.Handler.Start
}

// Sizes and offsets of clauses after compiled code (runtime: codeman.h, EE_ILEXCEPTION: a count, a
// header and the clauses, aligned to 8) and in images (readytorun.h, READYTORUN_EXCEPTION_CLAUSE).
const (
	jitClausesOffset = 8 // from the address in the code header
	jitClauseSize    = 32
	jitClauseUnion   = 24

	imageClauseSize  = 24
	imageClauseUnion = 20

	imageEHEntrySize = 8
)

// ReadEHClauses reads the exception clauses of compiled code. ehInfo is the address in the method's
// code header, or 0 if the method has no clauses.
func ReadEHClauses(mem target.Memory, ehInfo target.Addr) ([]EHClause, error) {
	if ehInfo == 0 {
		return nil, nil
	}
	n, err := target.Uint64(mem, ehInfo-8)
	if err != nil {
		return nil, fmt.Errorf("exception clauses: %w", err)
	}
	if n > limits.EHClauses {
		return nil, target.Corruptf("%d exception clauses at %s", n, ehInfo)
	}
	b, err := target.Bytes(mem, ehInfo+jitClausesOffset, int(n)*jitClauseSize)
	if err != nil {
		return nil, fmt.Errorf("exception clauses: %w", err)
	}
	return decodeClauses(b, jitClauseSize, jitClauseUnion)
}

// ReadImageEHClauses reads the exception clauses of a method of a ReadyToRun image. table is the
// image's section of exception information, base its load address, and rva the method's entry
// point. A method that is not in the table has no clauses.
func ReadImageEHClauses(mem target.Memory, base target.Addr, table target.Range, rva uint32) ([]EHClause, error) {
	// The last entry only marks the end of the previous entry's clauses.
	n := int(min(table.Size()/imageEHEntrySize, limits.ImageEHMethods)) - 1
	if n <= 0 {
		return nil, nil
	}
	var failed error
	entry := func(i int) (method, clauses uint32) {
		v, err := target.Uint64(mem, table.Start+target.Addr(i*imageEHEntrySize))
		if err != nil && failed == nil {
			failed = fmt.Errorf("table of exception clauses: %w", err)
		}
		return uint32(v), uint32(v >> 32)
	}
	i := sort.Search(n, func(i int) bool {
		method, _ := entry(i)
		return method >= rva
	})
	if failed != nil || i == n {
		return nil, failed
	}
	method, start := entry(i)
	_, end := entry(i + 1)
	if failed != nil || method != rva {
		return nil, failed
	}
	size := end - start
	if end < start || size%imageClauseSize != 0 || size/imageClauseSize > limits.EHClauses {
		return nil, target.Corruptf("exception clauses at %#x to %#x", start, end)
	}
	b, err := target.Bytes(mem, base+target.Addr(start), int(size))
	if err != nil {
		return nil, fmt.Errorf("exception clauses: %w", err)
	}
	return decodeClauses(b, imageClauseSize, imageClauseUnion)
}

// decodeClauses decodes the clauses in b, each of size bytes, with the data that depends on the
// kind at offset union.
func decodeClauses(b []byte, size, union int) ([]EHClause, error) {
	le := binary.LittleEndian
	out := make([]EHClause, len(b)/size)
	for i := range out {
		p := b[i*size : (i+1)*size]
		c := &out[i]
		c.Try = CodeRange{le.Uint32(p[4:]), le.Uint32(p[8:])}
		c.Handler = CodeRange{le.Uint32(p[12:]), le.Uint32(p[16:])}
		if c.Try.End < c.Try.Start || c.Handler.End < c.Handler.Start {
			return nil, target.Corruptf("exception clause %d covers %#x to %#x, its handler %#x to %#x",
				i, c.Try.Start, c.Try.End, c.Handler.Start, c.Handler.End)
		}
		flags := le.Uint32(p)
		c.Duplicated, c.SameTry = flags&clauseDuplicated != 0, flags&clauseSameTry != 0
		c.setKind(flags, p[union:])
	}
	return out, nil
}

// setKind decodes the clause's kind and the data that depends on it.
func (c *EHClause) setKind(flags uint32, union []byte) {
	le := binary.LittleEndian
	switch {
	case flags&clauseFilter != 0:
		c.Kind, c.Filter = EHFilter, le.Uint32(union)
	case flags&clauseFinally != 0:
		c.Kind = EHFinally
	case flags&clauseFault != 0:
		c.Kind = EHFault
	case flags&clauseCached != 0 && len(union) >= 8:
		c.TypeHandle = target.Addr(le.Uint64(union))
	default:
		c.ClassToken = le.Uint32(union)
	}
}
