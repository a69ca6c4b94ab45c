package agreement

import (
	"regexp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/test/testcase"
)

// Facts are another program's answers about one dump.
type Facts interface {
	// Rows returns the lines of a file of facts, or false if it does not exist.
	Rows(name string) (rows [][]byte, ok bool, err error)
	// SOS returns SOS's answers, by file name.
	SOS() ([]SOSFile, error)
}

// CompareFacts compares p's answers with all facts, section by section, or with those of one
// section. A score keeps up to verbose wrong answers. Sections without a question are omitted.
func CompareFacts(p *Program, c *testcase.Case, facts Facts, only string, verbose int) ([]*Score, error) {
	var out []*Score
	for _, sec := range sections {
		if only != "" && only != sec.name {
			continue
		}
		rows, ok, err := facts.Rows(sec.facts)
		if err != nil {
			return out, err
		}
		if !ok {
			continue
		}
		s := &Score{Section: sec.name, verbose: verbose}
		if err := sec.ask(p, rows, s); err != nil {
			return out, err
		}
		out = append(out, s)
	}
	if only == "" || only == programFacts {
		s := &Score{Section: programFacts, verbose: verbose}
		compareManifest(p, c, s)
		out = append(out, s)
	}
	return slices.DeleteFunc(out, func(s *Score) bool { return s.Asked == 0 }), nil
}

// programFacts is the section of facts that the dumped program printed about its objects.
const programFacts = "facts"

var objectName = regexp.MustCompile(`(?m)^Name:\s*(.*?)\s*$`)

func compareManifest(p *Program, c *testcase.Case, s *Score) {
	if !slices.Contains([]string{"full", "withheap", "core"}, c.Manifest.Kind) {
		return // the heap is not in the dump
	}
	objects := c.Manifest.Objects()
	ask := make([]string, len(objects))
	for i, o := range objects {
		ask[i] = "dumpobj " + o.Addr.String()
	}
	for i, text := range p.each(ask) {
		stem := objects[i].Type
		if n := strings.IndexAny(stem, "`[<"); n >= 0 {
			stem = stem[:n]
		}
		m, ok := group(objectName, text)
		s.want(i, ok && strings.HasPrefix(m, stem), "%s at %v is a %s: got %s", objects[i].Name, objects[i].Addr, objects[i].Type, m)
	}
}
