// Package hexdump reads memory as rows of numbers, or as text up to a zero. It returns package
// answer's types; formatting is the caller's.
package hexdump

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/target"
)

// A Shape describes how memory is divided into rows.
type Shape struct {
	Length int // bytes of an element: 1, 2, 4 or 8, little-endian
	Count  int // elements in total
	Width  int // elements per row
}

// Rows returns the memory from a on. An element that is not in the dump is nil in its row; the gap
// is recorded once. If no element is in the dump, the list fails. An impossible shape is
// target.ErrUnsupported.
func Rows(ctx context.Context, mem target.Memory, a target.Addr, s Shape) (*answer.Memory, error) {
	if err := checkLength(s.Length); err != nil {
		return nil, err
	}
	if s.Count < 0 || s.Width <= 0 {
		return nil, target.Unsupportedf("%d elements in rows of %d", s.Count, s.Width)
	}
	m := &answer.Memory{Address: a, Length: s.Length, Width: s.Width}
	m.Rows = answer.NewRows(&m.Gaps, func(yield func(answer.MemoryRow, error) bool) error {
		var missing error
		held := false
		for n := 0; n < s.Count; n += s.Width {
			if err := ctx.Err(); err != nil {
				return err
			}
			row := answer.MemoryRow{Address: a + target.Addr(n*s.Length)}
			row.Elements = make([]*answer.Hex, min(s.Width, s.Count-n))
			for i := range row.Elements {
				b, err := target.Bytes(mem, row.Address+target.Addr(i*s.Length), s.Length)
				if err != nil {
					missing = cmp.Or(missing, notInDump(err))
					continue
				}
				v := answer.Hex(littleEndian(b))
				row.Elements[i], held = &v, true
			}
			if !yield(row, nil) {
				return nil
			}
		}
		if !held {
			return missing
		}
		m.Note(missing)
		return nil
	})
	return m, nil
}

// Text returns the text at a up to its first zero, in code units of length bytes: 1 for ASCII, 2,
// or more. If a read fails, the answer holds the text before it.
func Text(mem target.Memory, a target.Addr, length int) (*answer.MemoryText, error) {
	if err := checkLength(length); err != nil {
		return nil, err
	}
	t := &answer.MemoryText{Address: a}
	units, err := characters(mem, a, length)
	err = notInDump(err)
	if err != nil && len(units) == 0 {
		return nil, err
	}
	t.Note(err)
	t.Units, t.Text = units, utf16text.FromUnits(units)
	return t, nil
}

// notInDump returns err as target.ErrNotInDump if memory is missing: the address is the caller's, so memory that the
// process did not have is no damage of the dump.
func notInDump(err error) error {
	var missing *target.MemoryError
	if !errors.As(err, &missing) {
		return err
	}
	return &target.MemoryError{Addr: missing.Addr, Size: missing.Size, Err: target.ErrNotInDump}
}

func checkLength(n int) error {
	switch n {
	case 1, 2, 4, 8:
		return nil
	}
	return target.Unsupportedf("elements of %d bytes", n)
}

func characters(mem target.Memory, a target.Addr, length int) ([]uint16, error) {
	w := target.NewWindow(mem)
	var units []uint16
	for len(units) < limits.TextUnits {
		b, err := w.Bytes(a, length)
		if err != nil {
			return units, err
		}
		u := uint16(littleEndian(b))
		if u == 0 {
			return units, nil
		}
		units = append(units, u)
		a += target.Addr(length)
	}
	return units, target.Corruptf("string without an end in the first %d characters", limits.TextUnits)
}

func littleEndian(b []byte) uint64 {
	var w [8]byte
	copy(w[:], b)
	return binary.LittleEndian.Uint64(w[:])
}
