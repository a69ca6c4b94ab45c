// Package remote reads a file on a web server or in an S3-compatible object store, without downloading it as a whole.
// It requests ranges, caches the last used pages, and reads ahead on sequential reads. It knows nothing about dumps.
// Start with Open.
//
// Each response must match the file as opened: its size, and its ETag or the time of its last change. Temporary
// errors are retried. A lasting one is an Error, and the File cannot be read any more. The caller must reopen it and
// discard results computed since then.
package remote

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sosgo/sosgo/internal/base/machine"
	"github.com/sosgo/sosgo/internal/base/shownurl"
	"github.com/sosgo/sosgo/target"
)

const (
	pageSize   = 256 << 10 // bytes of a page
	firstPages = 2         // pages of a non-sequential request
	mostPages  = 16        // pages of one request
	mostAhead  = 64        // pages requested in advance
	streams    = 16        // concurrent sequential reads
	// DefaultMemory is the default size of a File's page cache, in bytes.
	DefaultMemory = 256 << 20
)

// Options configure access to a file. The zero value is valid.
type Options struct {
	// Memory is the size of the page cache in bytes; 0 means DefaultMemory. Disk is a folder that caches pages of all
	// files between runs, with at most DiskSize bytes; if empty, pages are not cached on disk.
	Memory   int64
	Disk     string
	DiskSize int64
	// CA is a PEM file with additional certificate authorities.
	CA string
	// Redirects allows redirects to other servers.
	Redirects bool
	// Env returns environment variables: SOSGO_TOKEN, a bearer token for https, and AWS's variables for s3. It may be
	// nil.
	Env func(string) (string, bool)
	// Context returns the context of requests. If nil, the background context is used.
	Context func() context.Context
	// Failed, if not nil, is called with each Error of the file. It must be safe for concurrent use.
	Failed func(error)

	wait func(context.Context, time.Duration) error // between retries; nil waits
	// patience is how long a part of the file may take with all tries; 0 means mostTime
	patience time.Duration
	now      func() time.Time
}

// An Error reports that a file cannot be read. It is an error of the host, not of the dump.
type Error struct {
	Name string // the address without secrets
	Err  error
}

