package secrets

import "strings"

// This file finds secrets in texts where the name is not just before the value, but apart from it in a structure: XML, JSON and YAML. Each
// function returns matches as a regexp with one group does: the name with the value, and the value.

// namesValue reports whether a name is one of a field for the value of a setting that has its name in another field.
func namesValue(field string) bool {
	switch lastWord(field) {
	case "value", "val", "v", "content", "default", "text", "plaintext":
		return true
	}
	return false
}

// namesName reports whether a name is one of a field for the name of a setting.
func namesName(field string) bool {
	switch lastWord(field) {
	case "name", "key", "k", "n", "id", "label", "option", "parameter", "setting", "variable", "field":
		return true
	}
	return false
}

// lastWord returns the last word of a name, in lower case.
func lastWord(name string) string {
	list := split(name)
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

// NamesSecret reports whether what stands apart under a name, in another field, attribute or line, is a secret.
func NamesSecret(name string) bool {
	const longest = 200
	return name != "" && len(name) <= longest && (endsStrong(strings.TrimSuffix(name, "s")) || endsShort(split(name)))
}

// A setting collects the name and the value of a setting from its parts, in any order.
type setting struct {
	start        int    // of the whole
	name         string // of the setting
	own          string // of the part that holds the setting: it is a name, too
	value, other [2]int // positions of the value, and of the only content
}

// match appends the match of a setting with a name for a secret.
func (s *setting) match(out [][]int) [][]int {
	v := s.value
	if v[1] == 0 {
		v = s.other
	}
	if v[0] >= v[1] || !NamesSecret(s.name) && !NamesSecret(s.own) {
		return out
	}
	return append(out, []int{min(s.start, v[0]), v[1], v[0], v[1]})
}

// escapes returns the number of backslashes at i.
func escapes(text string, i int) (n int) {
	for i+n < len(text) && text[i+n] == '\\' {
		n++
	}
	return n
}

// inQuotes reads a quoted text at i, which may stand in another quoted text, so that backslashes are before its quotes. It returns its
// position and the place behind the closing quote. A text without one goes as far as its line, the text around it, or the whole text. ok is false if there is no quote at i.
func inQuotes(text string, i int) (from, to, end int, ok bool) {
	n := escapes(text, i)
	if i+n >= len(text) || text[i+n] != '"' && text[i+n] != '\'' {
		return 0, 0, i, false
	}
	quote := text[i+n]
	from = i + n + 1
	for p := from; p < len(text); p++ {
		switch m := escapes(text, p); {
		case p+m < len(text) && text[p+m] == quote && m%(2*(n+1)) == n:
			return from, p + m - n, p + m + 1, true
		case p+m < len(text) && text[p+m] == '"' && m < n: // the text around it ends
			return from, p, p, true
		case m > 0:
			p += m // the character behind is escaped
		case text[p] == '\n':
			return from, p, p, true
		}
	}
	return from, len(text), len(text), true
}

// skipSpaces returns the place of the next character that is no white space, which JSON may write as an escape.
func skipSpaces(text string, i int) int {
	for i < len(text) {
		switch {
		case isSpace(text[i]):
			i++
		case text[i] == '\\' && i+1 < len(text) && strings.IndexByte("nrt", text[i+1]) >= 0:
			i += len(`\n`)
		default:
			return i
		}
	}
	return i
}

// nameAt returns the end of a name at i.
func nameAt(text string, i int) int {
	for i < len(text) && (isAlphanumeric(text[i]) || strings.IndexByte("_-.:$#@", text[i]) >= 0 || text[i] >= 0x80) {
		i++
	}
	return i
}

// A tag is a tag of XML that opens an element.
type tag struct {
	setting
	name  string // without a prefix
	empty bool   // <a/>
	end   int    // the place behind it
}

// local returns a name without its prefix.
func local(name string) string { return name[1+strings.LastIndexByte(name, ':'):] }

// tagAt reads the tag at i, a <.
func tagAt(text string, i int) (t tag, ok bool) {
	end := nameAt(text, i+1)
	if end == i+1 {
		return t, false
	}
	t = tag{setting: setting{start: i}, name: local(text[i+1 : end])}
	for p := skipSpaces(text, end); ; p = skipSpaces(text, p) {
		t.end = p
		rest := text[p:]
		switch {
		case strings.HasPrefix(rest, "/>"):
			t.empty, t.end = true, p+len("/>")
			return t, true
		case strings.HasPrefix(rest, ">"):
			t.end = p + 1
			return t, true
		}
		end = nameAt(text, p)
		equal := skipSpaces(text, end)
		if end == p || equal >= len(text) || text[equal] != '=' {
			t.empty = true
			return t, true // cut, or no XML
		}
		from, to, next, quoted := inQuotes(text, skipSpaces(text, equal+1))
		if !quoted {
			t.empty = true
			return t, true
		}
		switch attribute := local(text[p:end]); {
		case namesValue(attribute):
			t.value = [2]int{from, to}
		case namesName(attribute) && (t.setting.name == "" || NamesSecret(text[from:to])):
			t.setting.name = text[from:to]
		}
		p = next
	}
}

// inMarkup finds the settings in XML: a tag with attributes for a name and a value, an element with a name for secrets, and an element for a name
// before one for a value.
func inMarkup(text string) (out [][]int) {
	named, at := "", 0 // what the element before says, if it ends just here
	for i := strings.IndexByte(text, '<'); i >= 0 && i < len(text); {
		t, ok := tagAt(text, i)
		if !ok {
			i = after(text, i+1, '<')
			continue
		}
		if t.empty || t.value[1] > 0 {
			if t.value[1] > 0 {
				out = t.match(out)
			}
			named = ""
			i = after(text, max(t.end, i+1), '<')
			continue
		}
		from := skipSpaces(text, t.end)
		const data = "<![CDATA["
		raw := strings.HasPrefix(text[from:], data)
		to := after(text, from, '<')
		if raw {
			from += len(data)
			if to = len(text); strings.Contains(text[from:], "]]>") {
				to = from + strings.Index(text[from:], "]]>")
			}
		}
		content := strings.TrimRight(text[from:max(from, to)], " \t\r\n")
		if raw || strings.HasPrefix(text[to:], "</") {
			t.own, t.other = t.name, [2]int{from, from + len(content)}
		}
		switch {
		case content == "" && t.setting.name != "": // the value is in the element below
			named, at = t.setting.name, t.start
			i = after(text, t.end, '<')
			continue
		case named != "" && (namesValue(t.name) || t.name == "string"):
			t.own, t.start = named, at
		}
		out = t.match(out)
		named = ""
		if closing := "</"; namesName(t.name) && strings.HasPrefix(text[min(to, len(text)):], closing) {
			named, at = content, t.start
		}
		i = to
		if strings.HasPrefix(text[min(to, len(text)):], "</") || raw {
			i = after(text, min(to+1, len(text)), '<')
		}
	}
	return out
}

// after returns the next place of a character from i on, or the end of the text.
func after(text string, i int, c byte) int {
	if n := strings.IndexByte(text[i:], c); n >= 0 {
		return i + n
	}
	return len(text)
}

// deepest bounds objects in objects of JSON.
const deepest = 64

// inObjects finds the settings in JSON and what resembles it: an object with members for a name and a value, in any order, and one below a name for secrets
// with a member for the value. Names may stand without quotes, as in YAML, JavaScript and what records of C# print.
func inObjects(text string) (out [][]int) {
	var open []setting
	member, isName := "", false // the name before the colon
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '{':
			own := ""
			if isName {
				own = member
			}
			if len(open) == deepest {
				copy(open, open[1:])
				open = open[:deepest-1]
			}
			open = append(open, setting{start: i, own: own})
			member, isName = "", false
			i++
			continue
		case len(open) == 0:
			i = after(text, i, '{')
			continue
		case c == '}':
			out = open[len(open)-1].match(out)
			open = open[:len(open)-1]
			member, isName = "", false
			i++
			continue
		case c == ',' || c == '[' || c == ']':
			member, isName = "", false
			i++
			continue
		case isSpace(c):
			i++
			continue
		}
		from, to, end, quoted := inQuotes(text, i)
		if !quoted {
			if n := skipSpaces(text, i); n > i {
				i = n
				continue
			}
			from, to = i, bareEnd(text, i, isName)
			end = max(to, i+1)
		}
		top := &open[len(open)-1]
		next := skipSpaces(text, end)
		switch {
		case !isName && next < len(text) && (text[next] == ':' || text[next] == '=' && !quoted):
			member, isName = text[from:to], true
			end = next + 1
		case isName && namesValue(member):
			top.value = [2]int{from, to}
			isName = false
		case isName && namesName(member) && (top.name == "" || NamesSecret(text[from:to])):
			top.name = text[from:to]
			isName = false
		default:
			isName = false
		}
		i = max(end, i+1)
	}
	for _, s := range open { // a text that is cut
		out = s.match(out)
	}
	return out
}

