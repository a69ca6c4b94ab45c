package threadtext

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// page writes an answer in one of the two forms.
func page(sos bool, write func(*report.Page)) string {
	var b bytes.Buffer
	write(report.NewPage(&b, sos, func(error) {}))
	return b.String()
}

func TestOSThreads(t *testing.T) {
	three := 3
	l := &answer.OSThreads{Threads: []answer.OSThread{{
		Thread:  answer.Thread{Index: &three, OSID: 0x10, ManagedID: 2, Name: "a\"b", Thread: 0x1000},
		Current: true, IP: answer.Known(target.Addr(0x123)), Crashed: "SIG\x1b",
		SP: answer.Missing[target.Addr](target.ErrNotInDump), FP: answer.Missing[target.Addr](target.ErrCorrupt),
	}}}
	write := func(sos, verbose bool) string {
		return page(sos, func(p *report.Page) { OSThreads(p, l, OSThreadsOptions{Verbose: verbose}) })
	}
	assert.Equal(t, "*3 0x0010 (16)\n", write(true, false))
	assert.Equal(t, "*3 0x0010 (16) managed 2 \"a\\\"b\" crashed: "+report.Escape("SIG\x1b")+"\n", write(false, false))
	assert.Equal(t, "*3 0x0010 (16)\n    IP  0x0000000000000123\n    SP  <not in dump>\n    FP  <corrupt>\n    TEB 0x0000000000000000\n",
		write(true, true))
}

// TestThreadsFold checks that many threads that do the same are one line of crashinfo, and few a line each.
func TestThreadsFold(t *testing.T) {
	write := func(n int) string {
		c := &answer.Crash{Reason: "none", Alive: true, Waiting: &answer.Waiting{Monitors: []answer.Monitor{{Object: 0x10, Type: answer.Text{S: "T"}, Waiters: uint32(n)}}}}
		for i := range n {
			thread := answer.Thread{Index: &i, OSID: uint32(0x100 + i)}
			c.Waiting.Threads = append(c.Waiting.Threads, answer.WaitingThread{Thread: thread, ThreadActivity: answer.ThreadActivity{Text: "waits"}})
			c.Waiting.Monitors[0].Waiting = append(c.Waiting.Monitors[0].Waiting, thread)
		}
		index := n
		c.Waiting.Threads = append(c.Waiting.Threads, answer.WaitingThread{Thread: answer.Thread{Index: &index, OSID: 1}, ThreadActivity: answer.ThreadActivity{Text: "sleeps"}})
		return page(false, func(p *report.Page) { Crash(p, c, CrashOptions{}) })
	}
	many := write(20_000)
	assert.Less(t, len(many), 1000)
	assert.Contains(t, many, "    0 0x100, 1 0x101, 2 0x102 and 19,997 more: waits\n    20000 0x1: sleeps\n")
	assert.Contains(t, many, "20,000 waiting: 0 0x100, 1 0x101, 2 0x102 and 19,997 more\n")
	few := write(8)
	assert.Equal(t, 8, strings.Count(few, ": waits\n"))
	assert.Contains(t, few, ", 7 0x107\n")
}

func TestRegisters(t *testing.T) {
	r := &answer.Registers{Registers: []answer.Register{
		{Name: "cs", Size: 2, InContext: true, Value: answer.Known(answer.Hex(0x33))},
		{Name: "rip", Size: 8, InContext: true, Value: answer.Missing[answer.Hex](target.ErrNotInDump)},
		{Name: "fs_base", Size: 8, Value: answer.Known(answer.Hex(1))},
	}}
	write := func(sos bool) string { return page(sos, func(p *report.Page) { Registers(p, r) }) }
	assert.Equal(t, "cs = 0x0033\nrip = <not in dump>\n", write(true))
	assert.Equal(t, "cs = 0x0033\nrip = <not in dump>\nfs_base = 0x0000000000000001\n", write(false))
	r.Registers = r.Registers[2:] // for a processor with unknown CONTEXT, SOS's form has all registers
	assert.Equal(t, "fs_base = 0x0000000000000001\n", write(true))
}

