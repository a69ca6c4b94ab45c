package commands

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
	"github.com/sosgo/sosgo/threads"
)

func clrThreadsCommand() cli.Command {
	return cli.Command{
		Name: "clrthreads", Group: cli.GroupThreads, NeedsDump: true,
		Summary: "list the managed threads: ids, state, GC mode, allocation context, exception",
		Help: "DBG is the number by which setthread and dso take a thread; XXXX stands for a thread that is dead or has " +
			"not started. Lock Count is -00001 where the runtime does not count locks (.NET 8 and later).",
		Options: []cli.Option{
			{Name: "live", Summary: "leave out threads that no OS thread runs"},
			{Name: "special", Summary: "also list the runtime's own threads"},
			{Name: "stacks", Summary: "what each thread does or waits for, its topmost managed frame, and the topmost that is not the framework's"},
			{Name: "managedexception", Summary: "make the first thread that threw an exception the current one, and print nothing"},
		},
		Result: []report.Part{report.FieldOf[threadCounts]("counts"), report.ListOf[clrThread]("threads")},
		Run:    runClrThreads,
	}
}

type threadCounts struct {
	Threads    uint32 `json:"threads" doc:"managed threads"`
	Unstarted  uint32 `json:"unstarted" doc:"that have not started"`
	Background uint32 `json:"background" doc:"that do not keep the process alive"`
	Pending    uint32 `json:"pending" doc:"that are being created"`
	Dead       uint32 `json:"dead" doc:"that ended"`
}

type clrThread struct {
	threadResult
	State        report.Address  `json:"state" doc:"the runtime's thread state bits, see threadstate"`
	GCMode       string          `json:"gcMode" doc:"\"Preemptive\" or \"Cooperative\""`
	AllocPointer report.Address  `json:"allocPointer" doc:"where the thread allocates next"`
	AllocLimit   report.Address  `json:"allocLimit" doc:"end of its allocation context"`
	Domain       report.Address  `json:"domain" doc:"AppDomain"`
	LockCount    *uint32         `json:"lockCount,omitempty" doc:"locks held; absent where the runtime does not count"`
	Apartment    string          `json:"apartment" doc:"COM apartment: \"STA\", \"MTA\", \"NTA\" or \"Ukn\""`
	Special      []string        `json:"special,omitempty" doc:"what the thread is for: \"Finalizer\", \"GC\", \"Threadpool Worker\", \"Threadpool Completion Port\""`
	Exception    *thrownObject   `json:"exception,omitempty" doc:"the exception that the thread threw last"`
	Nested       bool            `json:"nestedExceptions,omitempty" doc:"other exceptions were being handled when it was thrown"`
	StackLow     *report.Address `json:"stackLow,omitempty" doc:"lowest address of the stack"`
	StackHigh    *report.Address `json:"stackHigh,omitempty" doc:"end of the stack"`
	Activity     *threadActivity `json:"activity,omitempty" doc:"with -stacks: what the thread does"`
}

type thrownObject struct {
	Address report.Address `json:"address,omitempty" doc:"the exception object"`
	Type    string         `json:"type,omitempty" doc:"its type"`
}

func runClrThreads(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	counts, err := rt.ThreadCounts()
	if err != nil {
		return err
	}
	threads, err := managedThreads(c, rt)
	if err != nil {
		return err
	}
	if c.Bool("managedexception") {
		for i := range threads {
			if m := threads[i].Managed; m.LastThrown != 0 && threads[i].OS != nil {
				c.Session.SetThread(threads[i].ID())
				return nil
			}
		}
		return nil
	}
	if c.JSON() != nil {
		return clrThreadsJSON(c, rt, counts, threads)
	}
	printThreadCounts(c, counts)
	if c.Bool("stacks") {
		return printActivities(c, rt, threads)
	}
	printClrThreads(c, rt, threads)
	if c.Bool("special") {
		printSpecialThreads(c)
	}
	return nil
}

// managedThreads lists the threads that the runtime knows in the order of its
// thread store.
func managedThreads(c *cli.Context, rt *dac.Runtime) ([]sosgo.Thread, error) {
	all, err := allThreads(c)
	if err != nil {
		return nil, err
	}
	stored, err := threads.InRuntimeOrder(all, rt)
	if err != nil && len(stored) == 0 {
		return nil, err
	}
	var out []sosgo.Thread
	for _, t := range stored {
		if t.OS != nil || !c.Bool("live") {
			out = append(out, *t)
		}
	}
	return out, nil
}

