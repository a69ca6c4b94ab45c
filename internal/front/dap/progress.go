package dap

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/go-dap"
)

// progressDelay is the time after which a running request is reported. Only tests change it.
var progressDelay = 500 * time.Millisecond

const progressTick = 200 * time.Millisecond

// A progress reports a long request to clients that support it.
type progress struct {
	out   *sender
	id    string
	seq   int
	title string
	timer *time.Timer

	mu      sync.Mutex
	started bool
	ended   bool
	last    time.Time
}

// newProgress returns the progress of a request, or nil if the client does not support it.
func (s *session) newProgress(r *request) *progress {
	if !s.client.SupportsProgressReporting {
		return nil
	}
	p := &progress{out: s.server.out, id: fmt.Sprintf("request-%d", r.Seq), seq: r.Seq, title: "sosgo: " + r.Command}
	late := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.start("")
	}
	if progressDelay == 0 {
		late()
	}
	p.timer = time.AfterFunc(progressDelay, late)
	return p
}

// progressRequest returns the request number in a progress id.
func progressRequest(id string) (seq int, ok bool) {
	text, ok := strings.CutPrefix(id, "request-")
	seq, err := strconv.Atoi(text)
	return seq, ok && err == nil
}

func (p *progress) start(message string) {
	if p.started || p.ended {
		return
	}
	p.started, p.last = true, time.Now()
	p.out.event("progressStart", dap.ProgressStartEventBody{ProgressId: p.id, Title: p.title, RequestId: p.seq, Cancellable: true, Message: message})
}

// report implements process.ProgressFunc.
func (p *progress) report(work string, done, total uint64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.started || p.ended || time.Since(p.last) < progressTick {
		return
	}
	p.last = time.Now()
	body := dap.ProgressUpdateEventBody{ProgressId: p.id, Message: work}
	if total > 0 {
		body.Percentage = int(100 * (float64(done) / float64(total)))
	}
	p.out.event("progressUpdate", body)
}

func (p *progress) done() {
	if p == nil {
		return
	}
	p.timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.started && !p.ended {
		p.out.event("progressEnd", dap.ProgressEndEventBody{ProgressId: p.id})
	}
	p.ended = true
}
