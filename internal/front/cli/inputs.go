package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/base/outfile"
	"github.com/sosgo/sosgo/internal/base/shownurl"
	"github.com/sosgo/sosgo/internal/front/report"
)

// A Limit is a ceiling that --limit changes.
type Limit struct {
	Name    string // lower case
	Summary string // what it bounds, and its default
}

// openOptions returns the options for opening a dump. It checks the files and servers that they name.
func (a *app) openOptions() (OpenOptions, error) {
	p, o := &parser{}, a.globals.OpenOptions // errors name no command, since the options are global
	o.Jobs = a.globals.Workers
	if err := a.global.check(); err != nil {
		return o, p.usagef("%v", err)
	}
	for _, m := range o.Modules {
		if err := checkModules(m); err != nil {
			return o, p.usagef("option -modules: %v", err)
		}
	}
	for _, s := range o.SymbolServers {
		if err := checkServer(s); err != nil {
			return o, p.usagef("option -symbol-server: %v", err)
		}
	}
	if st, err := os.Stat(o.SymbolCache); err == nil && o.SymbolCache != "" && !st.IsDir() {
		return o, p.usagef("option -symbol-cache: %s is not a folder", o.SymbolCache)
	}
	if o.GraphDir != "" {
		if err := outfile.PrivateDir(o.GraphDir); err != nil {
			return o, p.usagef("option -graph-dir: %v", err)
		}
	}
	var err error
	o.Limits, err = a.limits(p)
	return o, err
}

// limits parses --limit NAME=SIZE.
func (a *app) limits(p *parser) (map[string]uint64, error) {
	given := map[string]uint64{}
	for _, text := range a.globals.Limit {
		name, size, found := strings.Cut(text, "=")
		name = strings.ToLower(name)
		if !found || !slices.ContainsFunc(a.env.Limits, func(l Limit) bool { return l.Name == name }) {
			var known strings.Builder
			for _, l := range a.env.Limits {
				fmt.Fprintf(&known, "; %s: %s", l.Name, l.Summary)
			}
			return nil, p.usagef("option -limit: %q is not NAME=SIZE with one of these names%s", text, known.String())
		}
		n, err := ParseSize(size)
		if err != nil || n == 0 {
			return nil, p.usagef("option -limit %s: %q is not a size of at least 1 (bytes, or with k, m, g, t)", name, size)
		}
		given[name] = n
	}
	return given, nil
}

// checkModules returns an error if path is not a folder or the file of a module.
func checkModules(path string) error {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no folder %s", path)
	case err != nil:
		return err
	case st.IsDir():
		_, err := os.ReadDir(path)
		return err
	}
	if kind := evidence(path, st); kind == kindProgram || kind == kindPDB {
		return nil
	}
	return fmt.Errorf("%s is neither a folder nor a module's file", path)
}

func checkServer(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return fmt.Errorf("%s is not an http or https address", shownurl.Of(text))
	}
	return nil
}

// fileProblems warns of new problems with module files, such as an unreachable server. Its warnings precede those
// about the memory missing as a result.
func (c *Context) fileProblems() {
	d, ok := c.Session.dump.(interface{ FileProblems() []error })
	if !ok {
		return
	}
	for _, err := range d.FileProblems() {
		if c.Session.reported == nil {
			c.Session.reported = map[string]bool{}
		}
		if text := err.Error(); !c.Session.reported[text] {
			c.Session.reported[text] = true
			c.count(kindWord(err))
			c.warnings = slices.Insert(c.warnings, 0, report.Problem{Text: text, Kind: kindWord(err)})
		}
	}
}
