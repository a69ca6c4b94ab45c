package cli

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

type shared struct {
	Verbose bool `opt:"verbose,v" help:"more"`
}

type allKinds struct {
	shared
	Limit  int           `opt:"limit" range:"0:100" default:"50" excludes:"all" help:"rows"`
	All    bool          `opt:"all" help:"everything"`
	Top    *int          `opt:"top" requires:"all,verbose" help:"first rows"`
	Size   uint64        `opt:"size" kind:"size" help:"bytes"`
	Share  float64       `opt:"share" help:"a share"`
	Bound  int64         `opt:"bound" kind:"size" help:"bytes"`
	Scan   func()        // no option
	Time   time.Duration `opt:"time" help:"how long"`
	MT     *target.Addr  `opt:"mt" help:"a type"`
	Kinds  []string      `opt:"kind" choices:"a|b" help:"kinds"`
	Object Object        `arg:"object" help:"the object"`
	More   []target.Addr `arg:"more,optional" help:"others"`

	kept int // not an option
}

// bindAll binds a command line to allKinds.
func bindAll(t *testing.T, words ...string) (*allKinds, error) {
	t.Helper()
	c := Do(Command{Name: "x", Summary: "s", Group: GroupShell}, func(*Context, *allKinds) (report.Answer, error) { return report.Answer{}, nil })
	require.NoError(t, Check([]Command{c}))
	p := newParser(&c, nil)
	if _, err := p.parse(literalWords(words), false); err != nil {
		return nil, err
	}
	if err := p.bind(); err != nil {
		return nil, err
	}
	return p.own.filled().(*allKinds), nil
}

// TestBind checks that fields get what was given, and that ranges, choices, exclusions and requirements hold.
func TestBind(t *testing.T) {
	o, err := bindAll(t, "1f00")
	require.NoError(t, err)
	assert.Equal(t, &allKinds{Limit: 50, Object: Object{Addr: 0x1f00, Given: true}}, o, "nothing but defaults")
	assert.Zero(t, o.kept)

	o, err = bindAll(t, "-v", "-limit", "7", "-top=3", "-size", "2k", "-share", "5%", "-time", "2m", "-mt", "10", "-kind", "A", "-kind", "b", "1", "2", "3")
	require.NoError(t, err)
	assert.True(t, o.Verbose)
	assert.Equal(t, 7, o.Limit)
	assert.Equal(t, 3, *o.Top)
	assert.Equal(t, uint64(2048), o.Size)
	assert.InDelta(t, 5, o.Share, 0)
	assert.Equal(t, 2*time.Minute, o.Time)
	assert.Equal(t, target.Addr(0x10), *o.MT)
	assert.Equal(t, []string{"a", "b"}, o.Kinds)
	assert.Equal(t, []target.Addr{2, 3}, o.More)

	for want, words := range map[string][]string{
		"OBJECT is missing":                  {},
		"8388608t is too large":              {"-bound", "8388608t", "1"},
		"101 is not between 0 and 100":       {"-limit", "101", "1"},
		"-limit and -all exclude each other": {"-limit", "1", "-all", "1"},
		"-top goes with -all or -verbose":    {"-top", "1", "1"},
		`"200%" is not a share`:              {"-share", "200%", "1"},
		`"soon" is not a duration`:           {"-time", "soon", "1"},
		`"c" is none of a, b`:                {"-kind", "c", "1"},
		"MORE":                               {"1", "x"},
		"the option -size needs a value":     {"1", "-size"},
	} {
		_, err := bindAll(t, words...)
		assert.ErrorContains(t, err, want)
	}
	_, err = bindAll(t, "-limit", "1", "-all=false", "1")
	assert.NoError(t, err, "an option that is switched off excludes nothing")
}

// TestDescribe checks that help lists what a declaration has: kinds, ranges, choices, defaults, exclusions and
// requirements.
func TestDescribe(t *testing.T) {
	c := declares[allKinds](Command{Name: "x", Aliases: []string{"y"}, Summary: "s", Group: GroupShell, NeedsDump: true, Examples: []Example{{"x 1", "one"}}})
	h := describe(&c)
	assert.Equal(t, []string{"y"}, h.Aliases)
	assert.True(t, h.Dump)
	assert.Equal(t, []helpExample{{"x 1", "one"}}, h.Examples)
	least, most := int64(0), int64(100)
	options := map[string]helpOption{}
	for _, o := range h.Options {
		options[o.Name] = o
	}
	assert.Equal(t, helpOption{Name: "limit", Aliases: []string{}, Excludes: []string{"all"},
		helpValue: helpValue{Kind: "number", Value: "N", Summary: "rows (50)", Min: &least, Max: &most, Default: "50"}}, options["limit"])
	assert.Equal(t, helpOption{Name: "verbose", Aliases: []string{"v"}, helpValue: helpValue{Kind: "flag", Summary: "more"}}, options["verbose"])
	assert.Equal(t, []string{"all", "verbose"}, options["top"].Requires)
	assert.Equal(t, helpValue{Kind: "text", Value: "a|b", Summary: "kinds", Choices: []string{"a", "b"}, Many: true}, options["kind"].helpValue)
	for name, kind := range map[string]string{"size": "size", "share": "text", "time": "duration", "mt": "address"} {
		assert.Equal(t, kind, options[name].Kind, name)
	}
	require.Len(t, h.Args, 2)
	assert.Equal(t, "object", h.Args[0].Name)
	assert.True(t, h.Args[0].Expression)
	assert.True(t, h.Args[1].Optional && h.Args[1].Many)
}

// TestDeclareWrong checks that Check finds tags that can't be meant.
func TestDeclareWrong(t *testing.T) {
	for _, wrong := range []any{
		struct {
			A int `help:"h"`
		}{},
		struct {
			A int `opt:"a" range:"1" help:"h"`
		}{},
		struct {
			A int `opt:"a" default:"x" help:"h"`
		}{},
		struct {
			A bool `opt:"a" excludes:"b" help:"h"`
		}{},
		struct {
			A string `arg:"a,maybe" help:"h"`
		}{},
		struct {
			A int `opt:"a" min:"1" help:"h"`
		}{},
	} {
		c := Command{Name: "x", Summary: "s", Group: GroupShell, Ask: func(*Context) (report.Answer, error) { return report.Answer{}, nil }}
		c.params = reflect.TypeOf(wrong)
		assert.Error(t, Check([]Command{c}), "%T", wrong)
	}
}
