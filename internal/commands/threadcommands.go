package commands

import (
	"fmt"
	"math"
	"strings"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/crash"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
	"github.com/sosgo/sosgo/threads"
)

func threadCommands() []cli.Command {
	return []cli.Command{
		clrThreadsCommand(),
		threadsCommand(),
		registersCommand(),
		dumpStackObjectsCommand(),
		syncBlkCommand(),
		printExceptionCommand(),
	}
}

const notInDump = "<not in dump>"

// threadOptions choose between the numbers that a thread has.
func threadOptions() []cli.Option {
	return []cli.Option{
		{Name: "tid", Aliases: []string{"t"}, Summary: "the thread is given by its OS id"},
		{Name: "managed", Aliases: []string{"m"}, Summary: "the thread is given by its managed id"},
	}
}

// allThreads lists the threads; what can't be read of the runtime's is a
// warning, because the threads of the OS answer much alone.
func allThreads(c *cli.Context) ([]sosgo.Thread, error) {
	threads, err := viewOf(c).Threads()
	if len(threads) == 0 {
		if err == nil {
			err = fmt.Errorf("threads: %w", target.ErrNotInDump)
		}
		return nil, err
	}
	if err != nil {
		c.Warn(err)
	}
	return threads, nil
}

// chosenThread is the thread that the argument name gives, else the current
// one.
func chosenThread(c *cli.Context, threads []sosgo.Thread, text string) (*sosgo.Thread, error) {
	if text != "" {
		return findThread(c, threads, text)
	}
	return currentThread(c, threads), nil
}

// currentThread is the thread that setthread chose. Without one it is the
// thread of the crash; SOS takes the first instead.
func currentThread(c *cli.Context, list []sosgo.Thread) *sosgo.Thread {
	id, ok := c.Session.Thread()
	if !ok && !c.SOS {
		id, ok = crash.ThreadID(dumpOf(c).Target())
	}
	if ok {
		if t := threads.ByID(list, id); t != nil {
			return t
		}
	}
	return &list[0]
}

// findThread finds a thread by its index, its OS id or its managed id. A number
// without options is an index, or an OS id if there is no such index or it is
// hexadecimal.
func findThread(c *cli.Context, list []sosgo.Thread, text string) (*sosgo.Thread, error) {
	n, err := cli.ParseInt(text)
	if err != nil {
		return nil, c.Usagef("%v", err)
	}
	hex := strings.HasPrefix(strings.ToLower(text), "0x")
	kind := "index or OS id"
	var t *sosgo.Thread
	switch {
	case c.Bool("managed"):
		t, kind = threadBy(threads.ByManagedID, list, n), "managed id"
	case c.Bool("tid") || hex:
		t, kind = threadBy(threads.ByID, list, n), "OS id"
	default:
		if t = threads.ByIndex(list, int(n)); t == nil {
			t = threadBy(threads.ByID, list, n)
		}
	}
	if t == nil {
		return nil, c.Usagef("no thread has the %s %s; threads lists them", kind, text)
	}
	return t, nil
}

// threadBy finds a thread by an id that the user gave, which may be no id.
func threadBy(find func([]sosgo.Thread, uint32) *sosgo.Thread, list []sosgo.Thread, n int64) *sosgo.Thread {
	if n < 0 || n > math.MaxUint32 {
		return nil
	}
	return find(list, uint32(n))
}

// threadHeading is the line that SOS prints before what belongs to a thread.
func threadHeading(t *sosgo.Thread) string {
	return fmt.Sprintf("OS Thread Id: %#x (%d)", t.ID(), t.Index)
}

// threadResult names a thread in JSON.
type threadResult struct {
	Index     *int           `json:"index,omitempty" doc:"number among the threads of the OS; none for a thread that is dead or has not started"`
	OSID      uint32         `json:"osId,omitempty" doc:"OS thread id"`
	ManagedID uint32         `json:"managedId,omitempty" doc:"managed thread id"`
	Name      string         `json:"name,omitempty" doc:"name of the thread"`
	Thread    report.Address `json:"thread,omitempty" doc:"the runtime's Thread"`
}

func newThreadResult(c *cli.Context, t *sosgo.Thread) threadResult {
	r := threadResult{OSID: t.ID(), Name: threadName(c, t)}
	if t.Index >= 0 {
		r.Index = &t.Index
	}
	if t.Managed != nil {
		r.ManagedID, r.Thread, r.OSID = t.Managed.ManagedID, report.Address(t.Managed.Addr), t.Managed.OSID
	}
	return r
}

// threadName is the name of a thread, empty if it has none; one that can't be
// read is a warning.
func threadName(c *cli.Context, t *sosgo.Thread) string {
	name, err := t.Name()
	if err != nil {
		c.Warn(err)
	}
	return name
}
