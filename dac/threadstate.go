package dac

// threadStateWords holds SOS's words for the bits of Thread::m_State (threads.h, enum ThreadState), from the
// lowest on.
var threadStateWords = [32]string{
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

// Words describes the bits that are set, from the lowest on.
func (s ThreadState) Words() []string {
	words := []string{}
	for bit, w := range threadStateWords {
		if s>>bit&1 != 0 {
			words = append(words, w)
		}
	}
	return words
}
