package crash_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// TestNoRecord: a dump that has lost threads may have lost its crash record with them.
func TestNoRecord(t *testing.T) {
	lost := fmt.Errorf("threads: %w", &process.LostThreadsError{})
	const unknown = "unknown whether there was a crash record"
	for _, unhandled := range []bool{false, true} {
		assert.NotContains(t, crash.NoRecord(unhandled, nil), unknown)
		assert.NotContains(t, crash.NoRecord(unhandled, target.ErrNotInDump), unknown)
		assert.Contains(t, crash.NoRecord(unhandled, lost), unknown)
		assert.NotContains(t, crash.NoRecord(unhandled, lost), "has no crash record")
	}
	assert.Contains(t, crash.NoRecord(true, lost), "a thread has an unhandled exception")
}
