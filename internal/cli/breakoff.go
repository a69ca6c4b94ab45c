package cli

import (
	"io"
	"sync"
)

// A command that computes for seconds has gigabytes of memory when the user wants no more of it. To give them back
// piece by piece, once each goroutine has looked at its context, takes longer than to end the process, where that has
// nothing else to do: then the system takes all of it at once.

// A breakable reports whether the command may be broken off now.
type breakable struct {
	// whole is held by the command but while it asks, shared by what must be done as a whole while it does, and in the
	// end by who breaks it off.
	whole sync.RWMutex
	may   bool // the process has nothing else to do
}

// asking lets the command be broken off until end is called. Where it was broken off end does not return.
func (c *Context) asking() (end func()) {
	if !c.broken.may {
		return func() {}
	}
	c.broken.whole.Unlock()
	return c.broken.whole.Lock
}

// wholly calls do, during which the command is not broken off. It is for what the command does while it asks, in any
// goroutine.
func (c *Context) wholly(do func()) {
	if c.broken.may {
		c.broken.whole.RLock()
		defer c.broken.whole.RUnlock()
	}
	do()
}

// breakOff ends the process, if the command may be broken off now, and else does nothing. Nothing of the answer is
// written yet, so that all there is to say is that it was interrupted.
func (c *Context) breakOff() {
	if !c.broken.may || !c.broken.whole.TryLock() {
		return
	}
	c.stderr.mu.Lock() // for good: a progress display draws no more
	text := errorLine(c.Command.Name, errInterrupted)
	if c.stderr.terminal {
		text = clearLine + text
	}
	// There is nowhere left to report an error of stderr.
	_, _ = io.WriteString(c.stderr.w, text)
	c.app.env.Leave(ExitCode(errInterrupted))
}

// mayBreak reports whether the command may be interrupted anywhere: it writes no file and triggers no
// download or cache, it is the only command, and it has no document to complete.
func (c *Context) mayBreak() {
	o := &c.Session.options
	alone := c.app.env.Leave != nil && !c.app.env.KeepOpen && !c.app.inSession && c.app.desk == nil
	c.broken.may = alone && c.Command.OnlyAsks && c.json == nil && o.GraphDir == "" && len(o.SymbolServers) == 0
	if c.broken.may {
		c.broken.whole.Lock()
	}
}
