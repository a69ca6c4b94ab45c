package stackexport

import (
	"io"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/export/internal/profileproto"
	"github.com/sosgo/sosgo/internal/front/report"
)

// Pprof writes a profile for pprof: a sample for each thread, with the value 1 and the labels "thread" (name), "os_id"
// and "managed_id". Modules are mappings without addresses.
func Pprof(w io.Writer, p *answer.Profile) error {
	threads := profileproto.ValueType{Type: "threads", Unit: "count"}
	out := profileproto.New([]profileproto.ValueType{threads}, threads.Type, threads)
	if p.Program != "" {
		out.Mapping(report.Escape(p.Program), true) // pprof calls a profile by its first mapping
	}
	locations := make([]uint64, len(p.Frames))
	for i := range p.Frames {
		f := &p.Frames[i]
		mapping := out.Mapping(report.Escape(f.Module), true)
		locations[i] = out.Location(mapping, uint64(f.IP), out.Function(report.Escape(f.Name), report.Escape(f.File)), int64(f.Line))
	}
	var stack []uint64
	for i := range p.Threads {
		s := &p.Threads[i]
		if len(s.Frames) == 0 {
			continue
		}
		stack = stack[:0]
		for _, k := range s.Frames {
			stack = append(stack, locations[k])
		}
		labels := []profileproto.Label{{Key: "os_id", Number: int64(s.OSID)}}
		if s.ManagedID != 0 {
			labels = append(labels, profileproto.Label{Key: "managed_id", Number: int64(s.ManagedID)})
		}
		if s.Name != "" {
			labels = append(labels, profileproto.Label{Key: "thread", Text: report.Escape(s.Name)})
		}
		out.Sample(stack, []int64{1}, labels...)
	}
	return out.Write(w)
}
