package offheap

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestReporting(t *testing.T) {
	devices := func(kind, features string) fstest.MapFS {
		return fstest.MapFS{
			"virtio0/device": {Data: []byte("0x0002\n")}, "virtio0/features": {Data: []byte("111111\n")},
			"virtio1/device": {Data: []byte(kind)}, "virtio1/features": {Data: []byte(features)},
		}
	}
	require.True(t, reporting(devices("0x0005\n", "01100101000\n")))
	require.False(t, reporting(devices("0x0005\n", "01100000000\n")))
	require.False(t, reporting(devices("0x0005\n", "01100\n")))
	require.False(t, reporting(devices("0x0001\n", "01100101000\n")))
	require.False(t, reporting(fstest.MapFS{}))
}
