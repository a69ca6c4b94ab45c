package cli

import (
	"slices"
	"strings"
)

// This file translates commands of LLDB, gdb, Delve and SOSEX with options that a spelling can't describe.

// pseudoRegisters maps the debuggers' names that depend on no processor to those that expressions know.
var pseudoRegisters = map[string]string{"$ip": "@pc", "@$ip": "@pc", "$csp": "@sp", "@$csp": "@sp", "@$scopeip": "@pc", "$scopeip": "@pc"}

// aboutCode are the commands in which WinDbg's . is the current instruction.
var aboutCode = []string{"u", "uf", "ub", "ln", "clru", "ip2md", "address", "disassemble", "disas"}

// places replaces WinDbg's pseudo-registers, and its . for the current instruction.
func places(words []word) []word {
	out := words
	for i := 1; i < len(words); i++ {
		w := words[i]
		name, known := pseudoRegisters[strings.ToLower(w.text)]
		if w.text == "." && slices.Contains(aboutCode, strings.ToLower(strings.TrimPrefix(words[0].text, "!"))) {
			name, known = "@pc", true
		}
		if w.literal || !known {
			continue
		}
		if &out[0] == &words[0] {
			out = slices.Clone(words)
		}
		out[i].text = name
	}
	return out
}

// phraseNotThere returns the entry of notThere for the first two words, or nil.
func phraseNotThere(words []word) []word {
	if len(words) < 2 || words[1].literal {
		return nil
	}
	phrase := strings.ToLower(strings.TrimPrefix(words[0].text, "!") + " " + words[1].text)
	if _, known := notThere()[phrase]; !known {
		return nil
	}
	return []word{{text: phrase}}
}

// An optionReader reads the options of LLDB and Delve: -s8, -s 8, --size 8, --size=8, -size 8.
type optionReader struct {
	words []word
	i     int
}

// next returns the next option with its value, or the next argument with an empty name.
func (r *optionReader) next(long ...string) (name, value string, more bool) {
	if r.i >= len(r.words) {
		return "", "", false
	}
	w := r.words[r.i]
	r.i++
	if !w.isOption() {
		return "", w.text, true
	}
	name = strings.TrimLeft(w.text, "-")
	switch word, glued, ok := strings.Cut(name, "="); {
	case ok:
		name, value = word, glued
	case !strings.HasPrefix(w.text, "--") && len(name) > 1 && !slices.Contains(long, name):
		name, value = name[:1], name[1:]
	case r.i < len(r.words):
		value = r.words[r.i].text
		r.i++
	}
	return name, value, true
}

// readMemory translates LLDB's memory read and Delve's examinemem with their options for the size, the count and the
// format of elements. It returns nil for other commands.
func readMemory(words []word) []word {
	first := strings.ToLower(words[0].text)
	r, places := optionReader{words: words, i: 1}, 0
	lldb := (first == "memory" || first == "me" || first == "mem") && len(words) > 2
	switch {
	case first == "examinemem", first == "x" && len(words) > 2 && words[1].isOption() && strings.HasPrefix(words[1].text, "-"):
	case first == "x" && len(words) == 3 && isAddress(words[1].text) && isAddress(words[2].text):
		lldb = true
	case lldb && strings.HasPrefix(strings.ToLower(words[1].text), "read/"): // memory read/4gx
		return examine(append([]word{{text: "x" + words[1].text[len("read"):]}}, words[2:]...))
	case lldb && len(words) > 3 && strings.HasPrefix("read", strings.ToLower(words[1].text)):
		r.i = 2
	default:
		return nil
	}
	out := []word{{text: "db"}} // single bytes unless a size is given
	for {
		name, value, more := r.next("fmt", "count", "size", "len")
		if !more {
			return out
		}
		switch strings.ToLower(name) {
		case "":
			if places++; places == 2 && lldb {
				value += "-1" // the range ends before it
			}
			out = append(out, word{text: value})
		case "s", "size":
			out[0].text = "d"
			out = append(out, word{text: "-length"}, word{text: value})
		case "c", "count", "len":
			out = append(out, word{text: "-count"}, word{text: value})
		case "l", "num-per-line":
			out = append(out, word{text: "-width"}, word{text: value})
		case "f", "format": // LLDB then takes words
			out[0].text = "d"
		case "fmt":
		case "t", "type":
			return []word{{text: typedMemory}}
		default:
			return nil
		}
	}
}

// readRegisters translates LLDB's register read with formats: -f d rip, rip/x. It returns nil for other commands.
func readRegisters(words []word) []word {
	if len(words) < 3 || !strings.EqualFold(words[0].text, "register") && !strings.EqualFold(words[0].text, "re") ||
		!strings.EqualFold(words[1].text, "read") && !strings.EqualFold(words[1].text, "r") {
		return nil
	}
	out, r := []word{{text: "registers"}}, optionReader{words: words, i: 2}
	for {
		name, value, more := r.next()
		if !more {
			return out
		}
		switch name {
		case "":
			value, _, _ = strings.Cut(value, "/")
			out = append(out, word{text: value})
		case "f", "format":
		case "a", "all":
			return []word{{text: "registers"}, {text: "-verbose"}}
		default:
			return nil
		}
	}
}

