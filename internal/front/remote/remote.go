// Package remote reads a file that stays where it is: on a web server, or in an object store that speaks the protocol of S3. It asks for
// ranges, keeps the pages that were used last, and reads ahead where the file is read from front to back.
//
// The file is the same from the first request to the last: its ETag, or without one the time of its last change, and its size are compared with
// each answer. What a server does wrong for a moment is tried again; what it does wrong for good is an Error, and never other bytes. From then
// on the File can't be read: what its reader has concluded since may be wrong, so that it has to be opened anew.
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
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sosgo/sosgo/target"
)

const (
	pageSize   = 256 << 10 // bytes that are kept together
	firstPages = 2         // pages of a request that continues none
	mostPages  = 16        // pages of one request
	mostAhead  = 64        // pages that are asked for before they are needed
	streams    = 16        // places from which reading may go on
	// DefaultMemory is how many bytes of pages a File keeps.
	DefaultMemory = 256 << 20
)

// Options describe how a file is reached. The zero value is the usual way.
type Options struct {
	// Memory is how many bytes of pages are kept; 0 is DefaultMemory. Disk is a folder in which pages are kept for the next time, of all
	// files at most DiskSize bytes; empty keeps none.
	Memory   int64
	Disk     string
	DiskSize int64
	// CA is a file with certificates in PEM of authorities that are trusted besides those of the system.
	CA string
	// Redirects lets a server send the reader to another one.
	Redirects bool
	// Env returns variables of the environment: SOSGO_TOKEN, a bearer token for https, and those of AWS for s3. Nil has none.
	Env func(string) (string, bool)
	// Context returns the context of requests; nil is the background.
	Context func() context.Context
	// Failed is called with each Error of the file; nil ignores them. It may be called from several goroutines.
	Failed func(error)

	wait func(context.Context, time.Duration) error // between tries; nil waits
	now  func() time.Time
}

// An Error says why a file could not be read. It is an error of the host, and not of the dump.
type Error struct {
	Name string // the address without what may be secret
	Err  error
}

func (e *Error) Error() string { return e.Name + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// ErrChanged is about a file that is not the one any more that was opened.
var ErrChanged = errors.New("the file has changed since it was opened")

// Is reports whether a path is an address that Open takes.
func Is(path string) bool {
	scheme, _, found := strings.Cut(path, "://")
	return found && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "s3"))
}

// Name is an address without a password and without its query, which may be a signature.
func Name(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		scheme, _, _ := strings.Cut(address, "://")
		return scheme + "://…"
	}
	if u.RawQuery != "" {
		u.RawQuery = "…"
	}
	u.Fragment, u.User = "", nil
	s, _ := url.PathUnescape(u.String())
	return s
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
	disk     *disk // nil keeps none

	slots chan struct{} // requests at a time
	lost  atomic.Pointer[error]

	mu      sync.Mutex
	pages   map[int64]*page
	used    list.List // of *page, the latest first
	most    int
	streams [streams]stream
	turn    int
	stats   Stats
}

// A page is read once. Its data and err may be read when done is closed.
type page struct {
	n    int64
	done chan struct{}
	data []byte
	err  error
	at   *list.Element
}

// A stream is a place from which reading may go on.
type stream struct {
	next   int64 // the page that continues it; 0 is no stream
	asked  int64 // the first page that is not asked for
	window int64 // pages ahead
}

// Stats count what was transferred.
type Stats struct{ Requests, Bytes int64 }

var errNoChange = errors.New("the server sends neither an ETag nor a time of the last change: that the file stays the same can't be held")

// Open opens the file at an address of http, https or s3 (s3://BUCKET/KEY).
func Open(address string, o Options) (*File, error) {
	f := &File{o: o, name: Name(address), pages: map[int64]*page{}, slots: make(chan struct{}, atOnce)}
	f.most = int(max(cmp.Or(o.Memory, DefaultMemory)/pageSize, 3*mostAhead)) // what one call of get asks for stays until it returns
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
		if f.disk, err = openDisk(o.Disk, f.name+"\x00"+f.etag+"\x00"+f.modified, o.DiskSize); err != nil {
			return nil, err
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

// Size returns the size in bytes.
func (f *File) Size() int64 { return f.size }

// Bytes lends nothing.
func (f *File) Bytes(int64, int) []byte { return nil }

// Stats returns what was transferred so far.
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
				err := &Error{f.name, p.err}
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

// get returns pages from first to last, and asks for those that are not there and for what will probably be wanted next.
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

// ahead returns the page up to which the pages behind last should be asked for, at most last if none.
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

// ask starts requests for the pages from first to end that are not there.
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

// add makes an empty page the latest.
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

// fill reads successive pages, those that are on disk from there. Pages that can't be read are not kept.
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
