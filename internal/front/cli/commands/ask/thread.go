package ask

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/sosgo/sosgo/app/crash"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

// ThreadIDs are the options that say which of its numbers a thread is given by.
type ThreadIDs struct {
	TID     bool `opt:"tid,t" help:"the thread is given by its OS id"`
	Managed bool `opt:"managed,m" help:"the thread is given by its managed id"`
}

// Threads lists the threads; what can't be read of the runtime's is a warning,
// because the threads of the OS answer much alone. The list is not empty.
func Threads(c *cli.Context) ([]threads.Thread, error) {
	list, err := View(c).Threads()
	if len(list) == 0 {
		if err == nil {
			err = fmt.Errorf("threads: %w", target.ErrNotInDump)
		}
		return nil, err
	}
	if err != nil {
		c.Warn(err)
	}
	return list, nil
}

// Thread returns the thread of the list that text names, as Find does, and for an empty text the current one.
func (by *ThreadIDs) Thread(c *cli.Context, list []threads.Thread, text string) (*threads.Thread, error) {
	if text != "" {
		return by.Find(c, list, text)
	}
	return CurrentThread(c, list), nil
}

// CurrentThread returns the thread that setthread chose. Without one it is the
// thread of the crash; SOS takes the first instead.
func CurrentThread(c *cli.Context, list []threads.Thread) *threads.Thread {
	id, ok := c.Session.Thread()
	if !ok && !FormOf(c).FirstThread {
		id, ok = crash.Died(View(c))
	}
	if ok {
		if t := threads.ByID(list, id); t != nil {
			return t
		}
	}
	return &list[0]
}

// Find returns the thread with an index, an OS id or a managed id. Without options a decimal number is an index, as in
// SOS, and where there is no such index an OS id as it is printed, in hexadecimal. OS ids may have 0x in front, decimal
// numbers 0n.
func (by *ThreadIDs) Find(c *cli.Context, list []threads.Thread, text string) (*threads.Thread, error) {
	decimal, decimalErr := cli.ParseInt(text)
	hex, hexErr := cli.ParseAddress(text)
	printed := func() *threads.Thread {
		if hexErr != nil {
			return nil
		}
		return threadBy(threads.ByID, list, int64(min(hex, math.MaxInt64)))
	}
	counted := func(find func([]threads.Thread, uint32) *threads.Thread) *threads.Thread {
		if decimalErr != nil {
			return nil
		}
		return threadBy(find, list, decimal)
	}
	kind, found := "index or OS id", (*threads.Thread)(nil)
	switch {
	case decimalErr != nil && hexErr != nil:
		return nil, c.Usagef("%q is not a thread: neither a number nor an OS id in hexadecimal", text)
	case by.Managed:
		found, kind = counted(threads.ByManagedID), "managed id"
	case by.TID:
		found, kind = cmp.Or(counted(threads.ByID), printed()), "OS id"
	case strings.HasPrefix(strings.ToLower(text), "0x"):
		found, kind = printed(), "OS id"
	default:
		found = cmp.Or(counted(byIndex), printed(), counted(threads.ByID))
	}
	if found == nil {
		return nil, c.Usagef("no thread has the %s %s; threads lists them", kind, text)
	}
	return found, nil
}

func byIndex(list []threads.Thread, n uint32) *threads.Thread { return threads.ByIndex(list, int(n)) }

// threadBy finds a thread by an id that the user gave, which may be no id.
func threadBy(find func([]threads.Thread, uint32) *threads.Thread, list []threads.Thread, n int64) *threads.Thread {
	if n < 0 || n > math.MaxUint32 {
		return nil
	}
	return find(list, uint32(n))
}

// Walker walks stacks. Where native frames are wanted it walks those of a process
// whose runtime can't be opened, too: native frames alone, and the reason is a warning. A dump without any of the runtime's data
// has no other frames.
func Walker(c *cli.Context, native bool) (*stackwalk.Walker, error) {
	v := View(c)
	w, err := v.Walker()
	switch {
	case err == nil || !native && !v.StacksOnly():
		return w, err
	case v.StacksOnly():
		return v.NativeWalker(), nil
	}
	c.Warn(err)
	return v.NativeWalker(), nil
}

// WarnOfOthers warns, for a process with several CLRs, that an answer about all stacks has the frames of rt alone.
func WarnOfOthers(c *cli.Context, rt *dac.Runtime) {
	if rt == nil || !Dump(c).SeveralRuntimes() {
		return
	}
	var others []string
	for _, inst := range Dump(c).Runtimes() {
		if inst.Index != rt.Instance().Index {
			others = append(others, fmt.Sprintf("-runtime %d", inst.Index))
		}
	}
	c.Warn(fmt.Errorf("these are the frames of runtime #%d alone; those of the process's other runtimes: %s, or clrstack for both in one stack",
		rt.Instance().Index, strings.Join(others, ", ")))
}

// RunningThreads picks from the list the managed threads that an OS thread runs, in
// the runtime's order.
func RunningThreads(c *cli.Context, list []threads.Thread, rt *dac.Runtime) []*threads.Thread {
	out, err := threads.Running(list, rt)
	if err != nil {
		c.Warn(err)
	}
	return out
}

// Stacks returns the managed threads that an OS thread runs, and their Walker. Where native frames are wanted those of a
// process without a runtime that can be opened are walked, too; see Walker.
func Stacks(c *cli.Context, native bool) (*stackwalk.Walker, []*threads.Thread, error) {
	walker, err := View(c).Walker()
	if native {
		walker, err = Walker(c, true)
	}
	if err != nil {
		return nil, nil, err
	}
	all, err := Threads(c)
	if err != nil {
		return nil, nil, err
	}
	WarnOfOthers(c, walker.Runtime())
	return walker, RunningThreads(c, all, walker.Runtime()), nil
}
