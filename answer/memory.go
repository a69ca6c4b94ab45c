package answer

import (
	"iter"

	"github.com/sosgo/sosgo/target"
)

// Memory is a piece of memory as rows of elements.
type Memory struct {
	Gaps
	Address target.Addr                 `json:"address" doc:"where it starts"`
	Length  int                         `json:"-"` // bytes of an element: 1, 2, 4 or 8
	Width   int                         `json:"-"` // elements of a row
	Rows    iter.Seq2[MemoryRow, error] `json:"rows" doc:"the rows"`
}

// A MemoryRow is a row of elements.
type MemoryRow struct {
	Address  target.Addr `json:"address" doc:"of the first element"`
	Elements []*Hex      `json:"elements" doc:"the row's elements; null for one that the dump does not hold"`
}

// MemoryText is the text that memory holds up to a zero.
type MemoryText struct {
	Gaps
	Address target.Addr `json:"address" doc:"where it starts"`
	Units   []uint16    `json:"-"` // its UTF-16 code units
	Text    string      `json:"string" doc:"the text"`
}
