package dac

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFormatSignature words signatures by the examples of ECMA-335 II.23.2, with
// bytes behind them that are not theirs.
func TestFormatSignature(t *testing.T) {
	for _, c := range []struct {
		sig  []byte
		want string
	}{
		{[]byte{0x06, 0x08, 0xff}, "[FIELD] I4"},
		{[]byte{0x20, 0x01, 0x01, 0x0e, 0xff}, "[DEFAULT] [hasThis] Void(String)"},
	} {
		got, err := formatSignature(c.sig, nil)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	got, err := formatTypeSignature([]byte{0x1d, 0x08, 0xff}, nil)
	require.NoError(t, err)
	require.Equal(t, "SZArray I4", got)
	_, err = formatSignature([]byte{0xff}, nil)
	require.Error(t, err)
}
