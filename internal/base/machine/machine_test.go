package machine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/base/machine"
	"github.com/sosgo/sosgo/target"
)

// TestFailed: a fault is known whatever it is wrapped in; an error of a dump is no such fault.
func TestFailed(t *testing.T) {
	_, missing := os.Open(filepath.Join(t.TempDir(), "none"))
	fault := &machine.Error{Err: errors.New("no folder"), Next: "make one"}
	for err, want := range map[error]bool{
		missing: true, fault: true, target.Corruptf("can't unpack: %w", fault): true, fmt.Errorf("x: %w", context.DeadlineExceeded): true,
		target.Corruptf("cut"): false, context.Canceled: false, errors.New("x"): false,
	} {
		assert.Equal(t, want, machine.Failed(err), err)
	}
	assert.False(t, machine.Failed(nil))
	assert.Equal(t, "no folder", fault.Error())
	assert.Equal(t, "make one", fault.Advice())
}