// bareEnd returns the end of a name, or of a value, without quotes.
func bareEnd(text string, i int, value bool) int {
	if !value {
		return nameEnd(text, i)
	}
	n := strings.IndexAny(text[i:], ",{}[]\"\r\n")
	if n < 0 {
		n = len(text) - i
	}
	return i + len(strings.TrimRight(text[i:i+n], " \t\\"))
}

// nameEnd is nameAt for a name before a colon.
func nameEnd(text string, i int) int {
	end := i
	for end < len(text) && (isAlphanumeric(text[end]) || strings.IndexByte("_-.$#@", text[end]) >= 0) {
		end++
	}
	return end
}

// A yamlLine is a line of YAML: KEY: VALUE, perhaps behind the mark of an item.
type yamlLine struct {
	indent   int // of the key
	item     bool
	key      string
	from, to int // the value
}

// yamlAt reads the line of YAML at i, which ends at end. ok is false for other lines.
func yamlAt(text string, i, end int) (l yamlLine, ok bool) {
	p := i
	for p < end && (text[p] == ' ' || text[p] == '\t') {
		p++
	}
	for p+1 < end && text[p] == '-' && text[p+1] == ' ' {
		l.item = true
		for p++; p < end && text[p] == ' '; p++ {
		}
	}
	l.indent = p - i
	if from, to, next, quoted := inQuotes(text[:end], p); quoted {
		l.key, p = text[from:to], next
	} else {
		to := nameEnd(text[:end], p)
		l.key, p = text[p:to], to
	}
	if l.key == "" || p >= end || text[p] != ':' || p+1 < end && text[p+1] != ' ' && text[p+1] != '\t' {
		return l, false
	}
	l.from, l.to = skipBlanks(text, p+1, end), end
	for l.from < end && (text[l.from] == '!' || text[l.from] == '&') { // a tag or an anchor
		p := l.from
		for p < end && text[p] != ' ' {
			p++
		}
		l.from = skipBlanks(text, p, end)
	}
	for l.to > l.from && isSpace(text[l.to-1]) {
		l.to--
	}
	if from, to, _, quoted := inQuotes(text[:end], l.from); quoted {
		l.from, l.to = from, to
	}
	return l, true
}

