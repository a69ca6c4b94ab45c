package opaque_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/opaque"
)

// TestMap: all who add a key at the same time get the value of one of them.
func TestMap(t *testing.T) {
	var (
		m     opaque.Map
		wg    sync.WaitGroup
		first [4]any
	)
	_, ok := m.Load("key")
	assert.False(t, ok)
	for i := range first {
		wg.Go(func() { first[i], _ = m.LoadOrStore("key", i) })
	}
	wg.Wait()
	v, ok := m.Load("key")
	assert.True(t, ok)
	for _, f := range first {
		assert.Equal(t, v, f)
	}
	m.Store("key", "new")
	v, loaded := m.LoadOrStore("key", 1)
	assert.True(t, loaded)
	assert.Equal(t, "new", v)
}

func TestPool(t *testing.T) {
	var p opaque.Pool
	assert.Nil(t, p.Get())
	for range 100 { // the race detector drops some
		p.Put(7)
		if v := p.Get(); v != nil {
			assert.Equal(t, 7, v)
			return
		}
	}
	t.Error("nothing stayed")
}

func BenchmarkMap(b *testing.B) {
	keys := make([]*int, 1000)
	for i := range keys {
		keys[i] = new(int)
	}
	type loader interface {
		Load(any) (any, bool)
		Store(k, v any)
	}
	for name, m := range map[string]loader{"opaque": &opaque.Map{}, "sync": &sync.Map{}} {
		for _, k := range keys {
			m.Store(k, k)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, k := range keys {
					m.Load(k)
				}
			}
		})
	}
}
