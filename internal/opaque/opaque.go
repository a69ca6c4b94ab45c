// Package opaque has sync.Map and sync.Pool for fields of structures that many packages reach.
//
// Both consist of generic types. The compiler makes all of their methods, some 120 functions, anew for every package that can reach a structure
// with such a field, however far away it is. The types here hide them behind interfaces.
package opaque

import "sync"

// A Map is a sync.Map. The zero Map is empty. It must not be copied after its first use.
type Map struct {
	once sync.Once
	in   interface {
		Load(key any) (value any, ok bool)
		Store(key, value any)
		LoadOrStore(key, value any) (actual any, loaded bool)
	}
}

// Load is sync.Map's.
func (m *Map) Load(key any) (value any, ok bool) {
	m.once.Do(m.fill)
	return m.in.Load(key)
}

// Store is sync.Map's.
func (m *Map) Store(key, value any) {
	m.once.Do(m.fill)
	m.in.Store(key, value)
}

// LoadOrStore is sync.Map's.
func (m *Map) LoadOrStore(key, value any) (actual any, loaded bool) {
	m.once.Do(m.fill)
	return m.in.LoadOrStore(key, value)
}

//go:noinline
func (m *Map) fill() { m.in = new(sync.Map) }

// A Pool is a sync.Pool without New. The zero Pool is empty. It must not be copied after its first use.
type Pool struct {
	once sync.Once
	in   interface {
		Get() any
		Put(x any)
	}
}

// Get is sync.Pool's. It returns nil if the pool is empty.
func (p *Pool) Get() any {
	p.once.Do(p.fill)
	return p.in.Get()
}

// Put is sync.Pool's.
func (p *Pool) Put(x any) {
	p.once.Do(p.fill)
	p.in.Put(x)
}

//go:noinline
func (p *Pool) fill() { p.in = new(sync.Pool) }