func skipBlanks(text string, i, end int) int {
	for i < end && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
}

// isBlock reports whether a value of YAML is the head of a text in the lines below.
func isBlock(value string) bool {
	return value != "" && (value[0] == '|' || value[0] == '>') && strings.Trim(value[1:], "+-123456789") == ""
}

// inYAML finds the settings in YAML: values in the lines below, behind a tag or an anchor, and lines for a name and a value in an item.
func inYAML(text string) (out [][]int) {
	var names []setting // of the items around a line, with their indents
	var indents []int
	add := func(s setting) { out = s.match(out) }
	pop := func(indent int, item bool) {
		for n := len(names) - 1; n >= 0 && (indents[n] > indent || item && indents[n] == indent); n-- {
			names, indents = names[:n], indents[:n]
		}
	}
	for i := 0; i < len(text); {
		end := after(text, i, '\n')
		l, ok := yamlAt(text, i, end)
		if !ok {
			i = end + 1
			continue
		}
		pop(l.indent, l.item)
		if n := len(names); n == 0 || indents[n-1] < l.indent {
			if n == deepest {
				names, indents = names[1:], indents[1:]
			}
			names, indents = append(names, setting{start: i}), append(indents, l.indent)
		}
		top := &names[len(names)-1]
		next := end + 1
		values := [][2]int{{l.from, l.to}}
		block := isBlock(text[l.from:l.to])
		if block {
			values, next = blockLines(text, next, l.indent)
		} else if l.from == l.to && listsSecrets(l.key) {
			for _, v := range itemLines(text, next, l.indent) {
				add(setting{start: i, own: l.key, value: v})
			}
		}
		bare := l.from > i && !block && strings.ContainsAny(text[i:l.from], "!&")
		for _, v := range values {
			switch {
			case block || bare:
				add(setting{start: i, own: l.key, value: v})
			}
			if namesValue(l.key) {
				s := *top
				s.value = v
				add(s)
			}
		}
		switch {
		case namesValue(l.key) && len(values) > 0:
			top.value = values[0]
		case namesName(l.key):
			if top.name = text[l.from:l.to]; top.value[1] > 0 {
				add(*top)
			}
		}
		i = next
	}
	return out
}

// listsSecrets reports whether what a list has under a name is secrets. A list of secrets or of credentials may be one of their names.
func listsSecrets(key string) bool {
	switch strings.TrimSuffix(lastWord(key), "s") {
	case "secret", "credential":
		return false
	}
	return NamesSecret(key)
}

// itemLines returns the values of the lines - VALUE from i on that are not less deep than indent.
func itemLines(text string, i, indent int) (lines [][2]int) {
	for i < len(text) {
		end := after(text, i, '\n')
		from := skipBlanks(text, i, end)
		if from-i < indent || end-from < len("- x") || text[from] != '-' || text[from+1] != ' ' {
			break
		}
		if _, ok := yamlAt(text, i, end); ok {
			break // a map
		}
		from, to := skipBlanks(text, from+1, end), end
		for to > from && isSpace(text[to-1]) {
			to--
		}
		if start, stop, _, quoted := inQuotes(text[:end], from); quoted {
			from, to = start, stop
		}
		lines = append(lines, [2]int{from, to})
		i = end + 1
	}
	return lines
}

// blockLines returns the lines from i on that are deeper than indent, without their white space, and the place behind them.
func blockLines(text string, i, indent int) (lines [][2]int, next int) {
	for i < len(text) {
		end := after(text, i, '\n')
		from, to := skipBlanks(text, i, end), end
		for to > from && isSpace(text[to-1]) {
			to--
		}
		if from < to && from-i <= indent {
			break
		}
		if from < to {
			lines = append(lines, [2]int{from, to})
		}
		i = end + 1
	}
	return lines, min(i, len(text))
}