func TestNotes(t *testing.T) {
	thrown := &answer.ThrownObject{Address: 0x10, Type: answer.Text{Err: target.ErrCorrupt}}
	for _, c := range []struct {
		sos  bool
		want string
		t    answer.ManagedThread
	}{
		{true, "", answer.ManagedThread{Thread: answer.Thread{Name: "n"}}},
		{false, `"n"`, answer.ManagedThread{Thread: answer.Thread{Name: "n"}}},
		{false, `(GC) "n"`, answer.ManagedThread{Thread: answer.Thread{Name: "n"}, Special: []string{"GC"}}},
		{true, "<not in dump>", answer.ManagedThread{ExceptionError: target.ErrNotInDump}},
		{true, "<Invalid Object> (0000000000000010)", answer.ManagedThread{Exception: thrown}},
		{false, `<corrupt> 0000000000000010 (nested exceptions) "n"`,
			answer.ManagedThread{Thread: answer.Thread{Name: "n"}, Exception: thrown, Nested: true}},
	} {
		page(c.sos, func(p *report.Page) { assert.Equal(t, c.want, notes(p, &c.t)) })
	}
}

func TestSyncBlocks(t *testing.T) {
	six := 6
	write := func(b answer.SyncBlock, err error) string {
		unread := answer.Missing[int](answer.ErrUnread)
		l := &answer.SyncBlocks{Total: unread, Free: unread, Blocks: func(yield func(answer.SyncBlock, error) bool) { yield(b, err) }}
		s := page(true, func(p *report.Page) { SyncBlocks(p, l) })
		return s[bytes.IndexByte([]byte(s), '\n')+1:]
	}
	assert.Equal(t, "    7 <not in dump>\n", write(answer.SyncBlock{Index: 7}, fmt.Errorf("block: %w", target.ErrNotInDump)))
	b := answer.SyncBlock{Index: 1, Recorded: 0x20, Type: answer.Text{S: "Free"}}
	assert.Contains(t, write(b, nil), "0000000000000020     none    0000000000000000 Free\n")
	b.Held = true
	assert.Contains(t, write(b, nil), "0000000000000020  orphaned   0000000000000000 Free\n")
	b.Thread, b.OSID = 0x30, 0x2ce6
	assert.Contains(t, write(b, nil), "0000000000000030 2ce6  XXX   0000000000000000 Free\n")
	b.OwnerIndex = &six
	assert.Contains(t, write(b, nil), "0000000000000030 2ce6   6   0000000000000000 Free\n")
}

// TestUnnamedActivity checks that a method's name is not used as the place if names cannot be read.
func TestUnnamedActivity(t *testing.T) {
	write := func(kind answer.ActivityKind, text string) string {
		row := answer.WaitingThread{ThreadActivity: answer.ThreadActivity{Kind: kind, Text: text, Caller: answer.Text{S: "A.B()"}}}
		return page(false, func(p *report.Page) {
			Crash(p, &answer.Crash{Alive: true, Waiting: &answer.Waiting{Threads: []answer.WaitingThread{row}}}, CrashOptions{})
		})
	}
	assert.Contains(t, write(answer.ActivityUnknown, "not known: the names of its methods can't be read"), "can't be read, but for A.B()\n")
	assert.Contains(t, write(answer.ActivitySleep, "sleeps"), "sleeps in A.B()\n")
}

// TestNoParallelStacks checks that unreadable stacks are not reported as missing.
func TestNoParallelStacks(t *testing.T) {
	none, unread := &answer.ParallelStacks{}, &answer.ParallelStacks{}
	unread.Note(target.ErrNotInDump)
	write := func(sos bool, s *answer.ParallelStacks) string {
		return page(sos, func(p *report.Page) { Parallel(p, s, ParallelOptions{}) })
	}
	const count = "\n==> 0 threads with 0 roots\n\n"
	assert.Equal(t, count, write(false, none))
	assert.Equal(t, count, write(true, unread))
	assert.Equal(t, "No managed frames found; some stacks can't be read.\n", write(false, unread))
}