// disassembled translates the disassemble of gdb and LLDB: at the current instruction, at an address, of a method. It
// returns nil for other commands.
func disassembled(words []word) []word {
	if !slices.Contains([]string{"disassemble", "disas", "di", "dis"}, strings.ToLower(words[0].text)) || len(words) < 2 {
		return nil
	}
	at, bare := "", false // bare is set for a method without its type
	for i := 1; i < len(words); i++ {
		switch w := words[i].text; w {
		case "--pc", "-p", "--frame", "-f", "-l", "--line":
			at = "@pc"
		case "/m", "/r", "/s", "/rm", "/rs", "-m", "--mixed", "-b", "--bytes", "--raw":
		case "-s", "--start-address", "-a", "--address", "-n", "--name":
			if i++; i < len(words) {
				at = words[i].text
			}
			if strings.HasSuffix(w, "n") || strings.HasSuffix(w, "name") {
				bare = !strings.ContainsAny(at, ".!:")
			}
		case "-c", "--count", "-e", "--end-address":
			i++
		default:
			if words[i].isOption() {
				return nil
			}
			at, _, _ = strings.Cut(w, ",")
		}
	}
	if at == "" {
		return nil
	}
	if bare {
		return []word{{text: "name2ee"}, {text: "*!" + at}}
	}
	return []word{{text: "clru"}, {text: at}}
}

// printForm matches the commands of gdb, LLDB and Delve that print the value of an expression.
var printForm = lazyRegexp(`^(?i)(?:p|print|inspect|output|expr|expression)(?:/[a-z0-9]+)?$`)

// printed translates them: without formats, with * before an address, and with LLDB's options. It returns nil for other
// commands.
func printed(words []word) []word {
	if len(words) < 2 || words[1].literal || !printForm().MatchString(words[0].text) {
		return nil
	}
	behind, object := words[1:], false
	if len(behind) > 1 && strings.HasPrefix(behind[0].text, "/") {
		behind = behind[1:] // gdb's p /x
	}
	if end := slices.IndexFunc(behind, func(w word) bool { return w.text == "--" }); end >= 0 {
		object = slices.ContainsFunc(behind[:end], func(w word) bool { return strings.EqualFold(w.text, "-o") || w.text == "--object-description" })
		behind = behind[end+1:]
	}
	switch {
	case len(behind) == 0:
		return nil
	case strings.HasPrefix(behind[0].text, "$_siginfo"):
		return []word{{text: "crashinfo"}}
	case len(behind[0].text) > 1 && behind[0].text[0] == '*':
		behind, object = slices.Clone(behind), true
		behind[0].text = behind[0].text[1:]
	}
	if object {
		return append([]word{{text: "dumpobj"}}, behind...)
	}
	return calculation(behind)
}

// ofSosex translates SOSEX's mk, in which a number is one of frames, and the options of its mdt. It returns nil for
// other commands.
func ofSosex(words []word) []word {
	var out []word
	switch strings.ToLower(strings.TrimPrefix(words[0].text, "!")) {
	case "mk":
		out = []word{{text: "clrstack"}}
		for _, w := range words[1:] {
			switch {
			case strings.EqualFold(w.text, "-cc"):
			case isDecimal(w.text):
				out = append(out, word{text: "-c"}, w)
			default:
				out = append(out, w)
			}
		}
	case "mdt":
		out = slices.DeleteFunc(slices.Clone(words), func(w word) bool { return w.isOption() })
		if len(out) == len(words) {
			return nil
		}
		return translatedObject(out)
	}
	return out
}

// translatedObject returns dumpobj with the last of the words.
func translatedObject(words []word) []word {
	if len(words) < 2 {
		return nil
	}
	return []word{{text: "dumpobj"}, words[len(words)-1]}
}

// isDecimal reports whether text has digits alone.
func isDecimal(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// otherForms returns sosgo's commands for a command of another tool that was typed with arguments which sosgo does not
// know, or "" if it is not known.
func otherForms(name string) string {
	const most = 4
	var forms []string
	for i := range spellings {
		typed, _, _ := strings.Cut(spellings[i].typed, " ")
		if !strings.EqualFold(strings.TrimPrefix(typed, "!"), name) {
			continue
		}
		form := strings.TrimSuffix(strings.TrimSuffix(spellings[i].sosgo, " ARGS..."), " REST...")
		if first, _, _ := strings.Cut(form, " "); notThere()[first] == "" && !slices.Contains(forms, form) && len(forms) < most {
			forms = append(forms, form)
		}
	}
	return strings.Join(forms, ", ")
}
