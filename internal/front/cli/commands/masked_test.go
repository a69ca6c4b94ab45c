package commands_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/test/testcase"
)

const secretsDump = "../../../../testdata/dumps/secrets/net10-secrets/net10-secrets.dmp.zst"

// A plantedString is a string of the dump with a secret in it.
type plantedString struct {
	text, secret string
	object       uint64 // its address
	at           uint64 // of an aligned word within the secret
	word         uint64 // what is there: four characters
}

// findPlanted returns a string of the dump whose secret is masked.
func findPlanted(t *testing.T) plantedString {
	t.Helper()
	const before = "Server=db;Database=shop;User Id=sa;Password="
	_, out, errs := runSpelling(t, "-d", secretsDump, "-c", "query from objects of System.String | where this.StartsWith('"+before+"') and this.Length > 50 | select addr(this), this")
	for line := range strings.Lines(out) {
		_, rest, found := strings.Cut(line, before)
		secret, _, ended := strings.Cut(rest, ";")
		if !found || !ended {
			continue
		}
		fields := strings.Fields(line)
		object, err := strconv.ParseUint(strings.TrimPrefix(fields[0], "0x"), 16, 64)
		require.NoError(t, err, line)
		p := plantedString{text: before + secret, secret: secret, object: object}
		first := object + 12 + 2*uint64(len(before))
		p.at = (first + 7) &^ 7
		i := int(p.at-first) / 2
		require.LessOrEqual(t, i+4, len(secret))
		var b [8]byte
		for j, c := range []byte(secret[i : i+4]) {
			b[2*j] = c
		}
		p.word = binary.LittleEndian.Uint64(b[:])
		return p
	}
	require.Fail(t, "no string with a secret", "%s%s", out, errs)
	return plantedString{}
}

// shows reports what of the secret is in an output.
func (p *plantedString) shows(out string) string {
	lower := strings.ToLower(out)
	low := uint32(p.word)
	for _, form := range []string{p.secret, fmt.Sprintf("%016x", p.word), fmt.Sprintf("%x", p.word), fmt.Sprint(p.word), fmt.Sprintf("%08x", low), fmt.Sprintf("%x ", low), fmt.Sprint(low)} {
		if strings.Contains(lower, strings.ToLower(form)) {
			return form
		}
	}
	for i := range len(p.secret) - 4 {
		if strings.Contains(out, p.secret[i:i+5]) {
			return p.secret[i : i+5]
		}
	}
	return ""
}

// anywhere returns an output about an address in the string without the address.
func (p *plantedString) anywhere(out string) string {
	for i := range uint64(16) {
		out = strings.ReplaceAll(out, fmt.Sprintf("%x", p.at+i), "ADDRESS")
		out = strings.ReplaceAll(out, fmt.Sprintf("+%#x", p.at+i-p.object), "+OFFSET")
	}
	return out
}

