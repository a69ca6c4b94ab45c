package heappprof

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/export/internal/profileproto"
	"github.com/sosgo/sosgo/internal/front/report"
)

// Pprof writes the profile for pprof: inuse_objects and inuse_space, with the generation of objects as a label.
func (p *Profile) Pprof(w io.Writer) error {
	objects, space := profileproto.ValueType{Type: "inuse_objects", Unit: "count"}, profileproto.ValueType{Type: "inuse_space", Unit: "bytes"}
	out := profileproto.New([]profileproto.ValueType{objects, space}, space.Type, profileproto.ValueType{Type: "space", Unit: "bytes"})
	locations := p.locations(out)
	var frames []int32
	var stack []uint64
	for i := range p.nodes {
		frames, stack = p.path(frames[:0], int32(i)), stack[:0]
		for _, f := range frames {
			stack = append(stack, locations[f])
		}
		for gen, s := range p.nodes[i].sums {
			if s.objects > 0 {
				out.Sample(stack, []int64{s.objects, s.size}, profileproto.Label{Key: "generation", Text: heap.Generation(gen).String()})
			}
		}
	}
	return out.Write(w)
}

// locations adds the functions to a profile, and returns the location of each used frame. The file of a
// function is the assembly of its type.
func (p *Profile) locations(out *profileproto.Profile) []uint64 {
	mapping := out.Mapping("heap", false)
	used := make([]bool, len(p.frames))
	for i := range p.nodes {
		used[p.nodes[i].frame] = true
	}
	locations := make([]uint64, len(p.frames))
	for i, f := range p.frames {
		if used[i] {
			locations[i] = out.Location(mapping, 0, out.Function(report.Escape(f.name), report.Escape(f.assembly)), 0)
		}
	}
	return locations
}

// foldedName replaces the separators of the format in names.
var foldedName = strings.NewReplacer(";", ",")

// Folded writes a line with the bytes of each path, for flame graphs. Lines are sorted.
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

// Speedscope writes the profile for https://www.speedscope.app, weighted by bytes. title is the title of the
// file.
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
