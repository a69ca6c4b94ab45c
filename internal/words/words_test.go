package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
)

// TestKinds checks that every sentence has a unique kind, and a template that can be parsed.
func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for name, s := range definedKinds(t) {
		assert.NotEmpty(t, s.says)
		assert.False(t, seen[s.says], "two sentences are of the kind %q", s.says)
		seen[s.says] = true
		assert.NotPanics(t, s.parse, name)
		assert.NotEmpty(t, s.parts, name)
	}
	assert.Greater(t, len(seen), 500)
}

// TestMalformed checks that malformed templates are rejected.
func TestMalformed(t *testing.T) {
	for _, template := range []string{"{", "a {b", "{}", "{n item}", "{n:is}", "{ a|b}"} {
		assert.Panics(t, say("made for a test", template).parse, template)
	}
}

// TestArguments checks the positions of arguments in UTF-16 units, including arguments of parts.
func TestArguments(t *testing.T) {
	part := say("a part", " in {method}")
	whole := say("a whole", "{items item waits|items wait} for {thing}{where?}{more?}; {items:it is|they are} {list}")
	s := whole.Of(N(2), Text("𝄞 \"x\""), part.Of(Method("A.B()")), answer.Statement{}, Join(", ", N(1), Duration(3*time.Second)))
	assert.Equal(t, `2 items wait for 𝄞 "x" in A.B(); they are 1, 3 s`, s.Text)
	assert.Equal(t, "1 item waits for x; it is y", whole.Of(N(1), Text("x"), answer.Statement{}, answer.Statement{}, Text("y")).Text)
	units := utf16.Encode([]rune(s.Text))
	var got []string
	for _, a := range s.Args {
		got = append(got, a.Name+": "+string(a.Type)+": "+string(utf16.Decode(units[a.Start:a.End])))
	}
	assert.Equal(t, []string{"items: count: 2", `thing: text: 𝄞 "x"`, "where: phrase:  in A.B()", "method: method: A.B()", "list: count: 1", "list: duration: 3 s"}, got)
	assert.Equal(t, "a whole", s.Says)
	assert.Equal(t, "a part", s.Args[2].Value)
	assert.Equal(t, uint64(2), *s.Args[0].Number)

	rest := s.From(strings.Index(s.Text, "they"))
	require.Len(t, rest.Args, 2)
	units = utf16.Encode([]rune(rest.Text))
	assert.Equal(t, "3 s", string(utf16.Decode(units[rest.Args[1].Start:rest.Args[1].End])))
}

func lowerAll(list []answer.Verdict, state func(answer.Premise) answer.PremiseState) []answer.Verdict {
	out := slices.Clone(list)
	for i := range out {
		out[i] = LowerOne(out[i], state)
	}
	return out
}

// TestLower: a conclusion is no stronger than its premises, and one without premises stays as it is.
func TestLower(t *testing.T) {
	for _, c := range []struct {
		has, doubtful answer.Strength
	}{
		{answer.StrengthRecorded, answer.StrengthLikely},
		{answer.StrengthProved, answer.StrengthLikely},
		{answer.StrengthLikely, answer.StrengthLikely},
		{answer.StrengthPossible, answer.StrengthPossible},
		{answer.StrengthUnknown, answer.StrengthUnknown},
	} {
		heap := answer.Conclude(answer.FindingFragmented, Fragmented.Of(), c.has) // rests on the whole heap, and on no collection
		free := answer.Conclude(answer.FindingCrash, ReasonAborted.Of(), c.has)
		more := answer.Conclude(answer.FindingCrash, ReasonAborted.Of(), c.has)
		more.Rests = []answer.Premise{answer.ListComplete}
		list := []answer.Verdict{heap, free, more}
		strengths := func(state answer.Premises) (out []answer.Strength) {
			for _, v := range lowerAll(list, state.State) {
				out = append(out, v.Strength)
			}
			return out
		}
		unchanged := []answer.Strength{c.has, c.has, c.has}
		assert.Equal(t, unchanged, strengths(nil))
		assert.Equal(t, unchanged, strengths(answer.Premises{answer.RootsRead: answer.PremiseBroken}))
		assert.Equal(t, []answer.Strength{c.doubtful, c.has, c.has}, strengths(answer.Premises{answer.NoCollection: answer.PremiseDoubtful}))
		assert.Equal(t, []answer.Strength{c.has, c.has, c.doubtful}, strengths(answer.Premises{answer.ListComplete: answer.PremiseDoubtful}))
		assert.Equal(t, c.has, list[0].Strength, "the list that was given stays as it is")

		state := answer.Premises{answer.NoCollection: answer.PremiseDoubtful, answer.HeapWhole: answer.PremiseBroken}
		got := lowerAll(list, state.State)
		assert.Equal(t, []answer.Premise{answer.HeapWhole, answer.NoCollection}, got[0].Rests)
		assert.Equal(t, answer.StrengthUnknown, got[0].Strength)
		assert.Equal(t, answer.NoFinding, got[0].Kind)
		assert.Equal(t, "can't be judged: parts of the heap are missing", got[0].Text)
		assert.Equal(t, got, lowerAll(got, state.State), "again")
	}
}

