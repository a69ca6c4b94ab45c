package dac

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// AllModules selects all modules.
const AllModules = "*"

// FindName searches a type, "Ns.Outer+Inner`1", loaded or not, or the members of a type, "Ns.Type.Member".
// A name with stars matches types and methods, see Module.FindName.
// module selects modules by file name with or without extension, by path, or is AllModules. If nothing matches,
// the answer lists the loaded types with names that contain name, without regard to case. FindName returns
// target.ErrUnsupported if no module has the name.
func (r *CodeReader) FindName(module, name string) (*answer.NameSearch, error) {
	s, mods, err := r.newSearch(module)
	if err != nil {
		return nil, err
	}
	found, exact := make([][]Match, len(mods)), false
	errs := make([]error, len(mods))
	for i, m := range mods {
		found[i], errs[i] = m.FindName(name)
		s.Note(errs[i])
		exact = exact || len(found[i]) > 0
	}
	for i, m := range mods {
		if !exact {
			found[i], _ = m.findLoaded(name) // FindName found the same errors
		}
		s.add(m, found[i], errs[i])
		if exact {
			s.last().Similar = s.similar(m, found[i], name)
		}
	}
	return s.done(), nil
}

// FindToken searches a TypeDef, TypeRef, MethodDef or FieldDef in the modules selected by module, as in
// FindName. With AllModules it only returns modules where the token belongs to something loaded.
func (r *CodeReader) FindToken(module string, token metadata.Token) (*answer.NameSearch, error) {
	s, mods, err := r.newSearch(module)
	if err != nil {
		return nil, err
	}
	s.Token = answer.Hex(token)
	for _, m := range mods {
		match, ok, err := tokenMatch(m, token)
		s.Note(err)
		if !ok {
			s.add(m, nil, err)
			continue
		}
		s.add(m, []Match{match}, nil)
		if n := &s.last().Matches[0]; s.All && n.MethodTable.IsZero() && n.MethodDesc.IsZero() {
			s.last().Matches = nil
		}
	}
	return s.done(), nil
}

// tokenMatch resolves a token in m. It returns false if the module's metadata lacks it.
func tokenMatch(m *Module, token metadata.Token) (Match, bool, error) {
	md, err := m.Metadata()
	if err != nil || token.IsNil() || token.Row() > md.RowCount(token.Table()) {
		return Match{}, false, err
	}
	switch token.Table() {
	case metadata.TableMethodDef:
		return Match{Member: token}, true, nil
	case metadata.TableField:
		owner, err := md.FieldOwner(token.Row())
		return Match{Type: metadata.NewToken(metadata.TableTypeDef, owner), Member: token}, err == nil, err
	}
	return Match{Type: token}, true, nil
}

// A nameSearch collects the matches of a search.
type nameSearch struct {
	*answer.NameSearch
	r *CodeReader
}

// newSearch starts a search in the modules with a name.
func (r *CodeReader) newSearch(module string) (nameSearch, []*Module, error) {
	s := nameSearch{&answer.NameSearch{All: module == AllModules, Matches: []answer.NameMatch{}}, r}
	mods, lost, err := r.Runtime().ModulesNamed(module)
	s.Note(lost)
	return s, mods, err
}

// ModulesNamed returns the modules with a name: that of a file with or without extension, a path, or AllModules. lost is
// the reason why some may be missing. The error is target.ErrNoSuch if no module has the name.
func (r *Runtime) ModulesNamed(name string) (modules []*Module, lost, err error) {
	modules, lost = r.KnownModules()
	switch {
	case lost != nil && len(modules) == 0:
		return nil, nil, lost
	case name == AllModules:
		return modules, lost, nil
	}
	modules = slices.DeleteFunc(slices.Clone(modules), func(m *Module) bool { return !isNamed(m, name) })
	if len(modules) == 0 {
		return nil, lost, noModuleError(name)
	}
	return modules, lost, nil
}

// isNamed reports whether name is the name of the module's file, with or without extension and folder, without
// regard to case.
func isNamed(m *Module, name string) bool {
	file, err := m.File()
	if err != nil || file == "" {
		return false
	}
	base := target.BaseName(file)
	return strings.EqualFold(base, name) || strings.EqualFold(strings.TrimSuffix(base, path.Ext(base)), name) || strings.EqualFold(file, name)
}

// add adds a module with its matches. err is the reason why others may be missing.
func (s nameSearch) add(m *Module, found []Match, err error) {
	in := answer.SearchedModule{Module: m.Addr, File: s.file(m), Err: err}
	for _, f := range found {
		in.Matches = append(in.Matches, s.resolve(m, in.File, f))
	}
	s.Modules = append(s.Modules, in)
}

// last returns the module that was added last.
func (s nameSearch) last() *answer.SearchedModule { return &s.Modules[len(s.Modules)-1] }

