package fleet

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestServers: a server is given up after failures in a row; others, files and a server that answers are not.
func TestServers(t *testing.T) {
	s := &Servers{}
	s.Asked("https://a/1", MostLost-1, true)
	assert.False(t, s.Lost("https://a/2"))
	s.Asked("https://a/1", MostLost, false)
	s.Asked("https://a/1", MostLost-1, true)
	assert.False(t, s.Lost("https://a/2"), "it has answered")
	s.Asked("https://a/3", 1, true)
	assert.True(t, s.Lost("https://a/2"))
	s.Asked("/tmp/x", MostLost, true)
	for _, other := range []string{"https://b/1", "http://a/1", "s3://a/1", "/tmp/x", "x", "%"} {
		assert.False(t, s.Lost(other), other)
	}
}
