package sensitive_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/sensitive"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

// planted is the folder of a dump of Planted.cs. Its facts.txt is the program's output: its secrets, and similar
// values.
const planted = "../../../testdata/dumps/secrets/net10-secrets"

// A fact is a line that the program printed.
type fact struct{ kind, value string }

func facts(t *testing.T) (plants, looks []fact) {
	t.Helper()
	text, err := os.ReadFile(planted + "/facts.txt")
	if err != nil {
		t.Skip("no canned dump")
	}
	for line := range strings.Lines(string(text)) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch word {
		case "PLANT":
			kind, value, _ := strings.Cut(rest, " ")
			plants = append(plants, fact{kind, strings.ReplaceAll(value, `\n`, "\n")})
		case "LOOK":
			looks = append(looks, fact{"look", rest})
		}
	}
	return plants, looks
}

// Minimum number of masked secrets, and maximum number of other masked texts; see docs/secrets.md.
const (
	leastRecall = 60  // of 60 in the dump
	leastAll    = 104 // of 106, with planted.txt
	mostFalse   = 2   // of 382
)

// morePlanted returns the secrets of planted.txt, with the texts that they stand in.
func morePlanted(t *testing.T) (plants []fact, texts []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/planted.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(fields) == 3 {
			plants = append(plants, fact{fields[0], fields[1]})
			texts = append(texts, strings.Replace(strings.ReplaceAll(fields[2], `\n`, "\n"), "%s", fields[1], 1))
		}
	}
	return plants, texts
}

// TestPlanted measures how many planted secrets are masked wherever they appear, without a name or form beside them,
// and how many other texts are.
func TestPlanted(t *testing.T) {
	plants, looks := facts(t)
	require.Len(t, plants, 60)
	require.Len(t, looks, 200)
	d, _ := testdump.OverlaidFile(t, planted+"/net10-secrets.dmp.zst", sosgo.Options{Offline: true})
	v, err := d.View("")
	require.NoError(t, err)
	mask, err := sensitive.Mask(t.Context(), v.Process)
	require.NoError(t, err)
	found := map[string]int{}
	kinds := map[string]int{}
	recall := 0
	for _, p := range plants {
		kinds[p.kind]++
		whole := true
		for line := range strings.Lines(p.value) {
			line = strings.TrimSpace(line)
			whole = whole && !strings.Contains(mask("a "+line+" b"), line)
		}
		if whole {
			found[p.kind]++
			recall++
		} else {
			t.Logf("not masked: %v", p)
		}
	}
	assert.Len(t, kinds, 20)
	assert.GreaterOrEqual(t, recall, leastRecall)

	// More kinds, learnt from texts as from the strings of the heap.
	more, texts := morePlanted(t)
	learnt := secrets.NewMasker()
	for _, text := range texts {
		if secrets.Cued([]byte(text)) != 0 {
			learnt.Learn(text)
		}
	}
	for _, p := range more {
		kinds[p.kind]++
		if strings.Contains(learnt.Text("a "+p.value+" b"), p.value) {
			t.Logf("not masked: %v", p)
		} else {
			recall++
		}
	}
	assert.GreaterOrEqual(t, len(kinds), 45)
	assert.GreaterOrEqual(t, recall, leastAll)
	assert.Equal(t, 106, len(plants)+len(more))

	text, err := os.ReadFile("testdata/lookalikes.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		looks = append(looks, fact{"look", strings.TrimSuffix(line, "\n")})
	}
	falses := 0
	for _, l := range looks {
		if masked := learnt.Text(mask(l.value)); masked != l.value {
			t.Logf("masked: %s: %s", l.value, masked)
			falses++
		}
	}
	t.Logf("recall %d of %d, %d of %d others are masked", recall, len(plants)+len(more), falses, len(looks))
	assert.GreaterOrEqual(t, len(looks), 300)
	assert.LessOrEqual(t, falses, mostFalse)
	known, err := sensitive.Secrets(t.Context(), v.Process)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, known.Values, leastRecall)
	sum := 0
	for _, k := range known.Kinds {
		sum += k.Values
	}
	assert.Equal(t, known.Values, sum)
}

// TestSettings learns the values of options, in one argument or two, and of settings.
func TestSettings(t *testing.T) {
	p := &answer.Process{Command: "app --password=one-11"}
	for i, a := range []string{"app", "--api-key", "two-22", "--db-password=three-33", "--no-auth", "-v", "plain-44", "redis://:four-55@host"} {
		p.Arguments = append(p.Arguments, answer.NamedValue{Name: fmt.Sprint(i), Value: answer.Text{S: a}})
	}
	p.Environment = []answer.NamedValue{{Name: "SHOP_SECRET", Value: answer.Text{S: "five-66"}}, {Name: "REGION", Value: answer.Text{S: "region-77"}}}
	p.Configurations = []answer.Configuration{{Keys: []answer.ConfigurationKey{{NamedValue: answer.NamedValue{Name: "Db:Password", Value: answer.Text{S: "six-88"}}}}}}
	m := secrets.NewMasker()
	sensitive.Settings(m, p)
	sensitive.Settings(nil, p)
	sensitive.Settings(m, nil)
	assert.Equal(t, []string{"five-66", "four-55", "one-11", "six-88", "three-33", "two-22"}, m.Values())
	require.Error(t, new(sensitive.Reader).Objects(context.Background(), m, nil, scan, nil))
}

