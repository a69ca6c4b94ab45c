package sosgo_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/testdump"
)

// TestPackEndsWithItsContext: a pack that nobody wants any more ends at once,
// before its files are looked for and while they are written.
func TestPackEndsWithItsContext(t *testing.T) {
	d := testdump.Open(t, "net8-zoo")
	ctx, cancel := context.WithCancel(t.Context())
	var stopped time.Time
	_, err := d.Pack(ctx, io.Discard, func(_, _ int64) {
		if stopped.IsZero() {
			stopped = time.Now()
			cancel()
		}
	})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Less(t, time.Since(stopped), time.Second)
	_, err = d.Pack(ctx, io.Discard, nil)
	assert.ErrorIs(t, err, context.Canceled)
}
