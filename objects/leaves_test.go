package objects_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// TestLeavesOfEveryType: the parts of every type lie in it, one after another. A struct of a type that is not loaded is
// an error.
func TestLeavesOfEveryType(t *testing.T) {
	unloaded := 0
	for _, name := range []string{"net31-zoo", "net8-zoo", "net10-zoo", "win-net10-zoo"} {
		t.Run(name, func(t *testing.T) {
			rt, err := testdump.Open(t, name).Runtime()
			require.NoError(t, err)
			reader := objects.New(rt)
			whole := 0
			for mt, err := range rt.LoadedTypes() {
				if err != nil {
					continue
				}
				typ, err := reader.Type(mt.Addr)
				if err != nil {
					continue
				}
				leaves, err := typ.Leaves()
				switch {
				case err == nil && mt.IsValueType():
					whole++
					for i, l := range leaves {
						assert.LessOrEqual(t, l.Offset+l.Size(), uint64(mt.BaseSize)-16, "%v part %d", mt.Addr, i)
					}
				case errors.Is(err, target.ErrUnsupported):
					unloaded++
				}
			}
			assert.NotZero(t, whole)
		})
	}
	assert.NotZero(t, unloaded)
}
