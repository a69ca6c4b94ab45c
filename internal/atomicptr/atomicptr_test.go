package atomicptr_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/atomicptr"
)

// TestPointer: a reader sees all of what was stored, or nothing.
func TestPointer(t *testing.T) {
	type pair struct{ a, b int }
	var (
		p  atomicptr.Pointer[pair]
		wg sync.WaitGroup
	)
	assert.Nil(t, atomicptr.Load(&p))
	wg.Go(func() {
		for i := range 1000 {
			atomicptr.Store(&p, &pair{i, -i})
		}
	})
	for range 1000 {
		if v := atomicptr.Load(&p); v != nil {
			assert.Equal(t, v.a, -v.b)
		}
	}
	wg.Wait()
	assert.Equal(t, &pair{999, -999}, atomicptr.Load(&p))
	atomicptr.Store(&p, nil)
	assert.Nil(t, atomicptr.Load(&p))
}
