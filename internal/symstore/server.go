package symstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// The limits of a download. A runtime's library has under 10 MB; the largest
// symbol files have some hundred.
const (
	MaxFileSize    = 1 << 30
	connectTimeout = 10 * time.Second
	headerTimeout  = 20 * time.Second
	// stallTimeout ends a download that delivers nothing for so long.
	stallTimeout = 20 * time.Second
	maxRedirects = 5
)

// ErrNotOnServer says that a server does not have a file.
var ErrNotOnServer = errors.New("the symbol server does not have the file")

// A Server downloads files from a symbol server into a cache. It is asked only
// when the user named it. It is safe for concurrent use.
type Server struct {
	URL   string // "https://msdl.microsoft.com/download/symbols"
	Cache Cache
	// Progress, if not nil, is told the bytes of a file that have arrived, and
	// the size that the server names, -1 if it names none.
	Progress func(name string, done, total int64)
	// Context, if not nil, is asked at each download for what ends it.
	Context func() context.Context

	stall  time.Duration // replaces stallTimeout where it is not 0: tests wait less
	once   sync.Once
	client *http.Client
	mu     sync.Mutex
	failed map[string]error // by key: a file is asked for once
}

// Candidates implements modfiles.Source: the file in the cache, after a
// download if need be.
func (s *Server) Candidates(m *target.Module, id *image.Identity) iter.Seq[string] {
	return func(yield func(string) bool) {
		key := FileKey(m.Path, id)
		if key == "" {
			return
		}
		if p, err := s.Get(s.context(), key); err == nil {
			yield(p)
		}
	}
}

// PortablePDB returns the path of a portable PDB in the cache, after a download
// if need be, and whether there is one.
func (s *Server) PortablePDB(pdbPath string, guid [16]byte) (string, bool) {
	key := PortablePDBKey(pdbPath, guid)
	if key == "" {
		return "", false
	}
	p, err := s.Get(s.context(), key)
	return p, err == nil
}

func (s *Server) context() context.Context {
	if s.Context == nil {
		return context.Background()
	}
	return s.Context()
}

// Errors returns what went wrong, by key. A file that the server does not have
// is ErrNotOnServer.
func (s *Server) Errors() map[string]error {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]error, len(s.failed))
	for k, v := range s.failed {
		out[k] = v
	}
	return out
}

// Get returns the path of the file with that key in the cache, and downloads it
// if it is not there. What failed once is not tried again, unless it failed
// because the context ended.
func (s *Server) Get(ctx context.Context, key string) (string, error) {
	p := s.Cache.path(key)
	if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() {
		return p, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.failed[key]; err != nil {
		return "", err
	}
	if err := s.download(ctx, key, p); err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		if s.failed == nil {
			s.failed = map[string]error{}
		}
		s.failed[key] = err
		return "", err
	}
	return p, nil
}

func (s *Server) httpClient() *http.Client {
	s.once.Do(func() {
		s.client = &http.Client{
			Transport: &http.Transport{
				Proxy:                 http.ProxyFromEnvironment,
				DialContext:           (&net.Dialer{Timeout: connectTimeout}).DialContext,
				TLSHandshakeTimeout:   connectTimeout,
				ResponseHeaderTimeout: headerTimeout,
			},
			CheckRedirect: func(r *http.Request, via []*http.Request) error {
				if len(via) >= maxRedirects {
					return fmt.Errorf("more than %d redirections", maxRedirects)
				}
				if via[0].URL.Scheme == "https" && r.URL.Scheme != "https" {
					return errors.New("redirection from https to " + r.URL.Scheme)
				}
				return nil
			},
		}
	})
	return s.client
}

func (s *Server) download(ctx context.Context, key, dst string) error {
	base, err := url.Parse(s.URL)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" {
		return fmt.Errorf("symbol server %q: not an http or https address", s.URL)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(s.URL, "/")+"/"+escape(key), nil)
	if err != nil {
		return err
	}
	resp, err := s.httpClient().Do(req)
	if err != nil {
		return fmt.Errorf("symbol server: %w", err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s: %w", key, ErrNotOnServer)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("symbol server: %s for %s", resp.Status, key)
	case resp.ContentLength > MaxFileSize:
		return fmt.Errorf("symbol server: %s has %d bytes, more than %d", key, resp.ContentLength, int64(MaxFileSize))
	}
	return s.store(resp, key, dst, cancel)
}

// store writes the response beside dst and renames it, so that no reader ever
// sees a part of a file.
func (s *Server) store(resp *http.Response, key, dst string, cancel func()) (err error) {
	dir := filepath.Dir(dst)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".download-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tmp.Close(), os.Remove(tmp.Name()))
		}
	}()
	stall := s.stall
	if stall == 0 {
		stall = stallTimeout
	}
	watchdog := time.AfterFunc(stall, cancel)
	defer watchdog.Stop()
	name, n, buf := fileName(key), int64(0), make([]byte, 64<<10)
	for {
		got, rerr := resp.Body.Read(buf)
		if got > 0 {
			watchdog.Reset(stall)
			if n += int64(got); n > MaxFileSize {
				return fmt.Errorf("symbol server: %s has more than %d bytes", key, int64(MaxFileSize))
			}
			if _, err := tmp.Write(buf[:got]); err != nil {
				return err
			}
			if s.Progress != nil {
				s.Progress(name, n, resp.ContentLength)
			}
		}
		if errors.Is(rerr, io.EOF) {
			break
		}
		if rerr != nil {
			return fmt.Errorf("symbol server: %s stopped after %d bytes: %w", key, n, rerr)
		}
	}
	if resp.ContentLength >= 0 && n != resp.ContentLength {
		return fmt.Errorf("symbol server: %s has %d bytes, not %d as announced", key, n, resp.ContentLength)
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), dst)
}
