package cli

import (
	"errors"
	"os"
	"slices"

	"github.com/sosgo/sosgo/internal/base/shownurl"
	"github.com/sosgo/sosgo/internal/front/report"
)

// microsoftServer is Microsoft's public symbol server. It has the runtime and the framework's assemblies of every
// release.
const microsoftServer = "https://msdl.microsoft.com/download/symbols"

type moduleFileOptions struct {
	Directory []string `opt:"directory,dir" kind:"file" value:"DIR" help:"a folder with module files; may repeat"`
	Microsoft bool     `opt:"ms" help:"download missing files from Microsoft's symbol server"`
	Cache     string   `opt:"cache" kind:"file" value:"DIR" help:"where downloads are kept"`
	Disable   bool     `opt:"disable" help:"forget all folders and servers that were named so far"`
	Places    []string `arg:"place,optional" help:"folders with module files, and addresses of symbol servers"`
}

// moduleFilesResult is the JSON result of setsymbolserver.
type moduleFilesResult struct {
	Modules       []string `json:"modules" doc:"folders and files in which module files are looked for"`
	SymbolServers []string `json:"symbolServers" doc:"addresses of the servers that are asked for files that are missing"`
	SymbolCache   string   `json:"symbolCache,omitempty" doc:"where downloads are kept, if not in the usual place"`
	Offline       bool     `json:"offline,omitempty" doc:"nothing but these folders is searched"`
}

func moduleFilesCommand() Command {
	return Ask(Command{Name: "setsymbolserver", Aliases: []string{"addmodules", "setclrpath"}, Group: GroupProcess,
		Summary: "add folders with module files and symbol servers to the session, or list them",
		Help: "At the prompt it does what --modules and --symbol-server do at the start. The next command opens the dump anew, " +
			"with the files that are found then.",
		Examples: []Example{{"setsymbolserver -directory /srv/app", "search a folder"}, {"setsymbolserver -ms", "ask Microsoft's symbol server"}},
	}, askModuleFiles, writeModuleFiles)
}

func askModuleFiles(c *Context, o *moduleFileOptions) (moduleFilesResult, error) {
	s := c.Session
	change := o.Disable || o.Microsoft || o.Cache != "" || len(o.Directory)+len(o.Places) > 0
	if change && s.stays() {
		return moduleFilesResult{}, errStays // checked first, so that the web page cannot probe local files
	}
	var servers []string
	dirs := slices.Clone(o.Directory)
	for _, place := range o.Places {
		if checkServer(place) == nil {
			servers = append(servers, place)
		} else {
			dirs = append(dirs, place)
		}
	}
	for _, dir := range dirs {
		if err := checkModules(dir); err != nil {
			return moduleFilesResult{}, c.Usagef("%v", err)
		}
	}
	if o.Microsoft {
		servers = append(servers, microsoftServer)
	}
	now := s.options
	switch {
	case len(servers) > 0 && now.Offline:
		return moduleFilesResult{}, c.Usagef("with --offline no server is asked")
	case o.Cache != "":
		if st, err := os.Stat(o.Cache); err == nil && !st.IsDir() {
			return moduleFilesResult{}, c.Usagef("option -cache: %s is not a folder", o.Cache)
		}
		now.SymbolCache = o.Cache
	}
	if o.Disable {
		now.Modules, now.SymbolServers = nil, nil
	}
	now.Modules = appendNew(now.Modules, dirs)
	now.SymbolServers = appendNew(now.SymbolServers, servers)
	if change {
		s.reopenWith(now)
	}
	return moduleFilesResult{append([]string{}, now.Modules...), shown(now.SymbolServers), now.SymbolCache, now.Offline}, nil
}

// shown returns addresses as others may see them.
func shown(addresses []string) []string {
	out := make([]string, len(addresses))
	for i, a := range addresses {
		out[i] = shownurl.Of(a)
	}
	return out
}

// appendNew returns a copy of list with the items of more that it lacks appended.
func appendNew(list, more []string) []string {
	list = slices.Clone(list)
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

func writeModuleFiles(p *report.Page, r moduleFilesResult) {
	for _, m := range r.Modules {
		p.Printf("Directory: %s\n", report.Escape(m))
	}
	for _, s := range r.SymbolServers {
		p.Printf("Server:    %s\n", report.Escape(s))
	}
	if r.SymbolCache != "" {
		p.Printf("Cache:     %s\n", report.Escape(r.SymbolCache))
	}
	if len(r.Modules)+len(r.SymbolServers) == 0 {
		p.Print("No folder of module files and no symbol server is set.\n")
	}
}

// errStays is the error for a dump that cannot be reopened.
var errStays = errors.New("this session can't open the dump again with other module files (it is in a sandbox, comes from standard input, " +
	"or belongs to the page): start sosgo with --modules or --symbol-server")

// reopenWith makes the next command reopen the dump with other options. The caller has checked that the dump can be
// reopened.
func (s *Session) reopenWith(o OpenOptions) {
	s.forget()
	s.options, s.changed, s.reported = o, true, nil
}
