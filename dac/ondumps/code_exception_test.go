package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestDescribeException compares descriptions of exceptions with the oracle.
func TestDescribeException(t *testing.T) {
	codeCorpus(t, func(t *testing.T, d *testdump.Dump, methods *dac.CodeReader) int {
		compared := 0
		d.Oracle(t, "exceptions", func(m map[string]any) {
			text, _ := m["address"].(string)
			if name, ok := m["type"].(string); !ok || name == "" || text == "" {
				return
			}
			a := testdump.Address(text)
			x, err := methods.DescribeException(a, dac.ExceptionOptions{})
			require.NoError(t, err, text)
			compared++
			assert.Equal(t, a, x.Address)
			assert.Equal(t, testdump.Address(m["inner"]), x.Inner, text)
			assert.Equal(t, x.Inner == 0, x.InnerType.IsZero(), text)
			want, ok := m["message"].(string)
			if ok && x.Message != nil && x.Message.Err == nil {
				assert.Equal(t, want, x.Message.S, text)
			}
			for i := range x.Frames {
				f := &x.Frames[i]
				assert.True(t, strings.HasSuffix(f.Function.String(), f.Method.String()), f.Function)
			}
			first, err := methods.DescribeException(a, dac.ExceptionOptions{Brief: true})
			require.NoError(t, err)
			assert.Len(t, first.Frames, min(1, len(x.Frames)))
		})
		return compared
	})
}

func TestDescribeNoException(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		rt, err := d.Runtime()
		if err != nil {
			t.Skip("no CLR")
		}
		_, err = dac.CodeOf(rt).DescribeException(0x10, dac.ExceptionOptions{})
		assert.ErrorIs(t, err, target.ErrCorrupt)
	})
}
