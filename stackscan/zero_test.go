package stackscan_test

import (
	"context"
	"testing"

	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackscan"
	"github.com/sosgo/sosgo/target"
)

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