// done sums up the modules. A search without a match fails if some modules could not be searched.
func (s nameSearch) done() *answer.NameSearch {
	var unread error
	for i := range s.Modules {
		m := &s.Modules[i]
		s.Matches = append(s.Matches, m.Matches...)
		switch {
		case len(m.Matches) > 0:
		case m.Err != nil:
			s.Unread++
			unread = cmp.Or(unread, m.Err)
		default:
			s.Without++
		}
	}
	if len(s.Matches) == 0 {
		s.Fail(unread)
	}
	return s.NameSearch
}

// file returns the file name of a module, "<dynamic>" for a module of Reflection.Emit.
func (s nameSearch) file(m *Module) answer.Text {
	file, err := m.FileOr("<dynamic>")
	if err != nil {
		return s.Text("", err)
	}
	return answer.Text{S: target.BaseName(file)}
}

// similar lists found, and the loaded types with names that contain name. If found is a member it lists only
// found.
func (s nameSearch) similar(m *Module, found []Match, name string) iter.Seq2[answer.NameMatch, error] {
	return answer.NewRows(&s.Gaps, func(yield func(answer.NameMatch, error) bool) error {
		matches := found
		if len(found) == 0 || found[0].Member.IsNil() {
			loaded, err := m.findLoaded(name)
			if err != nil && len(found) > 0 && !yield(answer.NameMatch{}, err) {
				return nil
			}
			if len(found) > 0 && slices.Contains(loaded, found[0]) {
				matches = nil
			}
			matches = append(slices.Clone(matches), loaded...)
		}
		for _, f := range matches {
			if !yield(s.resolve(m, s.file(m), f), nil) {
				break
			}
		}
		return nil
	})
}

// resolve finds the runtime's structures for a match.
func (s nameSearch) resolve(m *Module, file answer.Text, f Match) answer.NameMatch {
	n := answer.NameMatch{Module: m.Addr, File: file, Kind: answer.MatchType, Token: answer.Hex(f.Type)}
	if f.Member.Table() == metadata.TableMethodDef {
		s.method(m, f.Member, &n)
		return n
	}
	n.MethodTable = s.Pointer(m.LoadedType(f.Type))
	n.Name = s.Text(s.typeName(m, f.Type, n.MethodTable.Value))
	if mt, err := s.r.Runtime().TrustedMethodTable(n.MethodTable.Value); err == nil && n.MethodTable.Value != 0 {
		n.InitializerFailed, _ = s.r.Runtime().InitializerFailed(mt) // unreadable flags are not a gap of a search
	}
	if !f.Member.IsNil() {
		n.Kind, n.FieldToken = answer.MatchField, answer.Hex(f.Member)
		n.Field = s.Text(fieldName(m, f.Member))
	}
	return n
}

// typeName returns the type's name in the style of SOS's managed commands.
func (s nameSearch) typeName(m *Module, t metadata.Token, mt target.Addr) (string, error) {
	if mt != 0 {
		if name, err := s.r.Runtime().TypeName(mt, NameManaged); err == nil {
			return name, nil
		}
	}
	md, err := m.Metadata()
	if err != nil {
		return "", err
	}
	return md.TypeFullName(t)
}

func fieldName(m *Module, t metadata.Token) (string, error) {
	md, err := m.Metadata()
	if err != nil {
		return "", err
	}
	row, err := md.Field(t.Row())
	if err != nil {
		return "", err
	}
	return md.String(row.Name)
}

func (s nameSearch) method(m *Module, t metadata.Token, n *answer.NameMatch) {
	n.Kind, n.Token = answer.MatchMethod, answer.Hex(t)
	n.MethodDesc = s.Pointer(m.Lookup(MapMethodDef, t.Row()))
	n.Code.Maybe = answer.Of(target.Addr(0), n.MethodDesc.Err()) // a method that is not loaded has no code
	if a := n.MethodDesc.Value; a != 0 {
		md, err := s.r.TrustedMethodDesc(a)
		if err == nil {
			n.Name.S, err = s.r.MethodName(md, MethodFull)
			s.Note(err)
			n.Code = s.Pointer(s.r.NativeCode(md))
		} else {
			n.MethodDesc, n.Code.Maybe = s.Pointer(0, err), answer.Missing[target.Addr](err)
		}
	}
	if n.Name.S == "" {
		n.Name = s.Text(m.methodDefName(t))
	}
}

// A noModuleError is a name that no module has.
type noModuleError string

func (e noModuleError) Error() string { return "no module is named " + strconv.Quote(string(e)) }

func (noModuleError) Unwrap() error { return target.ErrNoSuch }

// Advice names the command that lists the names.
func (noModuleError) Advice() string {
	return "clrmodules lists the modules of managed code, * stands for all; names in native modules are not read"
}