func printThreadCounts(c *cli.Context, n dac.ThreadCounts) {
	t := report.NewColumnTable(c.Out, -17, 0)
	for _, l := range []struct {
		label string
		n     uint32
	}{
		{"ThreadCount:", n.Threads}, {"UnstartedThread:", n.Unstarted}, {"BackgroundThread:", n.Background},
		{"PendingThread:", n.Pending}, {"DeadThread:", n.Dead},
	} {
		_ = t.Row(l.label, strconv.FormatUint(uint64(l.n), 10))
	}
	_ = t.Row("Hosted Runtime:", "no") // CoreCLR's hosts have no interface that takes the threads over
}

func printClrThreads(c *cli.Context, rt *dac.Runtime, threads []sosgo.Thread) {
	t := report.NewColumnTable(c.Out, 4, 4, 8, -16, 8, -11, -33, -16, -5, -3, 0)
	c.Printf("%108s%s\n", "", "Lock  ")
	_ = t.Row("DBG", "ID", "OSID", "ThreadOBJ", "State", "GC Mode", "GC Alloc Context", "Domain", "Count", "Apt", "Exception")
	for i := range threads {
		th := &threads[i]
		m := th.Managed
		index := "XXXX"
		if th.Index >= 0 {
			index = strconv.Itoa(th.Index)
		}
		_ = t.Row(index, strconv.FormatUint(uint64(m.ManagedID), 10), fmt.Sprintf("%x", m.OSID), report.Hex16(m.Addr),
			fmt.Sprintf("%x", uint32(m.State)), gcMode(m), report.Hex16(m.AllocContext.Pointer)+":"+report.Hex16(m.AllocContext.Limit),
			report.Hex16(m.Domain), lockCount(m), apartment(c, th).String(), threadNotes(c, rt, th))
	}
}

func gcMode(m *dac.Thread) string {
	if m.Cooperative {
		return "Cooperative"
	}
	return "Preemptive"
}

// noLockCount is the count of runtimes that do not count.
const noLockCount = ^uint32(0)

func lockCount(m *dac.Thread) string {
	if m.LockCount == noLockCount {
		return "-00001"
	}
	return strconv.FormatUint(uint64(m.LockCount), 10)
}

func apartment(c *cli.Context, t *sosgo.Thread) threads.Apartment {
	a, err := t.Apartment(dumpOf(c).Target())
	if err != nil {
		c.Warn(fmt.Errorf("apartment of thread %#x: %w", t.ID(), err))
	}
	return a
}

func specialNames(m *dac.Thread) []string {
	var out []string
	if m.Finalizer {
		out = append(out, "Finalizer")
	}
	if m.GC {
		out = append(out, "GC")
	}
	switch {
	case m.State&dac.ThreadPoolWorker != 0:
		out = append(out, "Threadpool Worker")
	case m.State&dac.ThreadPoolIOCompletion != 0:
		out = append(out, "Threadpool Completion Port")
	}
	return out
}

// threadNotes is the last column: what the thread is for, and its exception.
// Outside SOS's form the thread's name ends it.
func threadNotes(c *cli.Context, rt *dac.Runtime, t *sosgo.Thread) string {
	var b strings.Builder
	m := t.Managed
	for _, s := range specialNames(m) {
		b.WriteString("(" + s + ") ")
	}
	switch {
	case m.LastThrownError != nil:
		b.WriteString(notInDump)
		c.Warn(fmt.Errorf("exception of thread %d: %w", m.ManagedID, m.LastThrownError))
	case m.LastThrown != 0:
		name, err := objectTypeName(rt, m.LastThrown)
		switch {
		case errors.Is(err, target.ErrCorrupt):
			b.WriteString("<Invalid Object> (" + report.Hex16(m.LastThrown) + ")")
		case err != nil:
			b.WriteString(notInDump + " " + report.Hex16(m.LastThrown))
		default:
			b.WriteString(name + " " + report.Hex16(m.LastThrown))
		}
		if err != nil {
			c.Warn(fmt.Errorf("exception of thread %d: %w", m.ManagedID, err))
		}
		if hasNested(c, rt, m) {
			b.WriteString(" (nested exceptions)")
		}
	}
	if !c.SOS {
		if name := threadName(c, t); name != "" {
			if s := b.String(); s != "" && !strings.HasSuffix(s, " ") {
				b.WriteByte(' ')
			}
			b.WriteString(strconv.Quote(name))
		}
	}
	return b.String()
}

