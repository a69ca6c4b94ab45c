package fleet

import (
	"net/url"
	"sync"
	"time"
)

// MostLost is how long the requests to a server may fail in a row before Servers gives it up. A server that hangs costs
// two minutes for each dump. Only tests change it.
var MostLost = 3 * time.Minute

// Servers counts the time that servers of dumps have taken for nothing. The zero value is ready. It is safe for concurrent
// use.
type Servers struct {
	mu   sync.Mutex
	lost map[string]time.Duration // since the last request that succeeded
}

// Lost reports whether the server of an address should not be asked again. It returns false for the name of a file.
func (s *Servers) Lost(address string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost[serverOf(address)] >= MostLost
}

// Asked counts the time of a request for an address. It ignores names of files.
func (s *Servers) Asked(address string, took time.Duration, failed bool) {
	name := serverOf(address)
	if name == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost == nil {
		s.lost = map[string]time.Duration{}
	}
	if s.lost[name] += took; !failed {
		s.lost[name] = 0
	}
}

// serverOf returns the scheme and the host, or bucket, of an address, and "" for the name of a file.
func serverOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
