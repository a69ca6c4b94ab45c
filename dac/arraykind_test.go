package dac

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// TestArrayWithoutComponents checks that an array type without components is not a MethodTable. Its objects
// would be printed with a wrong length.
func TestArrayWithoutComponents(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net31-zoo"} {
		t.Run(name, func(t *testing.T) {
			rt, mem := overlaid(t, name)
			arrays := 0
			for mt, err := range rt.LoadedTypes() {
				if err != nil || !mt.IsArray() {
					continue
				}
				require.True(t, mt.HasComponents(), "%v", mt.Addr)
				flags := binary.LittleEndian.AppendUint32(nil, mt.Flags&^mtfComponentSize)
				mem.Set(testcase.Damage{At: mt.Addr + target.Addr(rt.off.MethodTable.Flags), Bytes: flags})
				_, err := rt.impl.readMethodTable(mt.Addr)
				require.ErrorIs(t, err, target.ErrCorrupt)
				mem.Set()
				arrays++
			}
			require.Positive(t, arrays)
		})
	}
}
