package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressTick is the time before the first progress report of a call and between reports. Only tests change it.
var progressTick = time.Second

// A progress is the progress of a call.
type progress struct {
	mu   sync.Mutex
	work string
	at   func() (done, total uint64, runs bool) // nil if nothing is known
}

func (p *progress) set(work string, at func() (done, total uint64, runs bool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.work, p.at = work, at
}

func (p *progress) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at == nil {
		return cmp.Or(p.work, "runs")
	}
	done, total, runs := p.at()
	switch {
	case !runs || p.work == "":
		return "runs" // what follows has no name
	case total == 0:
		return p.work
	}
	return fmt.Sprintf("%s: %.0f %%", p.work, min(100*float64(done)/float64(total), 100))
}

// follow reports p every second, until stop is called, to a client that gave a progress token. Shorter calls have no
// reports. Reported values must increase, but a call consists of several pieces of work. So the value is the call's
// running time in seconds, and the message contains the progress of the current piece.
func (p *progress) follow(ctx context.Context, r *mcp.CallToolRequest) (stop func()) {
	token := r.Params.GetProgressToken()
	if !isToken(token) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		start, tick := time.Now(), time.NewTicker(progressTick)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: time.Since(start).Seconds(),
				Message: clean(p.String())}) // a client that can't be reached gets no answer either
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// isToken reports whether a value is a string or an integer.
func isToken(v any) bool {
	switch v := v.(type) {
	case string:
		return true
	case float64:
		return v == math.Trunc(v)
	}
	return false
}