// TestUndeclared: a kind of conclusion that declares no premises rests on all of them. A text of others rests on those that come with it.
func TestUndeclared(t *testing.T) {
	assert.Equal(t, answer.AllPremises(), Premises(answer.Conclude(answer.NoFinding, QueuesEmpty.Of(), answer.StrengthProved)))
	assert.Empty(t, Premises(answer.Conclude(answer.NoFinding, Text("it burns"), answer.StrengthProved)))
	assert.Empty(t, Premises(answer.Conclude(answer.NoFinding, ReasonAborted.Of(), answer.StrengthProved)))
	for _, p := range answer.AllPremises() {
		assert.NotContains(t, p.Broken(), "not given", p)
	}
}

// TestOneRow: a kind of conclusion stands in one row of the table.
func TestOneRow(t *testing.T) {
	rows := 0
	for _, row := range conclusions {
		rows += len(row.kinds)
	}
	assert.Len(t, restsOn(), rows)
}

// concluding are the functions of the packages that conclude, with the position of the conclusion among their arguments.
var concluding = map[string]int{"Conclude": 1, "conclusion": 0, "blame": 0, "finding": 1, "unjudged": 0, "alikeClause": 0, "say": 0}

// TestConclusionsDeclare checks that what stands where a conclusion stands in code is a kind with a row in the table.
func TestConclusionsDeclare(t *testing.T) {
	kinds := definedKinds(t)
	found := map[string]bool{}
	declared := func(files *token.FileSet, e ast.Expr) {
		if name := sentenceOf(e); name != "" && kinds[name] != nil {
			found[name] = true
			assert.True(t, Declared(kinds[name].says), "%s: words.%s concludes and has no row in rests.go", files.Position(e.Pos()), name)
		}
	}
	eachSource(t, func(files *token.FileSet, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if at, ok := concluding[calledName(n)]; ok && at < len(n.Args) {
					declared(files, n.Args[at])
				}
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					if s, ok := to.(*ast.SelectorExpr); ok && s.Sel.Name == "Statement" && len(n.Lhs) == len(n.Rhs) && !isFinding(s) {
						declared(files, n.Rhs[i])
					}
				}
			}
			return true
		})
	})
	assert.Greater(t, len(found), len(restsOn())/3, "the others reach a conclusion by a variable")
}

// isFinding reports whether a field belongs to a finding, which has the sentences of its clauses and of their number.
func isFinding(s *ast.SelectorExpr) bool {
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == "f"
}

// calledName returns the name of the function or method that is called.
func calledName(n *ast.CallExpr) string {
	switch f := n.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// sentenceOf returns X of words.X.Of(…), also if others continue the sentence.
func sentenceOf(e ast.Expr) string {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return ""
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	switch {
	case !ok:
		return ""
	case f.Sel.Name == "Plus":
		return sentenceOf(f.X)
	}
	s, ok := f.X.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "Of" {
		return ""
	}
	if p, ok := s.X.(*ast.Ident); !ok || p.Name != "words" {
		return ""
	}
	return s.Sel.Name
}

// TestCalls checks that each sentence is used, with as many arguments as its template names.
func TestCalls(t *testing.T) {
	kinds := definedKinds(t)
	said := map[string]bool{"CantBeJudged": true, "ColonException": true, "ColonMessage": true, "ThrownIn": true, "FailureCause": true, "ServerPort": true, "ColonPort": true} // said here
	eachSource(t, func(files *token.FileSet, f *ast.File) {
		for name, call := range sentencesSaid(f) {
			s := kinds[name]
			if !assert.NotNil(t, s, "%s: words.%s is no sentence", files.Position(f.Pos()), name) {
				continue
			}
			said[name] = true
			for _, c := range call {
				if c != nil && !c.Ellipsis.IsValid() {
					s.once.Do(s.parse)
					assert.Len(t, c.Args, len(s.names), "%s: arguments of %s", files.Position(c.Pos()), name)
				}
			}
		}
	})
	for name := range kinds {
		assert.True(t, said[name], "nothing says %s", name)
	}
}

// eachSource calls f for each file of the project that is no test.
func eachSource(t *testing.T, f func(files *token.FileSet, file *ast.File)) {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && slices.Contains([]string{".git", "testdata", "node_modules"}, d.Name()) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err == nil {
			f(files, file)
		}
		return err
	})
	require.NoError(t, err)
}