// TestBytesOfSecrets gives each command that takes an address the addresses of a secret's characters. With masking, none prints the bytes: not as text, not as a number, and not in an error.
func TestBytesOfSecrets(t *testing.T) {
	p := findPlanted(t)
	_, out, _ := runSpelling(t, "-d", secretsDump, "-c", "name2ee *!System.UInt64")
	_, behind, found := strings.Cut(out, "MethodTable:")
	require.True(t, found)
	number := strings.Fields(behind)[0]
	at, object := fmt.Sprintf("%x", p.at), fmt.Sprintf("%x", p.object)
	var lines []string
	for _, c := range commands.All() {
		options, args := c.Declares()
		if c.Serves || c.Live || slices.ContainsFunc(args, func(a cli.Arg) bool { return a.Kind == cli.File }) {
			continue
		}
		for _, o := range options {
			if o.Kind == cli.Address || o.Kind == cli.Bool && len(args) > 0 {
				lines = append(lines, c.Name+" -"+o.Name+" "+at)
			}
		}
		if len(args) == 0 {
			continue
		}
		lines = append(lines, c.Name+" "+at, c.Name+" "+object, c.Name+" "+number+" "+at, c.Name+" "+at+" "+fmt.Sprintf("%x", p.at+8), c.Name+" "+at+" L2")
	}
	at = "0x" + at
	for _, e := range []string{"poi(AT)", "qwo(AT)", "dwo(AT)", "wo(AT)", "by(AT)", "hex(qwo(AT))", "(System.UInt64)AT", "(System.Guid)AT", "obj(AT)", "text(AT)", "type(AT)"} {
		lines = append(lines, "eval "+strings.ReplaceAll(e, "AT", at), "dumpobj "+strings.ReplaceAll(e, "AT", at),
			"query from threads | select "+strings.ReplaceAll(e, "AT", at)+" | top 1", "dumpheap -type String -select '"+strings.ReplaceAll(e, "AT", at)+"' | head -n 3")
	}
	ranges := regexp.MustCompile(`^\w+ (\w+ ){1,2}\w+$`) // the sizes of ranges depend on the address
	shown, passed := 0, 0
	for _, line := range lines {
		_, out, errs := runSpelling(t, "-d", secretsDump, "-redact", "-c", line)
		if s := p.shows(strings.ReplaceAll(out+errs, line, "")); s != "" {
			t.Errorf("%s shows %s of the secret: %s%s", line, s, out, errs)
		}
		_, out, _ = runSpelling(t, "-d", secretsDump, "-redact", "-json", "-c", line)
		if s := p.shows(strings.ReplaceAll(out, line, "")); s != "" {
			t.Errorf("%s -json shows %s of the secret: %s", line, s, out)
		}
		if other := strings.ReplaceAll(line, fmt.Sprintf("%x", p.at), fmt.Sprintf("%x", p.at+8)); other != line && !ranges.MatchString(line) {
			_, next, nextErrs := runSpelling(t, "-d", secretsDump, "-redact", "-json", "-c", other)
			_, out, errs := runSpelling(t, "-d", secretsDump, "-redact", "-json", "-c", line)
			assert.Equal(t, p.anywhere(next+nextErrs), p.anywhere(out+errs), "%s depends on what is there", line)
		}
		_, plain, plainErrs := runSpelling(t, "-d", secretsDump, "-c", line)
		passed++
		if p.shows(plain+plainErrs) != "" {
			shown++
		}
	}
	t.Logf("%d lines; %d show the secret without masking", passed, shown)
	assert.Greater(t, shown, 10)
}

// TestMembersOfSecrets cuts, searches, compares and indexes a text with a secret. With masking, each sees the mask.
func TestMembersOfSecrets(t *testing.T) {
	p := findPlanted(t)
	i := strings.Index(p.text, p.secret)
	for _, e := range []string{
		"S", "S.Substring(%[1]d)", "S.Substring(%[1]d, 5)", "text(S).Substring(%[1]d)", "S.ToUpper().Substring(%[1]d)", "(S + '').Substring(%[1]d, 8)",
		"S.Substring(0, %[2]d)", "S.Trim().Substring(%[1]d, 6)", "S ?? 'x'", "path(S)",
	} {
		line := strings.NewReplacer("S", fmt.Sprintf("obj(0x%x)", p.object)).Replace(strings.ReplaceAll(e, "Substring", "\x00"))
		line = strings.ReplaceAll(line, "\x00", "Substring")
		if strings.Contains(line, "%") {
			line = fmt.Sprintf(line+"%.[2]s", i, i+6)
			line = strings.TrimSuffix(line, "%!(BADPREC)")
		}
		for _, typed := range []string{"eval " + line, "query from objects of System.String | where addr(this) == " + fmt.Sprintf("0x%x", p.object) + " | select " + line} {
			_, out, errs := runSpelling(t, "-d", secretsDump, "-redact", "-c", typed)
			out = strings.ReplaceAll(out, line, "")
			for j := range len(p.secret) - 3 {
				part := p.secret[j : j+4]
				assert.NotContains(t, strings.ToLower(out+errs), strings.ToLower(part), typed)
			}
		}
	}
	// No comparison shows what the secret is.
	for _, test := range []string{
		fmt.Sprintf("obj(0x%x)[%d] == '%c'", p.object, i, p.secret[0]),
		fmt.Sprintf("obj(0x%x).StartsWith('%s')", p.object, p.text[:i+1]),
		fmt.Sprintf("obj(0x%x).Contains('%s')", p.object, p.secret[:3]),
		fmt.Sprintf("obj(0x%x).IndexOf('%s') >= 0", p.object, p.secret[:3]),
		fmt.Sprintf("obj(0x%x) matches /%s/", p.object, p.secret[:3]),
		fmt.Sprintf("obj(0x%x) like '%%%s%%'", p.object, p.secret[:3]),
	} {
		_, plain, errs := runSpelling(t, "-d", secretsDump, "-c", "eval "+test)
		require.Contains(t, plain, "true", "%s: %s", test, errs)
		_, out, _ := runSpelling(t, "-d", secretsDump, "-redact", "-c", "eval "+test)
		assert.NotContains(t, out, "true", test)
		for _, line := range []string{"query from objects of System.String | where " + strings.Replace(test, fmt.Sprintf("obj(0x%x)", p.object), "this", 1) + " | select addr(this)",
			"dumpheap -short -type System.String -where \"" + strings.Replace(test, fmt.Sprintf("obj(0x%x)", p.object), "this", 1) + "\""} {
			_, out, _ := runSpelling(t, "-d", secretsDump, "-redact", "-c", line)
			assert.NotContains(t, out, fmt.Sprintf("%x", p.object), line)
		}
	}
}

