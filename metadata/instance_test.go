package metadata

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// TestInstanceSig decodes signatures of instances in ReadyToRun images, which other bytes follow.
func TestInstanceSig(t *testing.T) {
	canon, i4 := TypeSig{Kind: ElementCanon}, TypeSig{Kind: ElementI4}
	class := TypeSig{Kind: ElementClass, Token: NewToken(TableTypeDef, 2)}
	generic := TypeSig{Kind: ElementGenericInst, Elem: &class, Args: []TypeSig{canon}}
	for name, tt := range map[string]struct {
		b    []byte
		want InstanceSig
		size int
	}{
		"a method":                   {[]byte{0x00, 5, 9}, InstanceSig{Method: 5}, 2},
		"of a generic type":          {[]byte{0x40, 0x15, 0x12, 0x08, 1, 0x3E, 6, 9}, InstanceSig{Owner: &generic, Method: 6}, 7},
		"generic, unboxing":          {[]byte{0x05, 7, 2, 0x3E, 0x08, 9}, InstanceSig{Method: 7, Args: []TypeSig{canon, i4}}, 5},
		"of this image":              {[]byte{0x80, 0x80, 0, 5}, InstanceSig{Method: 5}, 4},
		"of another image":           {[]byte{0x80, 0x80, 3, 5}, InstanceSig{Method: 5, Foreign: true}, 4},
		"an argument of another one": {[]byte{0x04, 7, 1, 0x3F, 3, 0x12, 0x08}, InstanceSig{Method: 7, Args: []TypeSig{class}, Foreign: true}, 7},
		"an async variant":           {[]byte{0x81, 0x00, 5}, InstanceSig{Method: 5}, 3},
	} {
		got, n, err := ParseInstanceSig(tt.b)
		require.NoError(t, err, name)
		assert.Equal(t, tt.want, got, name)
		assert.Equal(t, tt.size, n, name)
		for i := range n {
			_, _, err := ParseInstanceSig(tt.b[:i])
			assert.ErrorIs(t, err, target.ErrCorrupt, "%s: %d bytes", name, i)
		}
	}
	for name, b := range map[string][]byte{"a slot": {0x08, 1}, "a reference to a member": {0x10, 1}, "a constrained call": {0x20, 1}} {
		_, _, err := ParseInstanceSig(b)
		assert.ErrorIs(t, err, target.ErrCorrupt, name)
	}
	for _, b := range [][]byte{{0x3E}, {0x3F, 1, 0x08}} { // elsewhere these are no types
		_, err := ParseTypeSpec(b)
		assert.ErrorIs(t, err, target.ErrCorrupt)
	}
}
