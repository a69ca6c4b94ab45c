package answer

import (
	"iter"
	"slices"

	"github.com/sosgo/sosgo/target"
)

// A StressLog is the runtime's in-memory log, which DOTNET_StressLog enables.
type StressLog struct {
	Gaps
	Enabled       bool                            `json:"enabled" doc:"whether a thread has a log"`
	Facilities    uint32                          `json:"facilities" doc:"mask of the facilities that log"`
	FacilityNames []string                        `json:"facilityNames,omitempty" doc:"their names"`
	Level         uint32                          `json:"level" doc:"least important level that is logged, 0 (fatal) to 10 (all)"`
	MaxPerThread  uint32                          `json:"maxPerThread" doc:"bytes that the log of a thread may take"`
	MaxTotal      uint32                          `json:"maxTotal" doc:"bytes that all logs may take"`
	Chunks        int32                           `json:"chunks" doc:"chunks that all logs have"`
	Threads       int                             `json:"threads" doc:"threads that have a log"`
	Frequency     uint64                          `json:"frequency" doc:"ticks of its clock in a second"`
	Messages      iter.Seq2[StressMessage, error] `json:"messages" doc:"the newest first"`
}

// About keeps only messages with a among their arguments, such as promotions and relocations of an object.
func (l *StressLog) About(a target.Addr) {
	if l == nil || l.Messages == nil {
		return
	}
	all := l.Messages
	l.Messages = func(yield func(StressMessage, error) bool) {
		for m, err := range all {
			if (err != nil || slices.Contains(m.Arguments, a)) && !yield(m, err) {
				return
			}
		}
	}
}

// A StressMessage is a message of the stress log.
type StressMessage struct {
	OSID       uint32        `json:"osId" doc:"OS id of the thread"`
	Seconds    float64       `json:"seconds" doc:"since the log began"`
	Facility   uint32        `json:"facility" doc:"mask of the facilities that it belongs to"`
	Facilities []string      `json:"facilities,omitempty" doc:"their names"`
	Text       Text          `json:"text" doc:"the message; null if its format string, which is in the file of the runtime, can't be read"`
	Format     target.Addr   `json:"format" doc:"address of the format string"`
	Arguments  []target.Addr `json:"arguments,omitempty" doc:"the numbers in the message, or addresses"`
}
