package heappprof

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/report"
)

// Pprof writes the profile for pprof: inuse_objects and inuse_space, with the generation of the objects as a label.
func (p *Profile) Pprof(w io.Writer) error {
	objects, space := &profile.ValueType{Type: "inuse_objects", Unit: "count"}, &profile.ValueType{Type: "inuse_space", Unit: "bytes"}
	out := &profile.Profile{SampleType: []*profile.ValueType{objects, space}, DefaultSampleType: space.Type,
		PeriodType: &profile.ValueType{Type: "space", Unit: "bytes"}, Period: 1}
	locations := p.locations(out)
	var frames []int32
	for i := range p.nodes {
		frames = p.path(frames[:0], int32(i))
		for gen, s := range p.nodes[i].sums {
			if s.objects == 0 {
				continue
			}
			sample := &profile.Sample{Value: []int64{s.objects, s.size}, Location: make([]*profile.Location, len(frames)),
				Label: map[string][]string{"generation": {heap.Generation(gen).String()}}}
			for k, f := range frames {
				sample.Location[k] = locations[f]
			}
			out.Sample = append(out.Sample, sample)
		}
	}
	return out.Write(w)
}

// locations fills the profile's functions, and returns the location of each frame. The file of a function is the assembly of
// its type.
func (p *Profile) locations(out *profile.Profile) []*profile.Location {
	mapping := &profile.Mapping{ID: 1, File: "heap", HasFunctions: true, HasFilenames: true}
	out.Mapping = []*profile.Mapping{mapping}
	used := make([]bool, len(p.frames))
	for i := range p.nodes {
		used[p.nodes[i].frame] = true
	}
	locations := make([]*profile.Location, len(p.frames))
	functions := map[frame]*profile.Function{}
	for i, f := range p.frames {
		if !used[i] {
			continue
		}
		fn := functions[f]
		if fn == nil {
			name := report.Escape(f.name)
			fn = &profile.Function{ID: uint64(len(out.Function) + 1), Name: name, SystemName: name, Filename: report.Escape(f.assembly)}
			functions[f] = fn
			out.Function = append(out.Function, fn)
		}
		locations[i] = &profile.Location{ID: uint64(len(out.Location) + 1), Mapping: mapping, Line: []profile.Line{{Function: fn}}}
		out.Location = append(out.Location, locations[i])
	}
	return locations
}

// foldedName keeps a name from being taken apart at the separators of the form.
var foldedName = strings.NewReplacer(";", ",")

// Folded writes a line for each path with its bytes, for flame graphs. Lines are in the order of the text.
func (p *Profile) Folded(w io.Writer) error {
	names := make([]string, len(p.frames))
	for i, f := range p.frames {
		names[i] = foldedName.Replace(report.Escape(f.name))
	}
	sums := map[string]int64{}
	var frames []int32
	for i := range p.nodes {
		objects, size := p.nodes[i].total()
		if objects == 0 {
			continue
		}
		frames = p.path(frames[:0], int32(i))
		var b strings.Builder
		for _, f := range slices.Backward(frames) {
			if b.Len() > 0 {
				b.WriteByte(';')
			}
			b.WriteString(names[f])
		}
		sums[b.String()] += size
	}
	lines := make([]string, 0, len(sums))
	for path, size := range sums {
		lines = append(lines, path+" "+strconv.FormatInt(size, 10)+"\n")
	}
	slices.Sort(lines)
	out := bufio.NewWriter(w)
	for _, l := range lines {
		if _, err := out.WriteString(l); err != nil {
			return err
		}
	}
	return out.Flush()
}

// Speedscope writes the profile for https://www.speedscope.app, weighed by bytes. title is that of the file.
func (p *Profile) Speedscope(w io.Writer, title string) error {
	type shared struct {
		Name string `json:"name"`
		File string `json:"file,omitempty"`
	}
	frames := make([]shared, len(p.frames))
	for i, f := range p.frames {
		frames[i] = shared{report.Escape(f.name), report.Escape(f.assembly)}
	}
	samples, weights, total := [][]int32{}, []int64{}, int64(0)
	for i := range p.nodes {
		objects, size := p.nodes[i].total()
		if objects == 0 {
			continue
		}
		path := p.path(nil, int32(i))
		slices.Reverse(path)
		samples, weights, total = append(samples, path), append(weights, size), total+size
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(map[string]any{
		"$schema": "https://www.speedscope.app/file-format-schema.json", "name": report.Escape(title), "exporter": "sosgo", "activeProfileIndex": 0,
		"shared": map[string]any{"frames": frames},
		"profiles": []any{map[string]any{"type": "sampled", "name": "retained", "unit": "bytes", "startValue": 0, "endValue": total,
			"samples": samples, "weights": weights}},
	})
}
