package stackscan_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackscan"
	"github.com/sosgo/sosgo/target"
)

// TestZeroValues: a Scanner without a runtime fails, and its sequence has one element.
func TestZeroValues(t *testing.T) {
	for _, s := range []*stackscan.Scanner{new(stackscan.Scanner), stackscan.New(nil, nil)} {
		assert.Nil(t, s.Runtime())
		n := 0
		for _, err := range s.Scan(context.Background(), stackscan.Options{}) {
			assert.ErrorIs(t, err, target.ErrUnsupported)
			n++
		}
		for _, err := range s.List(context.Background(), stackscan.Options{}, new(answer.Gaps)) {
			assert.ErrorIs(t, err, target.ErrUnsupported)
			n++
		}
		assert.Equal(t, 2, n)
	}
}

// TestZeroOptions: without anything to scan there is neither a result nor an error.
func TestZeroOptions(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		if !d.HasRuntime() {
			t.Skip("no runtime")
		}
		s, err := d.Scanner()
		if err != nil {
			t.Skip(err)
		}
		for range s.Scan(context.Background(), stackscan.Options{Registers: new(target.Registers), Ranges: []target.Range{{}}}) {
			t.Error("a result of nothing")
		}
	})
}
