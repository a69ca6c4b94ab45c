package cli

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
)

const (
	progressDelay = time.Second
	progressTick  = 100 * time.Millisecond
)

// A Progress shows how far a long command is, on stderr, when that is a
// terminal and the command has run for a second. Its methods may be called
// from any goroutine, and cost an atomic store.
type Progress struct {
	done, total atomic.Uint64
	stop        chan struct{}
	once        sync.Once
	ended       sync.WaitGroup
}

// Progress starts a progress display. The caller ends it with Done; at the
// latest it ends with the command.
func (c *Context) Progress(label string) *Progress {
	p := &Progress{stop: make(chan struct{})}
	c.progress = append(c.progress, p)
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

func (p *Progress) show(w *stderrWriter, label string) {
	defer p.ended.Done()
	select {
	case <-p.stop:
		return
	case <-time.After(progressDelay):
	}
	bar := progressbar.NewOptions64(-1, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(label),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30),
		progressbar.OptionSetSpinnerChangeInterval(0)) // or a goroutine of the bar draws on, also after the end
	tick := time.NewTicker(progressTick)
	defer tick.Stop()
	for {
		if total := p.total.Load(); total > 0 && bar.GetMax64() != int64(total) {
			bar.ChangeMax64(int64(total))
		}
		// A progress bar that can't be drawn is no reason to stop.
		_ = bar.Set64(int64(p.done.Load()))
		select {
		case <-p.stop:
			_ = bar.Exit()
			_ = bar.Clear()
			return
		case <-tick.C:
		}
	}
}
