// Package symbolserver downloads the files of a dump's modules from symbol servers, for
// sosgo.Options.SymbolServers. It is separate from package sosgo so that programs without symbol
// servers link no network code. Which files are needed, and whether they are right, is decided by
// package symstore. Start reading at Server.
package symbolserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/machine"
	"github.com/sosgo/sosgo/internal/base/outfile"
	"github.com/sosgo/sosgo/internal/base/shownurl"
	"github.com/sosgo/sosgo/internal/base/webclient"
	"github.com/sosgo/sosgo/internal/files/symstore"
	"github.com/sosgo/sosgo/target"
)

// The time limits of a download; limits.Download and limits.Downloads are the limits in bytes. A
// runtime's library has under 10 MB; the largest symbol files have a few hundred.
const (
	headerTimeout = 20 * time.Second
	stallTimeout  = 20 * time.Second // ends a download with fewer than stallBytes in this time
	stallBytes    = 64 << 10
	// downloadTimeout ends any download.
	downloadTimeout = 30 * time.Minute
	// A request without a file is slow if it takes a quarter of stallTimeout. After mostWasted times stallTimeout of slow
	// ones the server is asked for nothing else: each file of a dump would take as long.
	slowPart   = 4
	mostWasted = 3
)

// ErrNotOnServer means that a server does not have a file. It is fs.ErrNotExist.
var ErrNotOnServer error = notOnServer{}

type notOnServer struct{}

func (notOnServer) Error() string        { return "the symbol server does not have the file" }
func (notOnServer) Is(target error) bool { return target == fs.ErrNotExist }

// A Budget limits the downloads of one dump. It is safe for concurrent use.
type Budget struct {
	File  int64 // unpacked bytes of one file; 0 means limits.Download
	Total int64 // bytes of all files; 0 means limits.Downloads

	spent atomic.Int64
}

func (b *Budget) file() int64 {
	if b == nil || b.File <= 0 {
		return limits.Download
	}
	return b.File
}

// spend takes n bytes. It returns an error if the budget is exhausted.
func (b *Budget) spend(n int) error {
	if b == nil {
		return nil
	}
	total := b.Total
	if total <= 0 {
		total = limits.Downloads
	}
	if b.spent.Add(int64(n)) > total {
		return target.Limitf("the downloads for this dump have more than %d bytes in all", total)
	}
	return nil
}

// A Server downloads files from a symbol server into a cache, a folder in the form of a symbol
// store. A file enters the cache only when its content is proved to be the requested one. A Server
// is safe for concurrent use.
type Server struct {
	URL    string  // "https://msdl.microsoft.com/download/symbols"
	Cache  string  // the folder; empty means the cache of the .NET tools
	Budget *Budget // limits the downloads; nil limits only each file
	// Redirects are the hosts, besides its own, that the server may redirect to, such as
	// "cdn.example.com", or "*.example.com" for all subdomains. They are contacted by https only.
	// Microsoft's server may also redirect to its storage.
	Redirects []string
	// Progress, if not nil, receives the bytes of a file so far, and the size that the server
	// sends, or -1.
	Progress func(name string, done, total int64)

	stall  time.Duration // replaces stallTimeout and headerTimeout if not 0, for tests
	once   sync.Once
	client *http.Client
	mu     sync.Mutex
	failed map[string]error // by key: a failed file is not requested again
	wasted time.Duration    // the time of slow requests without a file
	down   error            // why the server is unreachable, or hangs
}

// String returns the server's address without what nobody else may know.
func (s *Server) String() string { return shownurl.Of(s.URL) }

// Problem returns why the server can't be used or reached, or the reason of the first failed
// download; nil if nothing failed.
func (s *Server) Problem() error {
	if err := s.checkAddress(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down != nil {
		return s.down
	}
	for _, key := range slices.Sorted(maps.Keys(s.failed)) {
		if err := s.failed[key]; !errors.Is(err, ErrNotOnServer) {
			return err
		}
	}
	return nil
}

// checkAddress validates the server's address.
func (s *Server) checkAddress() error {
	base, err := url.Parse(s.URL)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" {
		return target.Argumentf("%q is not an http or https address", s.String())
	}
	return nil
}

