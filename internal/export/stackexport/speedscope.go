package stackexport

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// speedscopeSchema identifies the format to tools.
const speedscopeSchema = "https://www.speedscope.app/file-format-schema.json"

type speedscopeFile struct {
	Schema   string              `json:"$schema"`
	Name     string              `json:"name"`
	Exporter string              `json:"exporter"`
	Active   int                 `json:"activeProfileIndex"`
	Shared   speedscopeShared    `json:"shared"`
	Profiles []speedscopeProfile `json:"profiles"`
}

type speedscopeShared struct {
	Frames []speedscopeFrame `json:"frames"`
}

// A speedscopeFrame is a place in the source. Two calls from one line share it.
type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

type speedscopeProfile struct {
	Type    string  `json:"type"`
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Start   int     `json:"startValue"`
	End     int     `json:"endValue"`
	Samples [][]int `json:"samples"`
	Weights []int   `json:"weights"`
}

// Speedscope writes the file format of speedscope (https://www.speedscope.app/file-format-schema.json): first a
// profile of all threads, then one for each thread that has frames. The weight of a thread is 1. name is the title of
// the file.
func Speedscope(w io.Writer, p *answer.Profile, name string) error {
	f := speedscopeFile{Schema: speedscopeSchema, Name: report.Escape(name), Exporter: "sosgo"}
	shared := speedscopeFrames(p, &f)
	all := speedscopeProfile{Type: "sampled", Name: "all threads", Unit: "none", Samples: [][]int{}, Weights: []int{}}
	f.Profiles = append(f.Profiles, all)
	for i := range p.Threads {
		s := &p.Threads[i]
		if len(s.Frames) == 0 {
			continue
		}
		sample := make([]int, 0, len(s.Frames))
		for _, k := range slices.Backward(s.Frames) {
			sample = append(sample, shared[k])
		}
		all.Samples, all.Weights = append(all.Samples, sample), append(all.Weights, 1)
		f.Profiles = append(f.Profiles, speedscopeProfile{Type: "sampled", Name: report.Escape(title(s)), Unit: "none", End: 1,
			Samples: [][]int{sample}, Weights: []int{1}})
	}
	all.End = len(all.Samples)
	f.Profiles[0] = all
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(&f)
}

// speedscopeFrames fills f's frames, and returns the index of each frame of p.
func speedscopeFrames(p *answer.Profile, f *speedscopeFile) []int {
	index := map[speedscopeFrame]int{}
	shared := make([]int, len(p.Frames))
	f.Shared.Frames = []speedscopeFrame{}
	for i := range p.Frames {
		at := speedscopeFrame{report.Escape(p.Frames[i].Name), report.Escape(p.Frames[i].File), p.Frames[i].Line}
		k, ok := index[at]
		if !ok {
			k = len(f.Shared.Frames)
			index[at] = k
			f.Shared.Frames = append(f.Shared.Frames, at)
		}
		shared[i] = k
	}
	return shared
}
