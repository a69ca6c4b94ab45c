package ask

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// ThreadIDs are the options that select the kind of a thread's id.
type ThreadIDs struct {
	TID     bool `opt:"tid,t" help:"the thread is given by its OS id"`
	Managed bool `opt:"managed,m" help:"the thread is given by its managed id"`
}

// Threads returns the threads, at least one. It only warns of unreadable managed threads, since the OS threads alone
// answer much. If the dump has lost all OS threads, that is an error.
func Threads(c *cli.Context) ([]stackwalk.Thread, error) {
	list, err := View(c).Threads()
	var lost *process.LostThreadsError
	if len(list) == 0 || errors.As(err, &lost) && lost.Listed == 0 {
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

// Thread returns the thread that text names, as Find does, or the current thread if text is empty.
func (by *ThreadIDs) Thread(c *cli.Context, list []stackwalk.Thread, text string) (*stackwalk.Thread, error) {
	if text != "" {
		return by.Find(c, list, text)
	}
	return CurrentThread(c, list), nil
}

// CurrentThread returns the thread selected by setthread. The default is the crashed thread, or in SOS's form the
// first one.
func CurrentThread(c *cli.Context, list []stackwalk.Thread) *stackwalk.Thread {
	id, ok := c.Session.Thread()
	if !ok && !FormOf(c).FirstThread {
		id, ok = crash.Died(View(c))
	}
	if ok {
		if t := stackwalk.ThreadByID(list, id); t != nil {
			return t
		}
	}
	return &list[0]
}

// Find returns the thread with an index, an OS id or a managed id. Without options, a decimal number is an index, as
// in SOS. If no thread has that index, it is a hexadecimal OS id as printed. OS ids may have the prefix 0x, decimal
// numbers 0n.
func (by *ThreadIDs) Find(c *cli.Context, list []stackwalk.Thread, text string) (*stackwalk.Thread, error) {
	decimal, decimalErr := cli.ParseInt(text)
	hex, hexErr := cli.ParseAddress(text)
	printed := func() *stackwalk.Thread {
		if hexErr != nil {
			return nil
		}
		return threadBy(stackwalk.ThreadByID, list, int64(min(hex, math.MaxInt64)))
	}
	counted := func(find func([]stackwalk.Thread, uint32) *stackwalk.Thread) *stackwalk.Thread {
		if decimalErr != nil {
			return nil
		}
		return threadBy(find, list, decimal)
	}
	kind, found := "index or OS id", (*stackwalk.Thread)(nil)
	switch {
	case decimalErr != nil && hexErr != nil:
		return nil, c.Usagef("%q is not a thread: neither a number nor an OS id in hexadecimal", text)
	case by.Managed:
		found, kind = counted(stackwalk.ThreadByManagedID), "managed id"
	case by.TID:
		found, kind = cmp.Or(counted(stackwalk.ThreadByID), printed()), "OS id"
	case strings.HasPrefix(strings.ToLower(text), "0x"):
		found, kind = printed(), "OS id"
	default:
		found = cmp.Or(counted(byIndex), printed(), counted(stackwalk.ThreadByID))
	}
	if _, err := View(c).Threads(); found == nil && errors.As(err, new(*process.LostThreadsError)) {
		return nil, fmt.Errorf("the %s %s of a thread: %w", kind, text, err)
	}
	if found == nil {
		return nil, c.Usagef("no thread has the %s %s; threads lists them", kind, text)
	}
	return found, nil
}

func byIndex(list []stackwalk.Thread, n uint32) *stackwalk.Thread {
	return stackwalk.ThreadByIndex(list, int(n))
}

// threadBy returns the thread with an id, or nil. n may be out of range.
func threadBy(find func([]stackwalk.Thread, uint32) *stackwalk.Thread, list []stackwalk.Thread, n int64) *stackwalk.Thread {
	if n < 0 || n > math.MaxUint32 {
		return nil
	}
	return find(list, uint32(n))
}

// Walker returns a stack walker. If native frames are requested and the runtime cannot be opened, it walks native
// frames only and warns of the reason. Dumps without any runtime data have only native frames.
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

// WarnOfOthers warns, for a process with several CLRs, that an answer about all stacks contains only the frames of
// rt.
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

// RunningThreads returns the managed threads of the list with an OS thread, in the runtime's order.
func RunningThreads(c *cli.Context, list []stackwalk.Thread, rt *dac.Runtime) []*stackwalk.Thread {
	out, err := stackwalk.RunningThreads(list, rt)
	if err != nil {
		c.Warn(err)
	}
	return out
}

// Stacks returns the managed threads with an OS thread, and their Walker. With native set, it also walks the stacks
// of a process without a usable runtime; see Walker.
func Stacks(c *cli.Context, native bool) (*stackwalk.Walker, []*stackwalk.Thread, error) {
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

// Profile returns the stacks of the threads that Stacks returns. Where secrets are masked, so are names of threads: the profile may be written as
// something that is no text.
func Profile(c *cli.Context, native bool) (*answer.Profile, error) {
	walker, list, err := Stacks(c, native)
	if err != nil {
		return nil, err
	}
	profile, err := threads.Profile(c.Context(), walker, list, threads.ProfileOptions{Native: native, Symbols: Dump(c).Symbols()})
	if err != nil {
		return nil, err
	}
	if mask := c.Mask(); mask != nil {
		for i := range profile.Threads {
			profile.Threads[i].Name = mask(profile.Threads[i].Name)
		}
	}
	return profile, nil
}