// Get returns the path of the file with the key in the cache. It downloads a missing file, which
// enters the cache once check has accepted it. It rejects a key that leaves the cache. A failed
// download is not repeated, unless it failed because the context ended.
func (s *Server) Get(ctx context.Context, key string, check func(path string) error) (string, error) {
	if !filepath.IsLocal(filepath.FromSlash(key)) {
		return "", target.Argumentf("%q is no key of a symbol store", key)
	}
	cache := symstore.Cache{Dir: s.Cache}
	if s.Cache == "" {
		var err error
		if cache, err = symstore.DownloadCache(); err != nil {
			return "", err
		}
	}
	p := cache.Path(key)
	// A wrong file in the cache is replaced.
	if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() && check(p) == nil {
		return p, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := cmp.Or(s.down, s.failed[key]); err != nil {
		return "", err
	}
	began := time.Now()
	if err := s.download(ctx, key, p, check); err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		err = s.orLate(err, time.Since(began))
		if s.failed == nil {
			s.failed = map[string]error{}
		}
		s.failed[key] = err
		if errors.As(err, new(hang)) {
			s.down = err // every other file would take as long
		}
		return "", err
	}
	return p, nil
}

// A hang is an error of a server that cannot be reached or took too long.
type hang struct{ error }

func (h hang) Unwrap() error { return h.error }

// orLate returns the error of a request that took so long, or a hang if too much time went by without a file.
func (s *Server) orLate(err error, took time.Duration) error {
	stall := cmp.Or(s.stall, stallTimeout)
	if took >= stall/slowPart {
		s.wasted += took
	}
	if s.wasted <= mostWasted*stall {
		return err
	}
	// The last error is no cause: the server may have other files.
	return hang{target.Limitf("its answers without a file took %v in all; the last: %v", s.wasted.Round(time.Millisecond), err)}
}

func (s *Server) httpClient() *http.Client {
	s.once.Do(func() {
		s.client = webclient.New(webclient.Options{Header: cmp.Or(s.stall, headerTimeout), Others: s.checkRedirect})
	})
	return s.client
}

// microsoftServer stores its files on microsoftStorage, under changing names.
const microsoftServer, microsoftStorage = "msdl.microsoft.com", "*.blob.core.windows.net"

// checkRedirect returns an error for a redirect to another server that the user did not name.
func (s *Server) checkRedirect(from, to *url.URL) error {
	if s.mayRedirect(from.Hostname(), to) {
		return nil
	}
	return fmt.Errorf("redirection to another server, %s://%s, which none of the allowed hosts is (--symbol-redirect)", to.Scheme, to.Host)
}

// mayRedirect reports whether the host from may redirect to another host.
func (s *Server) mayRedirect(from string, to *url.URL) bool {
	if to.Scheme != "https" {
		return false
	}
	hosts := s.Redirects
	if strings.EqualFold(from, microsoftServer) {
		hosts = append(slices.Clone(hosts), microsoftStorage)
	}
	host := strings.ToLower(to.Hostname())
	return slices.ContainsFunc(hosts, func(allowed string) bool {
		allowed = strings.ToLower(allowed)
		parent, all := strings.CutPrefix(allowed, "*")
		return host == allowed || all && len(host) > len(parent) && strings.HasPrefix(parent, ".") && strings.HasSuffix(host, parent)
	})
}

