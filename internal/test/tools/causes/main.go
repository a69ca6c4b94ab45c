// Command causes holds that every line in which sosgo differs from SOS has a cause that is written down: it reads what
// sosdiff found (its --json file), and a table of causes, and names the lines that no row of the table fits. Each row names
// a paragraph of docs/differences.md.
//
//	causes [-differences FILE] SOSDIFF.json
//
// A row that nothing fits any more is named, too, and is no failure: the corpus may have lost the case.
package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strings"
)

//go:embed causes.txt
var table string

func main() {
	differences := flag.String("differences", "docs/differences.md", "what the causes are")
	most := flag.Int("n", 20, "how many lines without a cause are listed")
	flag.Parse()
	unknown, err := run(os.Stdout, *differences, flag.Arg(0), *most)
	if err != nil {
		fmt.Fprintln(os.Stderr, "causes:", err)
		os.Exit(2)
	}
	if unknown > 0 {
		os.Exit(1)
	}
}

// run writes what has no cause, and how many lines that are of how many.
func run(w io.Writer, differences, results string, most int) (unknown int, err error) {
	doc, err := os.ReadFile(differences)
	if err != nil {
		return 0, err
	}
	rules, err := parse(table, string(doc))
	if err != nil {
		return 0, err
	}
	raw, err := os.ReadFile(results)
	if err != nil {
		return 0, err
	}
	var files []file
	if err := json.Unmarshal(raw, &files); err != nil {
		return 0, fmt.Errorf("%s: %w", results, err)
	}
	all := 0
	for i := range files {
		f := &files[i]
		for _, line := range f.Diff {
			if strings.HasPrefix(line, "@@") {
				continue
			}
			if all++; explained(rules, f, line) {
				continue
			}
			if unknown++; unknown <= most {
				fmt.Fprintf(w, "%s %q: %s\n", f.name(), f.command(), line)
			}
		}
	}
	for i := range rules {
		if rules[i].used == 0 {
			fmt.Fprintf(w, "no line is any more of: %s\n", rules[i].text)
		}
	}
	fmt.Fprintf(w, "%d of %d differing lines have no cause\n", unknown, all)
	return unknown, nil
}

// A file is one of sosdiff's results: SOS's lines begin with - and sosgo's with +.
type file struct {
	File     string
	Commands []string
	Diff     []string
}

// name is CASE/FILE.
func (f *file) name() string {
	return path.Base(path.Dir(path.Dir(f.File))) + "/" + path.Base(f.File)
}

// command is the name of the command that the file is about: the last one.
func (f *file) command() string {
	if len(f.Commands) == 0 {
		return ""
	}
	verb, _, _ := strings.Cut(f.Commands[len(f.Commands)-1], " ")
	return strings.ToLower(verb)
}

// A rule is a row of the table.
type rule struct {
	text  string
	where *regexp.Regexp // fits the command, or with a slash in it the file
	file  bool
	line  *regexp.Regexp
	used  int
}

// parse reads the table: COMMANDS | LINE | CAUSE. A cause that no paragraph of doc begins with is an error.
func parse(table, doc string) (rules []rule, err error) {
	for text := range strings.Lines(table) {
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		parts := strings.SplitN(text, " | ", 3)
		if len(parts) != 3 {
			return nil, fmt.Errorf("%q is not COMMANDS | LINE | CAUSE", text)
		}
		r := rule{text: text, file: strings.Contains(parts[0], "/")}
		if r.where, err = regexp.Compile("^(?:" + parts[0] + ")$"); err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		if r.line, err = regexp.Compile(parts[1]); err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		if !begins(doc, "**"+parts[2]) {
			return nil, fmt.Errorf("%q: no paragraph begins with %s", text, parts[2])
		}
		rules = append(rules, r)
	}
	return rules, nil
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

// explained reports whether a rule fits, and counts for it.
func explained(rules []rule, f *file, line string) bool {
	for i := range rules {
		r := &rules[i]
		where := f.command()
		if r.file {
			where = f.name()
		}
		if r.where.MatchString(where) && r.line.MatchString(line) {
			r.used++
			return true
		}
	}
	return false
}