// TestNamesStay checks that no name counts as a secret in a web application: the class library's constants for the
// names of headers and settings have names of secrets. It counts types, methods, modules, routes, headers and options.
func TestNamesStay(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		v, err := d.View("")
		require.NoError(t, err)
		counts := namesStay(t, v)
		for _, kind := range kindsOfNames {
			require.Positive(t, counts[kind], kind)
		}
		return counts["types"]
	})
}

// TestNamesStayElsewhere does so for other programs that use libraries of ASP.NET Core, or stand-ins for them.
func TestNamesStayElsewhere(t *testing.T) {
	for _, name := range []string{"sessions/net10-sessions", "host/net10-host", "host/net10-hostfails", "setup/net10-setup", "libraries/net10-libraries"} {
		t.Run(name, func(t *testing.T) {
			path := "../../../testdata/dumps/" + name + "/" + filepath.Base(name) + ".dmp.zst"
			if _, err := os.Stat(path); err != nil {
				t.Skip("no canned dump")
			}
			d, _ := testdump.OverlaidFile(t, path, sosgo.Options{Offline: true})
			v, err := d.View("")
			require.NoError(t, err)
			require.Positive(t, namesStay(t, v)["types"])
		})
	}
}

// kindsOfNames are the kinds of names that namesStay counts.
var kindsOfNames = []string{"types", "methods", "modules", "routes", "headers", "options"}

// namesStay checks the names of a process and returns how many there are of each kind.
func namesStay(t *testing.T, v *sosgo.View) (counts map[string]int) {
	t.Helper()
	mask, err := sensitive.Mask(t.Context(), v.Process)
	require.NoError(t, err)
	counts = map[string]int{}
	stays := func(kind, name string) {
		counts[kind]++
		if masked := mask(name); masked != name {
			t.Errorf("%s: %s: %s", kind, name, masked)
		}
	}
	routing := namesOfTypes(t, v, stays)
	for _, m := range v.Dump().Target().Modules() {
		stays("modules", m.Path)
	}
	r, err := v.Objects()
	require.NoError(t, err)
	for f, err := range r.Statics(t.Context(), objects.StaticsOptions{Type: "Names"}) {
		if err != nil || !answer.LibraryMethod(f.DeclaringType.S) {
			continue
		}
		if text, err := r.Proven(target.Addr(f.Stored.Value.Bits)); err == nil && text.IsString() {
			if s, err := text.Text(100); err == nil {
				stays("headers", s)
				stays("constants", f.DeclaringType.S+"."+f.Name.S+" = "+s)
			}
		}
	}
	requests, err := v.Requests(t.Context(), sosgo.RequestOptions{Headers: true})
	require.NoError(t, err)
	for i := range requests.Requests {
		q := &requests.Requests[i]
		for _, h := range q.Headers {
			stays("headers", h.Name)
		}
		stays("routes", q.Route.String())
	}
	if routing {
		namesOfRoutes(t, v, stays)
	}
	settings, err := v.Settings(t.Context(), sosgo.SettingsOptions{Full: true})
	require.NoError(t, err)
	lists := [][]answer.NamedValue{settings.Environment, settings.Properties, settings.Switches}
	for _, c := range settings.Configurations {
		for _, k := range c.Keys {
			lists = append(lists, []answer.NamedValue{k.NamedValue})
		}
	}
	for _, list := range lists {
		for _, o := range list {
			stays("options", o.Name)
		}
	}
	t.Logf("names that stay: %v", counts)
	return counts
}

// namesOfTypes calls stays with the names of types and methods, and with the fields of types of options. It reports
// whether the process has the type of routes.
func namesOfTypes(t *testing.T, v *sosgo.View, stays func(kind, name string)) (routing bool) {
	t.Helper()
	rt, err := v.Runtime()
	require.NoError(t, err)
	code := dac.CodeOf(rt)
	for mt, err := range rt.LoadedTypes() {
		if err != nil {
			continue
		}
		name, err := rt.TypeName(mt.Addr, dac.NameManaged)
		if err != nil {
			continue
		}
		stays("types", name)
		routing = routing || name == routePattern
		for m, err := range code.Methods(mt) {
			if err != nil {
				continue
			}
			if method, err := code.MethodName(m, dac.MethodFull); err == nil {
				stays("methods", method)
			}
		}
		if !strings.HasSuffix(name, "Options") {
			continue
		}
		described, err := v.Type(t.Context(), mt.Addr, objects.TypeOptions{Fields: true})
		if err != nil {
			continue
		}
		for i := range described.Fields {
			field := strings.TrimSuffix(strings.TrimPrefix(described.Fields[i].Name.String(), "<"), ">k__BackingField")
			stays("options", field)
			stays("options", name+"."+field)
		}
	}
	return routing
}

const routePattern = "Microsoft.AspNetCore.Routing.Patterns.RoutePattern"

// namesOfRoutes calls stays with the patterns of all routes of the process.
func namesOfRoutes(t *testing.T, v *sosgo.View, stays func(kind, name string)) {
	t.Helper()
	found, err := v.Query(t.Context(), "from "+routePattern+" | select RawText", query.Options{})
	require.NoError(t, err)
	for row, err := range found.Rows {
		if err == nil {
			stays("routes", row.Cells[0].Text)
		}
	}
}
