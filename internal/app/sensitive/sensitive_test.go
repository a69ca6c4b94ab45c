package sensitive_test

import (
	"context"
	"fmt"
	"os"
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
	leastRecall = 60 // of 60
	mostFalse   = 2  // of 200
)

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
	falses := 0
	for _, l := range looks {
		if mask(l.value) != l.value {
			t.Logf("masked: %s: %s", l.value, mask(l.value))
			falses++
		}
	}
	t.Logf("recall %d of %d, %d of %d others are masked", recall, len(plants), falses, len(looks))
	assert.GreaterOrEqual(t, recall, leastRecall)
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

// TestNamesStay checks that no name of the class library counts as a secret in a web application: its constants for the names of headers and
// settings have names of secrets.
func TestNamesStay(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		v, err := d.View("")
		require.NoError(t, err)
		m, err := sensitive.Mask(t.Context(), v.Process)
		require.NoError(t, err)
		types := 0
		rt, err := v.Runtime()
		require.NoError(t, err)
		for mt, err := range rt.LoadedTypes() {
			if err != nil {
				continue
			}
			name, err := rt.TypeName(mt.Addr, dac.NameManaged)
			if err != nil || !answer.LibraryMethod(name) {
				continue
			}
			types++
			assert.Equal(t, name, m(name))
		}
		return types
	})
}
