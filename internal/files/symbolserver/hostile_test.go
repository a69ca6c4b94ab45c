package symbolserver

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/test/hostile"
)

// TestHostileServers runs all hostile behaviours against a symbol server. Nothing gets into the cache.
func TestHostileServers(t *testing.T) {
	hostile.Attack(t, func(t *testing.T, url string) func() error {
		s := &Server{URL: url + "/symbols/", Cache: t.TempDir(), stall: 200 * time.Millisecond, Budget: &Budget{File: 4 << 20}}
		n := 0
		return func() error {
			n++
			_, err := s.Get(t.Context(), fmt.Sprintf("f%d/1/f", n), func(string) error { return image.ErrMismatch })
			_ = filepath.WalkDir(s.Cache, func(path string, d fs.DirEntry, _ error) error {
				assert.False(t, d.Type().IsRegular(), path)
				return nil
			})
			return err
		}
	})
}