func (e *Error) Error() string { return e.Name + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// ErrChanged reports that the file has changed since it was opened.
var ErrChanged = errors.New("the file has changed since it was opened")

// Is reports whether Open accepts path as an address.
func Is(path string) bool { return shownurl.Is(path) }

// Name returns an address without its password and query, which may contain a signature.
func Name(address string) string { return shownurl.Of(address) }

// Shown returns the path of a dump as it may be shown to others: an address as by Name.
func Shown(path string) string { return shownurl.Path(path) }

// Base returns the last element of the path or the address of a dump, without the address's query.
func Base(path string) string {
	if Is(path) {
		path, _, _ = strings.Cut(Name(path), "?")
	}
	return filepath.Base(path)
}

// A File is an open file. It is safe for concurrent use, and implements target.Source.
type File struct {
	o        Options
	name     string
	sign     func(*http.Request) error
	request  func() (*http.Request, error)
	client   *http.Client
	size     int64
	etag     string
	modified string
	disk     *disk // nil without a disk cache

	slots chan struct{} // concurrent requests
	lost  atomic.Pointer[error]

	mu      sync.Mutex
	pages   map[int64]*page
	used    list.List // of *page, most recently used first
	most    int
	streams [streams]stream
	turn    int
	stats   Stats
}

// A page is read once. Its data and err may be read after done is closed.
type page struct {
	n    int64
	done chan struct{}
	data []byte
	err  error
	at   *list.Element
}

// A stream is a position of sequential reading.
type stream struct {
	next   int64 // the next page of the stream; 0 if unused
	asked  int64 // the first page not requested yet
	window int64 // pages to read ahead
}

// Stats counts requests and transferred bytes.
type Stats struct{ Requests, Bytes int64 }

var errNoChange = errors.New("the server sends neither an ETag nor a time of the last change: that the file stays the same can't be held")

// Open opens the file at an address of http, https or s3 (s3://BUCKET/KEY).
func Open(address string, o Options) (*File, error) {
	f := &File{o: o, name: Name(address), pages: map[int64]*page{}, slots: make(chan struct{}, atOnce)}
	f.most = int(max(cmp.Or(o.Memory, DefaultMemory)/pageSize, 3*mostAhead)) // pages requested by one call of get must stay until it returns
	if f.o.wait == nil {
		f.o.wait = wait
	}
	if f.o.now == nil {
		f.o.now = time.Now
	}
	if err := f.reach(address); err != nil {
		return nil, &Error{f.name, err}
	}
	data, err := f.fetch(0, firstPages*pageSize)
	if err != nil {
		return nil, &Error{f.name, err}
	}
	if f.etag == "" && f.modified == "" {
		return nil, &Error{f.name, errNoChange}
	}
	if o.Disk != "" {
		if f.disk, err = openDisk(o.Disk, f.version(), o.DiskSize); err != nil {
			return nil, &machine.Error{Err: err, Next: "--remote-pages names a folder that belongs to you, and in which only you may write"}
		}
	}
	for n := int64(0); n*pageSize < int64(len(data)); n++ {
		p := f.add(n)
		p.data = data[n*pageSize : min((n+1)*pageSize, int64(len(data)))]
		close(p.done)
	}
	f.streams[0] = stream{next: 1, asked: firstPages, window: firstPages}
	return f, nil
}

// version identifies the file and its content for the cache on disk: the address that is requested, without what signs
// it, which differs from run to run. An ETag and a time distinguish the contents of one address only.
func (f *File) version() string {
	u := &url.URL{}
	if r, err := f.request(); err == nil {
		u = r.URL
	}
	query := u.Query()
	shared, signed := query.Has("sig"), false // a shared access signature of Azure, and one of another store
	for name := range query {
		signed = signed || signatures[strings.ToLower(name)]
	}
	for name := range query {
		lower := strings.ToLower(name)
		of := signing[lower] || strings.HasPrefix(lower, "x-amz-") || strings.HasPrefix(lower, "x-goog-")
		if signed && of || shared && sharing[lower] {
			query.Del(name)
		}
	}
	return strings.Join([]string{u.Scheme, u.Host, u.EscapedPath(), query.Encode(), f.etag, f.modified, strconv.FormatInt(f.size, 10)}, "\x00")
}

// signatures are the parameters with the signature of an address; signing are those that stores and their caches add
// to it, besides X-Amz-… and X-Goog-…; sharing are Azure's. In an address without a signature, these names may have
// another meaning.
var (
	signatures = map[string]bool{"signature": true, "x-amz-signature": true, "x-goog-signature": true}

	signing = map[string]bool{"awsaccesskeyid": true, "googleaccessid": true, "key-pair-id": true, "signature": true, "policy": true, "expires": true}
	sharing = map[string]bool{"sv": true, "ss": true, "srt": true, "sr": true, "sp": true, "st": true, "se": true, "spr": true, "sip": true, "sig": true,
		"skoid": true, "sktid": true, "skt": true, "ske": true, "sks": true, "skv": true}
)

// Size returns the size in bytes.
func (f *File) Size() int64 { return f.size }

// Bytes returns nil: a remote file has no mapped memory.
func (f *File) Bytes(int64, int) []byte { return nil }

// Lost returns the Error if the file can no longer be read. Otherwise it returns nil.
func (f *File) Lost() error {
	if err := f.lost.Load(); err != nil {
		return &Error{f.name, &machine.Error{Err: *err}}
	}
	return nil
}

// Stats returns the transfers so far.
func (f *File) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stats
}

var _ target.Source = (*File)(nil)

// ReadAt implements io.ReaderAt. Its errors are of type Error, besides io.EOF.
func (f *File) ReadAt(b []byte, off int64) (int, error) {
	if off < 0 {
		return 0, &Error{f.name, errors.New("negative offset")}
	}
	done := 0
	for done < len(b) {
		at := off + int64(done)
		if at >= f.size {
			return done, io.EOF
		}
		end := min(off+int64(len(b)), f.size)
		pages := f.get(at/pageSize, min((end-1)/pageSize, at/pageSize+mostAhead-1))
		for _, p := range pages {
			<-p.done
			if p.err != nil {
				err := &Error{f.name, &machine.Error{Err: p.err}} // also within an error about the dump
				if f.o.Failed != nil {
					f.o.Failed(err)
				}
				return done, err
			}
			done += copy(b[done:], p.data[off+int64(done)-p.n*pageSize:])
		}
	}
	return done, nil
}

