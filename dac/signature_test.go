package dac

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFormatSignature formats the examples of ECMA-335 II.23.2, followed by bytes that do not belong to them.
func TestFormatSignature(t *testing.T) {
	for _, c := range []struct {
		sig  []byte
		want string
	}{
		{[]byte{0x06, 0x08, 0xff}, "[FIELD] I4"},
		{[]byte{0x20, 0x01, 0x01, 0x0e, 0xff}, "[DEFAULT] [hasThis] Void(String)"},
		// a class by its token, TypeRef 4, which has no name without a module
		{[]byte{0x20, 0x01, 0x01, 0x12, 0x11, 0xff}, "[DEFAULT] [hasThis] Void(Class 0x01000004)"},
		{[]byte{0x06, 0x20, 0x11, 0x08, 0xff}, "[FIELD] CMOD_OPT 0x01000004 I4"},
	} {
		got, err := formatSignature(c.sig, nil)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	got, err := formatTypeSignature([]byte{0x1d, 0x08, 0xff}, nil)
	require.NoError(t, err)
	require.Equal(t, "SZArray I4", got)
	got, err = formatTypeSignature([]byte{0x15, 0x12, 0x08, 0x01, 0x13, 0x00, 0xff}, nil)
	require.NoError(t, err)
	require.Equal(t, "Class 0x02000002<!0>", got)
	_, err = formatSignature([]byte{0xff}, nil)
	require.Error(t, err)
}