func (s *Server) download(ctx context.Context, key, dst string, check func(path string) error) error {
	if err := s.checkAddress(); err != nil {
		return err
	}
	ctx, stop := context.WithTimeoutCause(ctx, downloadTimeout, hang{fmt.Errorf("it took longer than %v", downloadTimeout)})
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address(key), nil)
	if err != nil {
		return webclient.WithoutAddress(err)
	}
	resp, err := s.httpClient().Do(req)
	if err != nil {
		err = webclient.WithoutAddress(err)
		opErr, late := (*net.OpError)(nil), net.Error(nil)
		if errors.As(err, &opErr) && opErr.Op == "dial" || errors.As(err, &late) && late.Timeout() {
			return hang{err}
		}
		return err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s: %w", key, ErrNotOnServer)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%.100s for %s", resp.Status, key)
	case resp.ContentLength > s.Budget.file():
		return target.Limitf("%s has %d bytes, more than %d", key, resp.ContentLength, s.Budget.file())
	}
	return s.store(ctx, resp, key, dst, cancel, check)
}

// store writes the response to a temporary file and moves it to dst once check has accepted it, so
// that readers never see a partial or wrong file.
func (s *Server) store(ctx context.Context, resp *http.Response, key, dst string, cancel context.CancelCauseFunc,
	check func(path string) error) error {
	if err := os.MkdirAll(filepath.Dir(dst), 0o755); err != nil {
		return err
	}
	f, err := outfile.Create(dst, outfile.Options{Checked: true, Perm: outfile.Private})
	if err != nil {
		return notKept(err)
	}
	if err = s.receive(ctx, f, resp, key, cancel); err == nil {
		if err = check(f.Name()); err != nil {
			err = fmt.Errorf("what it sent for %s is refused: %w", key, err)
		}
	}
	if err != nil {
		return errors.Join(err, f.Discard())
	}
	return notKept(f.Commit())
}

// notKept returns the error of a download that can't be written, without its outfile.Error: what the user asked to be written may well be.
func notKept(err error) error {
	var failed *outfile.Error
	if errors.As(err, &failed) {
		return &machine.Error{Err: failed.Err}
	}
	return err
}

// receive writes the body of the response to w while it arrives fast enough.
func (s *Server) receive(ctx context.Context, w io.Writer, resp *http.Response, key string, cancel context.CancelCauseFunc) error {
	stall := cmp.Or(s.stall, stallTimeout)
	watchdog := time.AfterFunc(stall, func() { cancel(hang{fmt.Errorf("fewer than %d bytes came in %v", stallBytes, stall)}) })
	defer watchdog.Stop()
	name, n, counted, buf := path.Base(key), int64(0), int64(0), make([]byte, 64<<10)
	for {
		got, rerr := resp.Body.Read(buf)
		if got > 0 {
			if n += int64(got); n-counted >= stallBytes {
				watchdog.Reset(stall)
				counted = n
			}
			if n > s.Budget.file() {
				return target.Limitf("%s has more than %d bytes", key, s.Budget.file())
			}
			if err := s.Budget.spend(got); err != nil {
				return err
			}
			if _, err := w.Write(buf[:got]); err != nil {
				return notKept(err)
			}
			if s.Progress != nil {
				s.Progress(name, n, resp.ContentLength)
			}
		}
		if errors.Is(rerr, io.EOF) {
			break
		}
		if rerr != nil {
			if cause := context.Cause(ctx); cause != nil {
				rerr = cause
			}
			return fmt.Errorf("%s stopped after %d bytes: %w", key, n, rerr)
		}
	}
	if resp.ContentLength >= 0 && n != resp.ContentLength {
		return fmt.Errorf("%s has %d bytes, not %d as announced", key, n, resp.ContentLength)
	}
	return nil
}

// address returns the address of a key: the key is a part of the path, before the query, which may be a signature of the server's address.
func (s *Server) address(key string) string {
	address, _, _ := strings.Cut(s.URL, "#")
	address, query, found := strings.Cut(address, "?")
	address = strings.TrimRight(address, "/") + "/" + escape(key)
	if found {
		address += "?" + query
	}
	return address
}

// escape converts a key to a URL path.
func escape(key string) string {
	parts := strings.Split(key, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}
