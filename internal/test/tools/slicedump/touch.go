//go:build linux

package main

import (
	"errors"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// touchedPages detects which pages of lent memory are touched. Large views are lent for searching
// or indexing, and few of their pages may be used.
//
// It maps a file that is not in the page cache and disables read-ahead: pages that are in memory at
// the end were touched.
type touchedPages struct {
	mu   sync.Mutex
	lent []*lentView
}

type lentView struct {
	at   uint64
	b    []byte
	m    []byte // the whole mapping
	file *os.File
}

// lend returns a copy of b, which begins at the address at, and watches it. Pages are aligned to
// addresses.
func (t *touchedPages) lend(at uint64, b []byte) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, v := range t.lent {
		if v.at == at && len(v.b) >= len(b) {
			return v.b[:len(b):len(b)], nil
		}
	}
	f, err := os.CreateTemp("", "slicedump")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name())
	skip := at % pageSize
	_, err = f.WriteAt(b, int64(skip))
	if err = errors.Join(err, f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)); err != nil {
		return nil, err
	}
	m, err := unix.Mmap(int(f.Fd()), 0, int(skip)+len(b), unix.PROT_READ, unix.MAP_SHARED)
	if err == nil {
		err = unix.Madvise(m, unix.MADV_RANDOM)
	}
	if err != nil {
		return nil, err
	}
	v := &lentView{at, m[skip:], m, f}
	t.lent = append(t.lent, v)
	return v.b[:len(b):len(b)], nil
}

// touched calls note for each touched page.
func (t *touchedPages) touched(note func(at uint64, n int)) error {
	for _, v := range t.lent {
		first := v.at / pageSize * pageSize
		resident := make([]byte, (len(v.m)+pageSize-1)/pageSize)
		if _, _, e := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&v.m[0])), uintptr(len(v.m)),
			uintptr(unsafe.Pointer(&resident[0]))); e != 0 {
			return e
		}
		for i, r := range resident {
			if r&1 == 0 {
				continue
			}
			from := max(first+uint64(i)*pageSize, v.at)
			to := min(first+uint64(i+1)*pageSize, v.at+uint64(len(v.b)))
			note(from, int(to-from))
		}
	}
	return nil
}