// get returns the pages first to last. It requests missing pages and reads ahead.
func (f *File) get(first, last int64) []*page {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]*page, 0, last-first+1)
	missing := false
	for n := first; n <= last; n++ {
		p := f.pages[n]
		if p == nil {
			missing = true
			break
		}
		f.used.MoveToFront(p.at)
		out = append(out, p)
	}
	ahead := f.ahead(first, last, missing)
	if !missing && ahead <= last {
		return out
	}
	pages := (f.size + pageSize - 1) / pageSize
	f.ask(first, min(max(last+1, ahead), pages))
	for n := first + int64(len(out)); n <= last; n++ {
		out = append(out, f.pages[n])
	}
	return out
}

// ahead returns the last page to read ahead after last, or last.
func (f *File) ahead(first, last int64, missing bool) int64 {
	for i := range f.streams {
		s := &f.streams[i]
		if s.next == 0 || first > s.next || last < s.next {
			continue
		}
		s.next = last + 1
		if s.asked-s.next > s.window/2 {
			return last
		}
		s.window = min(2*s.window, mostAhead, int64(f.most/4))
		s.asked = s.next + s.window
		return s.asked
	}
	if !missing {
		return last
	}
	f.streams[f.turn] = stream{next: last + 1, asked: max(first+firstPages, last+1), window: firstPages}
	f.turn = (f.turn + 1) % streams
	return max(first+firstPages, last+1)
}

// ask requests the missing pages from first to end.
func (f *File) ask(first, end int64) {
	for n := first; n < end; n++ {
		if f.pages[n] != nil {
			continue
		}
		run := []*page{f.add(n)}
		for n+1 < end && len(run) < mostPages && f.pages[n+1] == nil {
			n++
			run = append(run, f.add(n))
		}
		go f.fill(run)
	}
}

// add creates a page as the most recently used one.
func (f *File) add(n int64) *page {
	p := &page{n: n, done: make(chan struct{})}
	p.at = f.used.PushFront(p)
	f.pages[n] = p
	for f.used.Len() > f.most {
		f.drop(f.used.Back().Value.(*page))
	}
	return p
}

func (f *File) drop(p *page) {
	if f.pages[p.n] == p {
		delete(f.pages, p.n)
		f.used.Remove(p.at)
	}
}

// fill reads successive pages from disk or from the server. It drops pages that cannot be read.
func (f *File) fill(run []*page) {
	for len(run) > 0 && f.disk != nil {
		data := f.disk.get(run[0].n, f.sizeOf(run[0].n))
		if data == nil {
			break
		}
		run[0].data = data
		close(run[0].done)
		run = run[1:]
	}
	if len(run) == 0 {
		return
	}
	first := run[0].n * pageSize
	end := min(run[len(run)-1].n*pageSize+pageSize, f.size)
	data, err := f.fetch(first, end-first)
	for _, p := range run {
		if p.err = err; err == nil {
			p.data = data[p.n*pageSize-first:][:f.sizeOf(p.n):f.sizeOf(p.n)]
			if f.disk != nil {
				f.disk.put(p.n, p.data)
			}
		}
	}
	if err != nil {
		f.mu.Lock()
		for _, p := range run {
			f.drop(p)
		}
		f.mu.Unlock()
	}
	for _, p := range run {
		close(p.done)
	}
}

// sizeOf returns the size of a page. The last one may be shorter.
func (f *File) sizeOf(n int64) int64 { return min(pageSize, f.size-n*pageSize) }

func (f *File) context() context.Context {
	if f.o.Context == nil {
		return context.Background()
	}
	return f.o.Context()
}

func (f *File) env(name string) string {
	if f.o.Env == nil {
		return ""
	}
	v, _ := f.o.Env(name)
	return v
}

// wait waits between tries.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func statusError(status int, code string) error {
	if code != "" {
		return fmt.Errorf("the server answers %d %s (%s)", status, http.StatusText(status), code)
	}
	return fmt.Errorf("the server answers %d %s", status, http.StatusText(status))
}