// sentencesSaid returns the sentences of this package that a file mentions, with the calls of their method Of.
func sentencesSaid(f *ast.File) map[string][]*ast.CallExpr {
	out := map[string][]*ast.CallExpr{}
	sentence := func(e ast.Expr) string {
		s, ok := e.(*ast.SelectorExpr)
		if !ok {
			return ""
		}
		if p, ok := s.X.(*ast.Ident); !ok || p.Name != "words" || p.Obj != nil {
			return ""
		}
		return s.Sel.Name
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if of, ok := call.Fun.(*ast.SelectorExpr); ok && of.Sel.Name == "Of" {
				if name := sentence(of.X); name != "" {
					out[name] = append(out[name], call)
				}
			}
		}
		if e, ok := n.(ast.Expr); ok {
			if name := sentence(e); name != "" && names[name] {
				out[name] = append(out[name], nil) // as a value: what it is called with is not known here
			}
		}
		return true
	})
	return out
}

// names are the variables that hold sentences.
var names = map[string]bool{}

// definedKinds returns sentences as the source defines them, by the names of their variables.
func definedKinds(t *testing.T) map[string]*Sentence {
	t.Helper()
	out := map[string]*Sentence{}
	paths, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || len(v.Values) != 1 {
				return true
			}
			call, ok := v.Values[0].(*ast.CallExpr)
			if !ok {
				return true
			}
			if f, ok := call.Fun.(*ast.Ident); !ok || f.Name != "say" {
				return true
			}
			out[v.Names[0].Name], names[v.Names[0].Name] = say(literal(t, call.Args[0]), literal(t, call.Args[1])), true
			return true
		})
	}
	return out
}

// literal returns a string of the source, which may be a sum of strings.
func literal(t *testing.T, e ast.Expr) string {
	t.Helper()
	if sum, ok := e.(*ast.BinaryExpr); ok {
		return literal(t, sum.X) + literal(t, sum.Y)
	}
	s, err := strconv.Unquote(e.(*ast.BasicLit).Value)
	require.NoError(t, err)
	return s
}

// TestStateFor checks that a conclusion rests on the stacks of the threads that it names.
func TestStateFor(t *testing.T) {
	stack := func(thread uint32) answer.PremiseState {
		if thread == 7 {
			return answer.PremiseBroken
		}
		return answer.PremiseHolds
	}
	named := func(ids ...uint32) *answer.Verdict {
		v := answer.Conclude(answer.FindingWait, answer.Statement{Text: "x"}, answer.StrengthProved)
		for _, id := range ids {
			v.Because(AThread.Of(Thread(answer.Thread{OSID: id})))
		}
		return &v
	}
	state := answer.Premises{answer.StackComplete: answer.PremiseDoubtful, answer.HeapWhole: answer.PremiseBroken}.State
	of := func(v *answer.Verdict, p answer.Premise) answer.PremiseState { return StateFor(v, state, stack)(p) }
	assert.Equal(t, answer.PremiseHolds, of(named(1, 2), answer.StackComplete))
	assert.Equal(t, answer.PremiseBroken, of(named(1, 7), answer.StackComplete))
	assert.Equal(t, answer.PremiseDoubtful, of(named(), answer.StackComplete), "it names none")
	assert.Equal(t, answer.PremiseDoubtful, of(named(1, 0), answer.StackComplete), "one has no id of the system")
	assert.Equal(t, answer.PremiseBroken, of(named(1), answer.HeapWhole))
	more := named(1)
	more.Count = 3
	assert.Equal(t, answer.PremiseDoubtful, of(more, answer.StackComplete), "it is about more threads than it names")
}
