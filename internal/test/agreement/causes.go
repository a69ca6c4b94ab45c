package agreement

import (
	"bufio"
	_ "embed"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// causeTable names the cause of each line in which sosgo differs from SOS.
//
//go:embed causes.txt
var causeTable string

// Causes explains differing lines.
type Causes struct {
	rules []rule
}

// A rule is a row of the table.
type rule struct {
	text   string
	where  *regexp.Regexp // matches the command, or the file if it has a slash
	isFile bool
	line   *regexp.Regexp
	used   bool
}

// ReadCauses reads the table. Differences is the text of docs/differences.md, which must have a
// paragraph for every cause.
func ReadCauses(differences string) (*Causes, error) { return parseCauses(causeTable, differences) }

// parseCauses reads lines of the form COMMANDS | LINE | CAUSE. A cause must begin a paragraph of
// differences.
func parseCauses(table, differences string) (*Causes, error) {
	c := &Causes{}
	for text := range strings.Lines(table) {
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		parts := strings.SplitN(text, " | ", 3)
		if len(parts) != 3 {
			return nil, fmt.Errorf("%q is not COMMANDS | LINE | CAUSE", text)
		}
		r := rule{text: text, isFile: strings.Contains(parts[0], "/")}
		var err error
		if r.where, err = regexp.Compile("^(?:" + parts[0] + ")$"); err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		if r.line, err = regexp.Compile(parts[1]); err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		if !begins(differences, "**"+parts[2]) {
			return nil, fmt.Errorf("%q: no paragraph begins with %s", text, parts[2])
		}
		c.rules = append(c.rules, r)
	}
	return c, nil
}

// begins reports whether a line of doc begins with start.
func begins(doc, start string) bool {
	for s := bufio.NewScanner(strings.NewReader(doc)); s.Scan(); {
		if strings.HasPrefix(s.Text(), start) {
			return true
		}
	}
	return false
}

// Unexplained returns the differing lines without a cause, and the number of all differing lines.
func (c *Causes) Unexplained(r *Comparison) (unknown []string, all int) {
	for _, line := range r.Diff {
		if strings.HasPrefix(line, "@@") {
			continue
		}
		if all++; !c.explains(r, line) {
			unknown = append(unknown, line)
		}
	}
	return unknown, all
}

func (c *Causes) explains(r *Comparison, line string) bool {
	for i := range c.rules {
		rule := &c.rules[i]
		where := r.Verb()
		if rule.isFile {
			where = r.Name()
		}
		if rule.where.MatchString(where) && rule.line.MatchString(line) {
			rule.used = true
			return true
		}
	}
	return false
}

// Unused returns the rows of the table that explained no line.
func (c *Causes) Unused() (out []string) {
	for i := range c.rules {
		if !c.rules[i].used {
			out = append(out, c.rules[i].text)
		}
	}
	return out
}

// Name returns CASE/FILE.
func (c *Comparison) Name() string {
	return path.Base(path.Dir(path.Dir(c.File))) + "/" + path.Base(c.File)
}
