package processtext

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// TestAssemblies: the short list warns of what it shows alone, and the long one of the details, too.
func TestAssemblies(t *testing.T) {
	version, name := target.Corruptf("version"), target.Corruptf("name")
	var m answer.LoadedModule
	m.Name, m.Version = m.Text("", name), m.Text("", version)
	m.MetadataErr = target.Corruptf("metadata")
	m.Note(m.MetadataErr)
	m.PDBErr = target.Corruptf("pdb")
	m.Note(m.PDBErr)
	end := errors.New("end")
	list := func(yield func(*answer.LoadedModule, error) bool) {
		_ = yield(&m, nil) && yield(nil, end)
	}
	for verbose, want := range map[bool]string{false: "name, end", true: "name, version, metadata, pdb, end"} {
		var b strings.Builder
		var warned []string
		Assemblies(report.NewPage(&b, false, func(err error) { warned = append(warned, err.Error()) }), list, verbose)
		assert.Equal(t, want, strings.Join(warned, ", "))
		assert.Equal(t, verbose, strings.Contains(b.String(), "MetadataAddress:"))
	}
	Assemblies(report.NewPage(&strings.Builder{}, false, nil), nil, false)
}
