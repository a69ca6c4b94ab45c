// Package pagecache reads slow files and memories in large blocks, and caches the recently used
// blocks. It is for sources that can't be mapped: files in a browser, and the memory of remote
// targets.
package pagecache

import (
	"cmp"
	"container/list"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

const (
	fileBlock   = 128 << 10 // bytes of a file to read at once
	memoryBlock = 64 << 10  // bytes of a memory to read at once
	page        = 4 << 10   // bytes of a memory that are stored or missing together
	mostAhead   = 32        // blocks of a file to read at once when reading sequentially
)

// A cache holds blocks by number, at most limits.PageCache bytes.
type cache struct {
	mu     sync.Mutex
	blocks map[uint64]*list.Element // of *block
	used   list.List                // most recently used first
	most   int                      // maximum number of blocks
	spare  [][]byte                 // data of dropped blocks, for reuse
}

// A block is read once, by the first goroutine that needs it.
type block struct {
	number uint64
	once   sync.Once
	data   []byte
	err    error // the reason for the end of data
	run    int   // number of blocks read together with it; guarded by the cache's mu, like the following fields
	users  int
	gone   bool // dropped
}

func newCache(size int) *cache {
	return &cache{blocks: map[uint64]*list.Element{}, most: max(limits.PageCache/size, 1)}
}

// get returns a block; read fills it if it is not in the cache. A block with an error other than
// io.EOF or an error of package target is not kept.
func (c *cache) get(number uint64, read func(*block)) *block {
	c.mu.Lock()
	e := c.blocks[number]
	if e == nil {
		e = c.used.PushFront(&block{number: number})
		c.blocks[number] = e
		if c.used.Len() > c.most {
			c.drop(c.used.Back())
		}
	} else {
		c.used.MoveToFront(e)
	}
	b := e.Value.(*block)
	b.users++
	c.mu.Unlock()
	b.once.Do(func() { read(b) })
	if b.err != nil && !errors.Is(b.err, io.EOF) && !errors.Is(b.err, target.ErrNotInDump) {
		c.mu.Lock()
		if c.blocks[number] == e {
			c.drop(e)
		}
		c.mu.Unlock()
	}
	return b
}

// done ends the use of a block returned by get. A caller that keeps its data must not call done.
func (c *cache) done(b *block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b.users--
	c.reuse(b)
}

// reuse keeps the data of a dropped block without users.
func (c *cache) reuse(b *block) {
	if b.gone && b.users == 0 && b.data != nil && len(c.spare) < mostAhead {
		c.spare = append(c.spare, b.data[:cap(b.data)])
		b.data = nil
	}
}

// room returns memory for the data of a block.
func (c *cache) room(n int) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := len(c.spare) - 1; i >= 0 && n <= len(c.spare[i]) {
		data := c.spare[i][:n]
		c.spare = c.spare[:i]
		return data
	}
	return make([]byte, n)
}

// ahead returns how many blocks to read from b on: one, and twice as many each time if the block
// before b was read.
func (c *cache) ahead(b *block) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	b.run = 1
	before := c.blocks[b.number-1]
	if before == nil {
		return 1
	}
	for most := min(2*before.Value.(*block).run, mostAhead, c.most/4); b.run < most && c.blocks[b.number+uint64(b.run)] == nil; {
		b.run++
	}
	return b.run
}