func hasNested(c *cli.Context, rt *dac.Runtime, m *dac.Thread) bool {
	nested, err := rt.NestedExceptions(m)
	if err != nil {
		c.Warn(fmt.Errorf("nested exceptions of thread %d: %w", m.ManagedID, err))
	}
	return len(nested) > 0
}

// objectTypeName is the name of the type of the object at a, as the runtime
// writes it.
func objectTypeName(rt *dac.Runtime, a target.Addr) (string, error) {
	word, err := target.Uint64(rt.Memory(), a)
	if err != nil {
		return "", err
	}
	mt, err := rt.TrustedMethodTable(target.Addr(word &^ 7)) // the GC's marks
	if err != nil {
		return "", err
	}
	name, err := rt.TypeName(mt.Addr, dac.NameNative)
	if err != nil {
		return "", fmt.Errorf("type %016x of object %016x: %w", uint64(mt.Addr), uint64(a), err)
	}
	return name, nil
}

// printSpecialThreads lists the runtime's own threads, by the names that it
// gives them. createdump records no names.
func printSpecialThreads(c *cli.Context) {
	platform := dumpOf(c).Target().Platform()
	c.Printf("\n")
	if platform.OS != target.OSWindows {
		c.Printf("-special not supported.\n")
		return
	}
	threads, _ := viewOf(c).Threads() // clrthreads has warned of the error
	t := report.NewColumnTable(c.Out, 4, 8, 0)
	_ = t.Row("", "OSID", "Special thread type")
	for i := range threads {
		if th := &threads[i]; th.OS != nil {
			if kind, ok := strings.CutPrefix(th.OS.Name, ".NET "); ok {
				_ = t.Row(strconv.Itoa(th.Index), fmt.Sprintf("%x", th.OS.ID), kind)
			}
		}
	}
}

func clrThreadsJSON(c *cli.Context, rt *dac.Runtime, n dac.ThreadCounts, threads []sosgo.Thread) error {
	j := c.JSON()
	err := j.Field("counts", threadCounts{Threads: n.Threads, Unstarted: n.Unstarted, Background: n.Background, Pending: n.Pending, Dead: n.Dead})
	if err != nil {
		return err
	}
	if err := j.List("threads"); err != nil {
		return err
	}
	var activities []threadActivity
	if c.Bool("stacks") {
		if activities, err = threadActivities(c, rt, threads); err != nil {
			return err
		}
	}
	for i := range threads {
		r := newClrThread(c, rt, &threads[i])
		if activities != nil {
			r.Activity = &activities[i]
		}
		if err := j.Item("threads", r); err != nil {
			return err
		}
	}
	return nil
}

func newClrThread(c *cli.Context, rt *dac.Runtime, t *sosgo.Thread) clrThread {
	m := t.Managed
	r := clrThread{
		threadResult: newThreadResult(c, t),
		State:        report.Address(m.State),
		GCMode:       gcMode(m),
		AllocPointer: report.Address(m.AllocContext.Pointer),
		AllocLimit:   report.Address(m.AllocContext.Limit),
		Domain:       report.Address(m.Domain),
		Apartment:    apartment(c, t).String(),
		Special:      specialNames(m),
	}
	if m.LockCount != noLockCount {
		r.LockCount = &m.LockCount
	}
	if m.Stack.Size() > 0 {
		low, high := report.Address(m.Stack.Start), report.Address(m.Stack.End)
		r.StackLow, r.StackHigh = &low, &high
	}
	if m.LastThrown != 0 {
		r.Exception, r.Nested = &thrownObject{Address: report.Address(m.LastThrown)}, hasNested(c, rt, m)
		if name, err := objectTypeName(rt, m.LastThrown); err == nil {
			r.Exception.Type = name
		}
	}
	if m.LastThrownError != nil {
		c.Warn(fmt.Errorf("exception of thread %d: %w", m.ManagedID, m.LastThrownError))
	}
	return r
}
