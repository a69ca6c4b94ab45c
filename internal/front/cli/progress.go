package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	progressDelay = time.Second
	progressTick  = 100 * time.Millisecond
)

// A Progress shows how far a long command is, on stderr, when that is a terminal and the command has run for a second. Its methods may be
// called from any goroutine, and cost an atomic store.
type Progress struct {
	done, total atomic.Uint64
	stop        chan struct{}
	once        sync.Once
	ended       sync.WaitGroup
}

// Progress starts a progress display. The caller ends it with Done; at the latest it ends with the command.
func (c *Context) Progress(label string) *Progress {
	p := &Progress{stop: make(chan struct{})}
	c.progress = append(c.progress, p)
	if c.app != nil && c.app.watch != nil { // the prompt has none while it opens its dump
		c.app.watch(label, p)
	}
	if c.stderr.terminal {
		p.ended.Add(1)
		go p.show(c.stderr, label)
	}
	return p
}

// Set says that done of total are dealt with; a total of 0 is unknown.
func (p *Progress) Set(done, total uint64) {
	p.total.Store(total)
	p.done.Store(done)
}

// At returns what is dealt with of how much, a total of 0 is unknown, and whether the work still runs.
func (p *Progress) At() (done, total uint64, runs bool) {
	select {
	case <-p.stop:
	default:
		runs = true
	}
	return p.done.Load(), p.total.Load(), runs
}

// endProgress removes what displays are left.
func (c *Context) endProgress() {
	for _, p := range c.progress {
		p.Done()
	}
}

// Done removes the display.
func (p *Progress) Done() {
	p.once.Do(func() { close(p.stop) })
	p.ended.Wait()
}

func (p *Progress) show(w io.Writer, label string) {
	defer p.ended.Done()
	select {
	case <-p.stop:
		return
	case <-time.After(progressDelay):
	}
	tick := time.NewTicker(progressTick)
	defer tick.Stop()
	start := time.Now()
	for {
		// A progress display that can't be drawn is no reason to stop.
		_, _ = io.WriteString(w, clearLine+p.line(label, time.Since(start)))
		select {
		case <-p.stop:
			_, _ = io.WriteString(w, clearLine)
			return
		case <-tick.C:
		}
	}
}

// clearLine goes to the start of the line and empties it.
const clearLine = "\r\x1b[K"

// line returns the display: a bar where it is known how much there is, else a sign of life.
func (p *Progress) line(label string, since time.Duration) string {
	const width = 30
	done, total := p.done.Load(), p.total.Load()
	if total == 0 {
		return fmt.Sprintf("%s %c", label, `|/-\`[since/progressTick%4])
	}
	part := min(float64(done)/float64(total), 1)
	bar := strings.Repeat("=", int(part*width))
	return fmt.Sprintf("%s [%-*s] %3.0f%%", label, width, bar, 100*part)
}
