package dac

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/target"
)

// A truncated target is a dump with a cut file.
type truncated struct {
	target.Target
	err error
}

func (t truncated) Truncated() error { return t.err }

// TestCutFile checks that a cut file is not called a dump of stacks alone.
func TestCutFile(t *testing.T) {
	for _, cut := range []bool{false, true} {
		tgt := truncated{}
		if cut {
			tgt.err = errors.New("1 byte is missing")
		}
		i := &Instance{tgt: tgt, Module: target.Module{Path: "/net/libcoreclr.so", Version: [4]uint16{10, 0, 1426, 52326}}}
		err := i.stacksOnlyError()
		assert.ErrorIs(t, err, target.ErrNotInDump)
		assert.Equal(t, cut, !assert.ObjectsAreEqual(err.Error(), "the dump holds stacks and none of the data of .NET 10.0.14 (libcoreclr.so): objects, types and managed threads are not in the dump"))
		var alone *StacksOnlyError
		assert.ErrorAs(t, err, &alone)
		assert.Equal(t, cut, alone.Cut)
		if cut {
			assert.ErrorContains(t, err, "lie past its end")
			assert.Contains(t, alone.Advice(), "copy it again")
		}
	}
}
