package commands

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
)

func threadStateCommand() cli.Command {
	return cli.Command{
		Name: "threadstate", Group: cli.GroupThreads,
		Summary: "explain the State column of clrthreads",
		Args:    []cli.Arg{{Name: "state", Kind: cli.Address, Summary: "the bits, hexadecimal"}},
		Result:  []report.Part{report.ListOf[string]("states")},
		Run:     runThreadState,
	}
}

// threadStates are the bits of Thread::m_State (threads.h, enum ThreadState) in
// SOS's words, from the lowest on.
var threadStates = [32]string{
	"Thread Abort Requested",
	"GC Suspend Pending",
	"User Suspend Pending",
	"Debug Suspend Pending",
	"GC On Transitions",
	"Legal to Join",
	"Yield Requested",
	"Hijacked by the GC",
	"Blocking GC for Stack Overflow",
	"Background",
	"Unstarted",
	"Dead",
	"CLR Owns",
	"CoInitialized",
	"In Single Threaded Apartment",
	"In Multi Threaded Apartment",
	"Reported Dead",
	"Fully initialized",
	"Task Reset",
	"Sync Suspended",
	"Debug Will Sync",
	"Stack Crawl Needed",
	"Suspend Unstarted",
	"Aborted",
	"Thread Pool Worker Thread",
	"Interruptible",
	"Interrupted",
	"Completion Port Thread",
	"Abort Initiated",
	"Finalized",
	"Failed to Start",
	"Detached",
}

func runThreadState(c *cli.Context) error {
	state, _ := c.Addr("state")
	if state>>32 != 0 {
		return c.Usagef("%#x has more than 32 bits", uint64(state))
	}
	if j := c.JSON(); j != nil {
		if err := j.List("states"); err != nil {
			return err
		}
	}
	for bit, name := range threadStates {
		if state>>bit&1 == 0 {
			continue
		}
		if j := c.JSON(); j == nil {
			c.Printf("    %s\n", name)
		} else if err := j.Item("states", name); err != nil {
			return fmt.Errorf("state %s: %w", name, err)
		}
	}
	return nil
}