// TestFilesAreMasked checks that the files that commands write besides their output have no secret, whatever their form.
func TestFilesAreMasked(t *testing.T) {
	const secret = "x7Kq-986JL"
	raw, err := (&testcase.Case{Path: testcase.Plain(secretsDump)}).Raw()
	require.NoError(t, err)
	wide := func(s string) []byte { return []byte(strings.Join(strings.Split(s, ""), "\x00")) } // UTF-16, but for the last byte
	named := bytes.ReplaceAll(raw, wide("thread-wpmd-9860JLA"), wide("Password="+secret))
	require.NotEqual(t, raw, named, "the dump has no thread of this name")
	dir := t.TempDir()
	dump := filepath.Join(dir, "named.dmp.zst")
	require.NoError(t, os.WriteFile(dump, named, 0o600))
	p := findPlanted(t)
	written := 0
	for _, line := range []string{
		fmt.Sprintf("dumpstring -out OUT %x", p.object), fmt.Sprintf("dumpstring -raw %x > OUT", p.object), fmt.Sprintf("dumpstring -json %x > OUT", p.object),
		"stacks -export folded -perthread -o OUT", "stacks -export speedscope -o OUT", "stacks -export pprof -o OUT", "stacks -export json -o OUT", "stacks -export pprof > OUT",
		"export speedscope -o OUT", "export pprof -o OUT", "traverseheap OUT", "traverseheap -xml OUT",
	} {
		for _, options := range [][]string{{"-redact"}, nil} {
			out := filepath.Join(dir, "out")
			args := append([]string{"-offline", "-d", dump}, options...)
			code, _, errs := runSpelling(t, append(args, "-c", strings.ReplaceAll(line, "OUT", out))...)
			b, err := os.ReadFile(out)
			require.NoError(t, err, "%s: %d %s", line, code, errs)
			require.NoError(t, os.Remove(out))
			if zipped, err := gzip.NewReader(bytes.NewReader(b)); err == nil {
				b, err = io.ReadAll(zipped)
				require.NoError(t, err, line)
			}
			shows := strings.Contains(string(b), secret) || strings.Contains(string(b), p.secret)
			if options != nil {
				assert.False(t, shows, line)
			} else if shows {
				written++
			}
		}
	}
	assert.GreaterOrEqual(t, written, 7)
}

