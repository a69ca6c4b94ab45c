package stackexport

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/test/exportread"
)

// sample has three threads: two in the same place, and one in a method with a hostile name.
func sample() *answer.Profile {
	p := answer.NewProfile()
	main := p.Frame(answer.ProfileFrame{Name: "App.Main()", Module: "app.dll", File: "/src/a.cs", Line: 7, IP: 0x1000})
	work := p.Frame(answer.ProfileFrame{Name: "App.Work(Int32, String)", Module: "app.dll", File: "/src/a.cs", Line: 20, IP: 0x2000})
	again := p.Frame(answer.ProfileFrame{Name: "App.Work(Int32, String)", Module: "app.dll", File: "/src/a.cs", Line: 20, IP: 0x2010})
	evil := p.Frame(answer.ProfileFrame{Name: "a;b\n9 \x1b[2J", IP: 0x3000})
	p.Threads = []answer.ProfileStack{
		{OSID: 1, ManagedID: 1, Frames: []int{work, again, main}},
		{Index: 1, OSID: 2, ManagedID: 4, Name: "pool", Frames: []int{work, again, main}},
		{Index: 2, OSID: 3, Frames: []int{evil}},
		{Index: 3, OSID: 4, Name: "no frames"},
	}
	p.Program = "app.dll"
	return p
}

func TestFrameIsHeldOnce(t *testing.T) {
	p := sample()
	assert.Equal(t, 1, p.Frame(p.Frames[1]))
	assert.Len(t, p.Frames, 4)
}

func TestFolded(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Folded(&b, sample(), FoldedOptions{}))
	assert.Equal(t, "App.Main();App.Work(Int32, String);App.Work(Int32, String) 2\na,b\\n9 \\x1b[2J 1\n", b.String())
	b.Reset()
	require.NoError(t, Folded(&b, sample(), FoldedOptions{PerThread: true}))
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	require.Len(t, lines, 3)
	assert.Equal(t, `thread 1 (0x2) "pool";App.Main();App.Work(Int32, String);App.Work(Int32, String) 1`, lines[1])
}

func TestSpeedscope(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Speedscope(&b, sample(), "core.1"))
	var f speedscopeFile
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&f))
	assert.Equal(t, speedscopeSchema, f.Schema)
	assert.Equal(t, "core.1", f.Name)
	require.Len(t, f.Profiles, 4, "a thread without frames is no profile")
	require.Len(t, f.Shared.Frames, 3, "two calls of one line are one frame")
	for _, p := range f.Profiles {
		assert.Equal(t, "sampled", p.Type)
		require.Len(t, p.Weights, len(p.Samples))
		assert.Equal(t, len(p.Samples), p.End-p.Start, "the weights add up to the range")
		for _, s := range p.Samples {
			require.NotEmpty(t, s)
			for _, i := range s {
				require.Less(t, i, len(f.Shared.Frames))
			}
		}
	}
	first := f.Profiles[0].Samples[0]
	assert.Equal(t, "App.Main()", f.Shared.Frames[first[0]].Name, "the outermost caller comes first")
	assert.Equal(t, `thread 1 (0x2) "pool"`, f.Profiles[2].Name)
}

func TestPprof(t *testing.T) {
	var b bytes.Buffer
	named := answer.NewProfile()
	wait := named.Frame(answer.ProfileFrame{Name: "Monitor.Wait(Object)", Module: "System.Private.CoreLib.dll"})
	named.Threads, named.Program = []answer.ProfileStack{{Frames: []int{wait}}}, "app.dll"
	require.NoError(t, Pprof(&b, named))
	assert.Equal(t, "app.dll", exportread.ReadProfile(t, b.Bytes()).Mappings[0], "the first mapping is the program")
	b.Reset()
	require.NoError(t, Pprof(&b, sample()))
	p := exportread.ReadProfile(t, b.Bytes())
	assert.Equal(t, [][2]string{{"threads", "count"}}, p.SampleTypes)
	require.Len(t, p.Samples, 3)
	s := p.Samples[1]
	assert.Equal(t, []int64{1}, s.Values)
	assert.Equal(t, "pool", s.Labels["thread"])
	assert.Equal(t, map[string]int64{"os_id": 2, "managed_id": 4}, s.Numbers)
	require.Len(t, s.Frames, 3)
	leaf := s.Frames[0]
	assert.Equal(t, uint64(0x2000), leaf.Address)
	assert.Equal(t, "app.dll", leaf.Mapping)
	assert.Equal(t, "App.Work(Int32, String)", leaf.Function)
	assert.Equal(t, "/src/a.cs", leaf.File)
	assert.Equal(t, int64(20), leaf.Line)
	assert.Equal(t, leaf.FunctionID, s.Frames[1].FunctionID, "one method is one function")
}

type fullDisk struct{}

var errFull = errors.New("the disk is full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	assert.ErrorIs(t, Folded(fullDisk{}, sample(), FoldedOptions{}), errFull)
	assert.ErrorIs(t, Speedscope(fullDisk{}, sample(), ""), errFull)
	assert.ErrorIs(t, Pprof(fullDisk{}, sample()), errFull)
}

func TestNoStacks(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Folded(&b, answer.NewProfile(), FoldedOptions{}))
	assert.Empty(t, b.String())
	require.NoError(t, Speedscope(&b, answer.NewProfile(), "empty"))
	assert.NotContains(t, b.String(), "null")
	b.Reset()
	require.NoError(t, Pprof(&b, answer.NewProfile()))
	assert.Empty(t, exportread.ReadProfile(t, b.Bytes()).Samples)
}
