// Package words makes sentences from arguments. Each kind of sentence is a variable with a template:
//
//	Busy = say("workers busy", "{busy} of {workers} are busy")
//
// Busy.Of(words.N(2), words.N(5)) returns a statement with its text, and with the types, values and positions of its
// arguments. The packages of app decide what is true; this package only words it. Programs that need values read
// Statement.Args and never parse a text.
//
// Start with Sentence. Files are named after the packages of app; values.go has the types of arguments.
package words

import (
	"fmt"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/answer"
)

// A Sentence is a kind of sentence, or of a part of one. In its template, names in braces are arguments:
//
//	{name}           the argument
//	{name?}          the argument, which may be missing
//	{name item|items}    a number and its noun: "1 item", "2 items"
//	{name:waits|wait}    the verb for a number, without the number
type Sentence struct {
	says     string
	template string

	once  sync.Once // for what is parsed from template
	parts []part
	names []string // of the arguments, in the order in which they appear first
	may   []bool   // whether an argument may be missing
}

// A part is text, or the place of an argument.
type part struct {
	text      string // if arg is negative
	arg       int
	one, many string
	bare      bool // one or many without the number
}

// say defines a kind of sentence. It only fills a struct, which the compiler does for package variables: a program that starts parses no
// template. Of parses it at its first call, and TestKinds parses all.
func say(says, template string) *Sentence { return &Sentence{says: says, template: template} }

// parse parses the template. It panics if the template is malformed.
func (s *Sentence) parse() {
	for rest := s.template; rest != ""; {
		text, behind, found := strings.Cut(rest, "{")
		if text != "" {
			s.parts = append(s.parts, part{text: text, arg: -1})
		}
		if !found {
			break
		}
		place, after, closed := strings.Cut(behind, "}")
		if !closed {
			panic(fmt.Sprintf("words: %q: a brace is not closed", s.says))
		}
		s.place(place)
		rest = after
	}
}

// place adds the place of an argument.
func (s *Sentence) place(text string) {
	end := strings.IndexAny(text, " :?")
	if end < 0 {
		end = len(text)
	}
	name, how := text[:end], text[end:]
	p := part{arg: s.argument(name)}
	switch {
	case name == "":
		panic(fmt.Sprintf("words: %q: an argument without a name", s.says))
	case how == "":
	case how == "?":
		s.may[p.arg] = true
	default:
		found := false
		if p.one, p.many, found = strings.Cut(how[1:], "|"); !found || how[0] == '?' {
			panic(fmt.Sprintf("words: %q: {%s} needs a singular and a plural", s.says, text))
		}
		p.bare = how[0] == ':'
	}
	s.parts = append(s.parts, p)
}

// argument returns the index of an argument.
func (s *Sentence) argument(name string) int {
	for i, n := range s.names {
		if n == name {
			return i
		}
	}
	s.names, s.may = append(s.names, name), append(s.may, false)
	return len(s.names) - 1
}

// Kind returns the kind of the statements that s makes.
func (s *Sentence) Kind() string { return s.says }

// Of returns the sentence with its arguments, in the order in which the template names them first.
func (s *Sentence) Of(args ...answer.Statement) answer.Statement {
	s.once.Do(s.parse)
	out := answer.Statement{}
	for i := range s.parts {
		p := &s.parts[i]
		if p.arg < 0 {
			out.Text += p.text
			continue
		}
		if p.arg >= len(args) {
			continue // TestCalls finds a call that gives too few
		}
		arg := &args[p.arg]
		if !p.bare {
			out = out.Plus(under(s.names[p.arg], arg))
		}
		if word := p.noun(arg); word != "" {
			if !p.bare {
				out.Text += " "
			}
			out.Text += word
		}
	}
	out.Says = s.says
	return out
}

// noun returns the singular or plural for a number.
func (p *part) noun(arg *answer.Statement) string {
	if len(arg.Args) > 0 && arg.Args[0].Number != nil && *arg.Args[0].Number == 1 {
		return p.one
	}
	return p.many
}

// under returns s as an argument of another statement, called name.
func under(name string, s *answer.Statement) answer.Statement {
	out := answer.Statement{}
	if s.Says != "" {
		out = Value(answer.Arg{Type: answer.ArgPhrase, Value: s.Says}, s.Text)
		out.Text = ""
	}
	out = out.Plus(*s)
	for i := range out.Args {
		if out.Args[i].Name == "" {
			out.Args[i].Name = name
		}
	}
	return out
}

// Join returns a list of statements with a separator between them. Without elements it returns the zero Statement.
func Join(separator string, list ...answer.Statement) answer.Statement {
	out := answer.Statement{}
	for i := range list {
		if i > 0 {
			out.Text += separator
		}
		out = out.Plus(under("", &list[i]))
	}
	return out
}
