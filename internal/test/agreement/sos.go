package agreement

import (
	"fmt"
	"slices"
	"strings"
)

// A SOSFile holds the output of SOS for some commands.
type SOSFile struct {
	Name     string
	Commands []string
	Text     string
}

// parseSOS splits a file: a line "$ COMMAND" for each command that SOS received, then its output.
func parseSOS(name, text string) SOSFile {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	f := SOSFile{Name: name}
	for {
		line, rest, _ := strings.Cut(text, "\n")
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			f.Text = text
			return f
		}
		f.Commands, text = append(f.Commands, command), rest
	}
}

// String returns the inverse of parseSOS.
func (f *SOSFile) String() string {
	var b strings.Builder
	for _, c := range f.Commands {
		b.WriteString("$ " + c + "\n")
	}
	return b.String() + f.Text
}

// Verb returns the name of the file's last command, which the file is about.
func (f *SOSFile) Verb() string { return verb(f.Commands) }

func verb(commands []string) string {
	if len(commands) == 0 {
		return "?"
	}
	words := strings.Fields(commands[len(commands)-1])
	if len(words) == 0 {
		return "?"
	}
	return strings.ToLower(words[0])
}

// A Comparison counts the lines of SOS's output that sosgo prints, too, in the same order. Blanks,
// leading zeros and the case of hexadecimal digits are ignored.
type Comparison struct {
	File       string
	Commands   []string
	Want, Same int
	Diff       []string // SOS's lines begin with -, sosgo's with +
}

// tooLong is the maximum product of the numbers of lines for texts that are aligned; longer texts
// are compared in place.
const tooLong = 4e7

// CompareSOS runs the commands of a file and compares the output.
func CompareSOS(p *Program, f *SOSFile) *Comparison {
	got := p.Run(f.Commands...)
	c := &Comparison{File: f.Name, Commands: f.Commands}
	c.compare(Normalise(f.Text), Normalise(got.Stdout))
	return c
}

// CompareAllSOS compares several files at once.
func CompareAllSOS(p *Program, files []SOSFile) []*Comparison {
	out := make([]*Comparison, len(files))
	eachOf(p.jobs, len(files), func(i int) { out[i] = CompareSOS(p, &files[i]) })
	return out
}

func (c *Comparison) compare(want, got []string) {
	c.Want = len(want)
	if slices.Equal(want, got) {
		c.Same = len(want)
		return
	}
	if float64(len(want))*float64(len(got)) >= tooLong {
		for i := range min(len(want), len(got)) {
			if want[i] == got[i] {
				c.Same++
			}
		}
		c.Diff = append(c.Diff, "(too long to show)")
		return
	}
	i, j := 0, 0
	for _, b := range append(blocks(want, got), block{len(want), len(got), 0}) {
		if i < b.i || j < b.j {
			c.Diff = append(c.Diff, fmt.Sprintf("@@ -%d,%d +%d,%d @@", i+1, b.i-i, j+1, b.j-j))
		}
		for _, line := range want[i:b.i] {
			c.Diff = append(c.Diff, "-"+line)
		}
		for _, line := range got[j:b.j] {
			c.Diff = append(c.Diff, "+"+line)
		}
		c.Same += b.n
		i, j = b.i+b.n, b.j+b.n
	}
}

// Verb returns the name of the command that the comparison is about.
func (c *Comparison) Verb() string { return verb(c.Commands) }
