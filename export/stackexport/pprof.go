package stackexport

import (
	"io"

	"github.com/google/pprof/profile"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
)

// Pprof writes a profile for pprof (github.com/google/pprof, profile.proto,
// compressed): a sample for each thread, with the value 1 and the labels
// "thread" (name), "os_id" and "managed_id".
func Pprof(w io.Writer, p *answer.Profile) error {
	threads := &profile.ValueType{Type: "threads", Unit: "count"}
	out := &profile.Profile{SampleType: []*profile.ValueType{threads}, DefaultSampleType: threads.Type,
		PeriodType: &profile.ValueType{Type: threads.Type, Unit: threads.Unit}, Period: 1}
	locations := pprofLocations(p, out)
	for i := range p.Threads {
		s := &p.Threads[i]
		if len(s.Frames) == 0 {
			continue
		}
		sample := &profile.Sample{Value: []int64{1}, Location: make([]*profile.Location, 0, len(s.Frames)),
			NumLabel: map[string][]int64{"os_id": {int64(s.OSID)}}}
		if s.ManagedID != 0 {
			sample.NumLabel["managed_id"] = []int64{int64(s.ManagedID)}
		}
		if s.Name != "" {
			sample.Label = map[string][]string{"thread": {report.Escape(s.Name)}}
		}
		for _, k := range s.Frames {
			sample.Location = append(sample.Location, locations[k])
		}
		out.Sample = append(out.Sample, sample)
	}
	return out.Write(w)
}

// pprofLocations fills the profile's locations and functions and returns the
// location of each frame of p. Modules are mappings without addresses, which
// tell pprof that all names are known.
func pprofLocations(p *answer.Profile, out *profile.Profile) []*profile.Location {
	type function struct{ name, module, file string }
	functions := map[function]*profile.Function{}
	mappings := map[string]*profile.Mapping{}
	locations := make([]*profile.Location, len(p.Frames))
	for i := range p.Frames {
		f := &p.Frames[i]
		key := function{f.Name, f.Module, f.File}
		fn := functions[key]
		if fn == nil {
			fn = &profile.Function{ID: uint64(len(out.Function) + 1), Name: report.Escape(f.Name),
				SystemName: report.Escape(f.Name), Filename: report.Escape(f.File)}
			functions[key] = fn
			out.Function = append(out.Function, fn)
		}
		m := mappings[f.Module]
		if m == nil {
			m = &profile.Mapping{ID: uint64(len(out.Mapping) + 1), File: report.Escape(f.Module), HasFunctions: true,
				HasFilenames: true, HasLineNumbers: true}
			mappings[f.Module] = m
			out.Mapping = append(out.Mapping, m)
		}
		locations[i] = &profile.Location{ID: uint64(i + 1), Address: uint64(f.IP), Mapping: m,
			Line: []profile.Line{{Function: fn, Line: int64(f.Line)}}}
		out.Location = append(out.Location, locations[i])
	}
	return locations
}