// TestRowsStay checks that masking one row leaves the rows around it as they are.
func TestRowsStay(t *testing.T) {
	_, plain, _ := runSpelling(t, "-d", secretsDump, "-c", "dumpheap -strings")
	_, masked, _ := runSpelling(t, "-d", secretsDump, "-redact", "-c", "dumpheap -strings")
	list, rows := strings.Split(plain, "\n"), strings.Split(masked, "\n")
	require.Len(t, rows, len(list))
	for i := range list {
		if fields := strings.Fields(list[i]); len(fields) > 3 && strings.HasPrefix(fields[3], `"`) {
			assert.Equal(t, fields[:3], strings.Fields(rows[i])[:3])
		}
	}
}

// TestSearchIsNoOracle checks that a search with masking does not say whether a part of a secret is right.
func TestSearchIsNoOracle(t *testing.T) {
	facts, err := os.ReadFile(filepath.Join(filepath.Dir(secretsDump), "facts.txt"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(facts), "PLANT dictionary ")
	require.True(t, found)
	secret := strings.Fields(rest)[0]
	_, list, _ := runSpelling(t, "-d", secretsDump, "-c", "dumpheap -short -type Dictionary<System.String")
	seen := 0
	for _, object := range strings.Fields(list) {
		for _, command := range []string{"items -find %s " + object, "dumpdictionary -find %s " + object} {
			_, plain, _ := runSpelling(t, "-d", secretsDump, "-c", fmt.Sprintf(command, secret[:5]))
			if strings.Contains(plain, secret) {
				seen++
			}
			_, right, errs := runSpelling(t, "-d", secretsDump, "-redact", "-c", fmt.Sprintf(command, secret[:5]))
			_, wrong, wrongErrs := runSpelling(t, "-d", secretsDump, "-redact", "-c", fmt.Sprintf(command, "0000000"))
			assert.Equal(t, []string{wrong, wrongErrs}, []string{right, errs}, command)
		}
	}
	assert.Positive(t, seen)
}

// TestEchoIsNoOracle checks that what was typed is shown as it was, whether or not it is a part of a secret.
func TestEchoIsNoOracle(t *testing.T) {
	facts, err := os.ReadFile(filepath.Join(filepath.Dir(secretsDump), "facts.txt"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(facts), "PLANT pem ")
	require.True(t, found)
	right := strings.Fields(rest)[0][8:24]
	wrong := right[:15] + string(right[15]^1)
	for _, line := range []string{`eval '"%s"'`, `eval '"%s…"'`, `eval '%s.Foo'`, "dumpheap -type %s", "dumpexceptions -type %s", "statics -type %s"} {
		for _, form := range []string{"", "-json "} {
			said := func(guess string) string {
				_, out, errs := runSpelling(t, "-d", secretsDump, "-redact", "-c", form+fmt.Sprintf(line, guess))
				return strings.ReplaceAll(out+errs, guess, "GUESS")
			}
			assert.Equal(t, said(wrong), said(right), line)
		}
	}
}

// TestTypedIsNoOracle types a whole secret where the answer has it, too: what was typed is shown, and the process's text is masked.
func TestTypedIsNoOracle(t *testing.T) {
	p := findPlanted(t)
	wrong := p.secret[:len(p.secret)-1] + string(p.secret[len(p.secret)-1]^1)
	o := fmt.Sprintf("0x%x", p.object)
	field := "query from objects of Planted.Account | select addr(Password), Password"
	_, out, errs := runSpelling(t, "-d", secretsDump, "-c", field)
	alone := regexp.MustCompile(`(0x[0-9a-f]+) "([a-z]{4}-\d{4}[A-Z]{3})"`).FindStringSubmatch(out)
	require.NotNil(t, alone, "%s%s", out, errs)
	masked := 0
	for _, line := range []string{
		"dumpheap -strings -where '\"GUESS\" != null'", "dumpheap -type System.String -where '\"GUESS\" != null'", "dumpobj 'obj(AT) ?? \"GUESS\"'", "dumpstring 'obj(AT) ?? \"GUESS\"'",
		"dumpobj -show '\"GUESS\", this' AT", "dumpobj -show '\"GUESS\"' AT", "listnearobj 'obj(AT) ?? \"GUESS\"'", "gcroot 'obj(AT) ?? \"GUESS\"'", "dumpobj AT GUESS", "dumpheap -strings GUESS",
		"eval '\"GUESS\", obj(AT)'", "query from strings | where \"GUESS\" != null | select text, this, \"GUESS\"",
	} {
		for _, options := range [][]string{nil, {"-json"}} {
			for _, secret := range []struct{ at, right, wrong string }{{o, p.secret, wrong}, {alone[1], alone[2], alone[2][:11] + string(alone[2][11]^1)}} {
				said := func(guess string) string {
					typed := strings.NewReplacer("AT", secret.at, "GUESS", guess).Replace(line)
					_, out, errs := runSpelling(t, append(append([]string{"-d", secretsDump, "-redact"}, options...), "-c", typed)...)
					masked += strings.Count(out, "<hidden>") + strings.Count(out, `\u003chidden>`)
					return strings.ReplaceAll(out+errs, guess, "GUESS")
				}
				assert.Equal(t, said(secret.wrong), said(secret.right), "%s %v", line, options)
			}
		}
	}
	assert.Greater(t, masked, 100)
}

// spelled returns expressions that put a text together: of pieces, by escapes, in other letters, and by each function and method that takes a text.
func spelled(t *testing.T, text string, object uint64) (out []string) {
	t.Helper()
	var escaped, units, letters []string
	for _, c := range text {
		escaped, units = append(escaped, fmt.Sprintf(`\u%04x`, c)), append(units, fmt.Sprintf(`'%c' + ''`, c))
		one := fmt.Sprintf(`"%c"`, c)
		switch s := string(c); {
		case strings.ToUpper(s) != s:
			one = `"` + strings.ToUpper(s) + `".ToLower()`
		case strings.ToLower(s) != s:
			one = `"` + strings.ToLower(s) + `".ToUpper()`
		}
		letters = append(letters, one)
	}
	quoted, whole := `"`+text+`"`, `"`+strings.Join(escaped, "")+`"`
	out = []string{
		whole, `"` + text[:5] + `" + "` + text[5:] + `"`, strings.Join(units, " + "), strings.Join(letters, " + "), `("--" + ` + whole + ` + "--").Substring(2, ` + strconv.Itoa(len(text)) + `)`,
		whole + ` ?? "x"`, `true ? ` + whole + ` : ""`, `"  " + ` + whole + ` + " "`, fmt.Sprintf(`obj(0x%x).Substring(0, 0) + %s`, object, whole), `null ?? ` + whole, "(" + whole + ")[0] + " + quoted,
		`"it\"s" + ` + whole,
	}
	_, functions, errs := runSpelling(t, "-d", secretsDump, "-c", "eval nofunction(1)")
	_, list, found := strings.Cut(functions+errs, "the functions are ")
	require.True(t, found, errs)
	names := regexp.MustCompile(`[a-z]+`).FindAllString(strings.SplitN(list, "\n", 2)[0], -1)
	require.Greater(t, len(names), 20)
	for _, name := range names {
		out = append(out, name+"("+whole+")", name+"("+quoted+" + '') + "+whole)
	}
	for _, name := range []string{"Contains", "StartsWith", "EndsWith", "IndexOf", "Substring", "ToLower", "ToUpper", "Trim", "Equals", "HasFlag", "GetType", "ToString", "Count", "ContainsKey", "Nothing"} {
		out = append(out, whole+"."+name+"()", whole+"."+name+"(1)", whole+"."+name+"("+whole+")", `"x".`+name+"("+whole+")", fmt.Sprintf("obj(0x%x).%s(%s)", object, name, whole))
	}
	return append(out, whole+" == "+whole, whole+" + 1", "(System.Int32)"+whole, whole+" matches /"+text[:4]+"/", whole+".Length")
}

// TestGuessesAreNoOracle puts guesses at a part of a secret together by expressions: whether one is right, is not to be seen.
func TestGuessesAreNoOracle(t *testing.T) {
	p := findPlanted(t)
	facts, err := os.ReadFile(filepath.Join(filepath.Dir(secretsDump), "facts.txt"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(facts), "PLANT pem ")
	require.True(t, found)
	right := strings.Fields(rest)[0][8:24]
	wrong := right[:15] + string(right[15]^1)
	forms := []string{"eval '%s'", "-json eval '%s'", "query from threads | select %s, 1 | top 1", "-json query from threads | select %s | top 1",
		"query from threads | group by %s | select count(), min(%[1]s) | top 1", "query from threads | where (%s) == null | select 1 | top 1",
		"dumpheap -type System.String -select '%s' | head -n 3", ".foreach (x {eval '%s'}) {eval '\"${x}\"'}", ".foreach (x {eval '%s'}) {.echo ${x}}", "eval '%s' | foreach dumpheap -type",
		"dumpobj '%s'"}
	shown := 0
	list, others := spelled(t, right, p.object), spelled(t, wrong, p.object)
	for i := range list {
		for k, form := range forms {
			if i > 12 && k > 3 {
				continue // they show values as the others do
			}
			said := func(expression, guess string) string {
				line := fmt.Sprintf(form, expression)
				args := []string{"-d", secretsDump, "-redact"}
				if rest, isJSON := strings.CutPrefix(line, "-json "); isJSON {
					line, args = rest, append(args, "-json")
				}
				_, out, errs := runSpelling(t, append(args, "-c", line)...)
				inJSON, err := json.Marshal(expression)
				require.NoError(t, err)
				out = strings.NewReplacer(line, "LINE", expression, "EXPRESSION", string(inJSON[1:len(inJSON)-1]), "EXPRESSION").Replace(out + errs)
				if strings.Contains(out, guess) {
					shown++
				}
				for _, form := range []string{guess, strings.ToLower(guess), strings.ToUpper(guess), guess[:5], guess[5:]} {
					out = strings.ReplaceAll(out, form, "GUESS")
				}
				return strings.ReplaceAll(strings.ReplaceAll(out, fmt.Sprintf(`\u%04x`, guess[15]), "LAST"), guess[1:], "GUESS")
			}
			assert.Equal(t, said(others[i], wrong), said(list[i], right), form, list[i])
		}
	}
	t.Logf("%d expressions; %d answers show the guess", len(list), shown)
	assert.Greater(t, shown, 50)
}

// TestCharactersOfSecrets shows a secret's characters and bytes one by one, as collections, buffers, boxes and locals hold them. With masking, each is
// hidden.
func TestCharactersOfSecrets(t *testing.T) {
	const dump = "../../../../testdata/dumps/secrets/net10-held/net10-held.dmp.zst"
	if _, err := os.Stat(dump); err != nil {
		t.Skip("no canned dump")
	}
	_, out, errs := runSpelling(t, "-d", dump, "-c", "query from objects of Login | where this.Letters != null | select addr(this)")
	login := regexp.MustCompile(`0x[0-9a-f]+`).FindString(out)
	require.NotEmpty(t, login, errs)
	const letters, bytes = `'Z'`, "90, 120, 57"
	lines := map[string]string{ // to what it shows without masking
		"clrstack -a": letters, "-sos clrstack -a": "0x0078005a00000000", "statics -type Program": letters, "dumpobj " + login: bytes, "eval @.Box": bytes, "eval @.Buf": bytes,
		"eval @.Id._a": "1594628990", "dumpobj -show 'Letters[4], Buf.Pin[1], Password._firstChar' OBJECT": "q", "eval @.Password._firstChar": `"Z"`,
		"eval @.Password._firstChar == 'Z'": "true", "eval @.Letters.Contains('q')": "true",
		"eval @.Map._entries[4].value": `"q"`, "eval @.Map._entries[4]": `'q'`, "dumpobj -show 'Map._entries[4].value' OBJECT": "q", "items @.Map._entries": `'q'`, "dumparray @.Map._entries": `'q'`,
		"eval @.Map._entries[4].value == 'q'": "true", "dumpheap -type Login -select 'Letters[4], Bytes[4], Buf.Raw[4], Box.Pin[4]'": "113",
		"query from objects of Login | where this.Letters[4] == 'q' | select addr(this)": login, "query from objects of Login | where this.Id._a == 1594628990 | select addr(this)": login,
	}
	for _, f := range []string{"Letters", "Q", "Plain", "Seg", "Mem", "Map", "Buf.Pin", "Box.Pin"} {
		lines["eval @."+f+"[4]"] = `"q"`
	}
	for _, f := range []string{"Bytes", "PlainBytes", "Words", "Buf.Raw"} {
		lines["eval @."+f+"[4]"] = "113"
	}
	for _, f := range []string{"Letters", "Q", "Map", "Plain", "Box", "Password"} {
		lines["dumpobj @."+f] = "Z"
		if f != "Box" && f != "Password" && f != "Plain" {
			lines["items @."+f] = `'q'`
		}
	}
	lines["dumparray @.Plain"], lines["dumparray @.Words"], lines["items @.Bytes"] = `'q'`, "113", "113"
	units := regexp.MustCompile(`'[Zxq9]'|"[Zq]"|\b90, 120|\b113\b|1594628990|0078005[aA]|"text":"'`)
	for line, shown := range lines {
		line = strings.NewReplacer("@", "obj("+login+")", "OBJECT", login).Replace(line)
		line, sos := strings.CutPrefix(line, "-sos ")
		for _, options := range [][]string{{}, {"-json"}} {
			if sos {
				options = append(options, "-sos")
			}
			args := append([]string{"-d", dump}, options...)
			_, plain, errs := runSpelling(t, append(args, "-c", line)...)
			if len(options) == 0 || sos && len(options) == 1 {
				assert.Contains(t, plain, shown, "%s: %s", line, errs)
			}
			_, masked, errs := runSpelling(t, append(args, "-redact", "-c", line)...)
			masked = strings.ReplaceAll(masked+errs, strings.TrimPrefix(line, "eval "), "")
			assert.NotRegexp(t, units, masked, "%s %v", line, options)
			if shown == login {
				assert.NotContains(t, masked, login, line)
			}
		}
	}
}

// TestEditorsAreNotMasked checks that no editor is served with masking: its variables and memory would show secrets.
func TestEditorsAreNotMasked(t *testing.T) {
	for _, args := range [][]string{{"-redact", "dap", secretsDump}, {"-redact", "dap", "-listen", "127.0.0.1:0", secretsDump}} {
		code, out, errs := runSpelling(t, args...)
		assert.Equal(t, cli.ExitUsage, code, errs)
		assert.Empty(t, out)
		assert.Contains(t, errs, "no variables are served")
	}
}

// TestHiddenBesideNames asks for values beside names for secrets: in text and in JSON, each is hidden, and what an expression computes of it, too.
func TestHiddenBesideNames(t *testing.T) {
	_, out, errs := runSpelling(t, "-d", secretsDump, "-c", "query from objects of Planted.Account | select addr(this), Password, ApiKey")
	accounts := 0
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) < 2 || !strings.HasPrefix(fields[0], "0x") {
			continue
		}
		accounts++
		at, secret := fields[0], fields[1]
		require.NotEmpty(t, secret)
		for _, command := range []string{"dumpobj " + at, "eval ((Planted.Account)" + at + ").Password", "dumpobj -show=Password " + at, "query from objects of Planted.Account | select Password",
			"dumpheap -type=Planted.Account -select=Password", "eval ((Planted.Account)" + at + ").Password.Substring(0,3)"} {
			for _, more := range []string{"", " --json"} {
				_, masked, problems := runSpelling(t, "-d", secretsDump, "--redact", "-c", command+more)
				assert.NotContains(t, masked+problems, secret, command)
				assert.NotContains(t, masked+problems, `"`+secret[:3]+`"`, command)
				if more != "" && masked != "" {
					assert.True(t, json.Valid([]byte(masked)), "%s: %s", command, masked)
				}
			}
		}
	}
	assert.Positive(t, accounts, out+errs)
}