// put adds a block that was read ahead, unless the cache has it.
func (c *cache) put(b *block) {
	b.once.Do(func() {})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.blocks[b.number] != nil {
		b.gone = true
		c.reuse(b)
		return
	}
	c.blocks[b.number] = c.used.PushFront(b)
	if c.used.Len() > c.most {
		c.drop(c.used.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	b := e.Value.(*block)
	delete(c.blocks, b.number)
	c.used.Remove(e)
	b.gone = true
	c.reuse(b)
}

// A source is a target.Source that reads ahead. It lends nothing.
type source struct {
	r     io.ReaderAt
	size  int64
	cache *cache
	runs  sync.Pool // buffers for several blocks
}

// Source returns a cached source over r, a slow reader of size bytes.
func Source(r io.ReaderAt, size int64) target.Source {
	return &source{r: r, size: size, cache: newCache(fileBlock)}
}

// Size returns the size in bytes.
func (s *source) Size() int64 { return s.size }

// Bytes returns nil.
func (s *source) Bytes(int64, int) []byte { return nil }

// ReadAt implements io.ReaderAt. Large reads bypass the cache.
func (s *source) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= s.size || len(p) >= 4*fileBlock {
		return s.r.ReadAt(p, off)
	}
	done := 0
	for done < len(p) {
		n, err := s.copy(p[done:], off+int64(done))
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// copy copies the bytes at off from one block.
func (s *source) copy(p []byte, off int64) (int, error) {
	b := s.cache.get(uint64(off/fileBlock), s.read)
	defer s.cache.done(b)
	skip := int(off % fileBlock)
	if skip < len(b.data) {
		return copy(p, b.data[skip:]), nil
	}
	if b.err == nil {
		return 0, io.EOF
	}
	return 0, b.err
}

// read reads a block, and the blocks after it when reading sequentially. A browser takes 2 ms for
// each read of a file; without reading ahead, walking a heap took three times as long.
func (s *source) read(b *block) {
	start := int64(b.number) * fileBlock
	if run := s.cache.ahead(b); run > 1 && s.readRun(b, start, min(int64(run)*fileBlock, s.size-start)) {
		return
	}
	data := s.cache.room(int(min(fileBlock, s.size-start)))
	n, err := s.r.ReadAt(data, start)
	b.data, b.err = data[:n], err
	if n == len(data) {
		b.err = io.EOF // the last block: callers may read past its end
	}
}

// readRun reads a block and those after it, size bytes in total. It returns false if the first
// block can't be read.
func (s *source) readRun(b *block, start, size int64) bool {
	buf, _ := s.runs.Get().(*[mostAhead * fileBlock]byte)
	if buf == nil {
		buf = new([mostAhead * fileBlock]byte)
	}
	defer s.runs.Put(buf)
	n, _ := s.r.ReadAt(buf[:size], start)
	whole := func(at int) []byte {
		end := min(at+fileBlock, int(size))
		if at >= end || end > n {
			return nil
		}
		data := s.cache.room(end - at)
		copy(data, buf[at:end])
		return data
	}
	if b.data = whole(0); b.data == nil {
		return false
	}
	b.err = io.EOF
	for i := 1; ; i++ {
		data := whole(i * fileBlock)
		if data == nil {
			return true
		}
		s.cache.put(&block{number: b.number + uint64(i), data: data, err: io.EOF, run: b.run})
	}
}

// A memory is a target.Memory that reads ahead. It lends nothing.
type memory struct {
	target.Memory

	blocks, pages *cache
	stored        []target.Range
}

// Memory returns a cached memory over m, which is slow. stored is sorted and disjoint; m is not
// read outside of it.
func Memory(m target.Memory, stored []target.Range) target.Memory {
	return &memory{Memory: m, blocks: newCache(memoryBlock), pages: newCache(page), stored: stored}
}

// lacks reports whether the byte at a is outside of all stored ranges.
func (m *memory) lacks(a target.Addr) bool {
	i, found := slices.BinarySearchFunc(m.stored, a, func(r target.Range, a target.Addr) int { return cmp.Compare(r.Start, a) })
	return !found && (i == 0 || a >= m.stored[i-1].End)
}

// View lends nothing.
func (m *memory) View(target.Addr, int) ([]byte, bool) { return nil, false }

// Span lends nothing.
func (m *memory) Span(target.Addr) []byte { return nil }

// NextStored implements target.SparseMemory.
func (m *memory) NextStored(a target.Addr) (target.Addr, bool) {
	if !m.lacks(a) {
		return a, true
	}
	i, _ := slices.BinarySearchFunc(m.stored, a, func(r target.Range, a target.Addr) int { return cmp.Compare(r.Start, a) })
	if i == len(m.stored) {
		return 0, false
	}
	return m.stored[i].Start, true
}

// ReadMemory implements target.Memory. Reads of many blocks pass the cache by.
func (m *memory) ReadMemory(p []byte, a target.Addr) (int, error) {
	if len(p) >= 4*memoryBlock || a+target.Addr(len(p)) < a {
		return m.Memory.ReadMemory(p, a)
	}
	done := 0
	for done < len(p) {
		at := a + target.Addr(done)
		if m.lacks(at) {
			return done, &target.MemoryError{Addr: at, Size: len(p) - done, Err: target.ErrNotInDump}
		}
		part := m.at(at)
		if len(part) == 0 {
			// The byte is after a hole within a page, or not in the dump: m decides.
			n, err := m.Memory.ReadMemory(p[done:], at)
			return done + n, err
		}
		done += copy(p[done:], part)
	}
	return done, nil
}

// at returns cached bytes from a on. It returns nil if neither the block nor the page of a could be
// read up to a.
func (m *memory) at(a target.Addr) []byte {
	b := m.blocks.get(uint64(a/memoryBlock), func(b *block) { m.fill(b, memoryBlock) })
	if skip := int(a % memoryBlock); skip < len(b.data) {
		return b.data[skip:]
	}
	b = m.pages.get(uint64(a/page), func(b *block) { m.fill(b, page) })
	if skip := int(a % page); skip < len(b.data) {
		return b.data[skip:]
	}
	return nil
}

func (m *memory) fill(b *block, size int) {
	data := make([]byte, size)
	n, err := m.Memory.ReadMemory(data, target.Addr(b.number)*target.Addr(size))
	b.data, b.err = data[:n:n], err
}
