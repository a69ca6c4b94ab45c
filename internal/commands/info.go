package commands

import (
	"fmt"
	"strings"
	"time"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
)

func infoCommand() cli.Command {
	return cli.Command{Name: "info", Group: cli.GroupProcess, Summary: "say what the dump is, and how its runtime is read",
		Args:   dumpArgument(),
		Result: []report.Part{report.Whole[diagnosisResult]()}, NeedsDump: true, DumpArg: true,
		Run: func(c *cli.Context) error { return runDiagnosis(c, false) }}
}

func doctorCommand() cli.Command {
	return cli.Command{Name: "doctor", Group: cli.GroupProcess, Summary: "say what is found, what is missing and what would help; for bug reports",
		Options: []cli.Option{{Name: "probe", Summary: "list every member of the layout and where it comes from"}},
		Args:    dumpArgument(),
		Result:  []report.Part{report.Whole[diagnosisResult]()}, NeedsDump: true, DumpArg: true,
		Run: func(c *cli.Context) error { return runDiagnosis(c, true) }}
}

func dumpArgument() []cli.Arg {
	return []cli.Arg{{Name: "dump", Kind: cli.File, Optional: true, Summary: "the dump, if it is not named otherwise"}}
}

// diagnosisResult is the JSON result of info and doctor.
type diagnosisResult struct {
	Path       string             `json:"path,omitempty" doc:"the dump's file"`
	Format     string             `json:"format" doc:"\"ELF core\" or \"Windows minidump\""`
	Compressed string             `json:"compressed,omitempty" doc:"\"gzip\" or \"zstd\""`
	Size       int64              `json:"size" doc:"bytes of the dump, unpacked"`
	OS         string             `json:"os" doc:"operating system of the process"`
	OSVersion  string             `json:"osVersion,omitempty" doc:"as the dump words it"`
	Arch       string             `json:"arch" doc:"processor architecture of the process"`
	CPUs       int                `json:"cpus,omitempty" doc:"number of processors"`
	Process    uint32             `json:"process,omitempty" doc:"process id"`
	Command    string             `json:"command,omitempty" doc:"executable or command line"`
	Started    string             `json:"started,omitempty" doc:"start of the process"`
	Written    string             `json:"written,omitempty" doc:"when the dump was written"`
	Comment    string             `json:"comment,omitempty" doc:"comments in the dump"`
	Exception  *causeResult       `json:"exception,omitempty" doc:"why the process died, where the dump says"`
	Threads    int                `json:"threads" doc:"number of OS threads"`
	Modules    int                `json:"modules" doc:"number of mapped images"`
	Reserved   uint64             `json:"reserved" doc:"bytes of the address space that the dump describes"`
	Stored     uint64             `json:"stored" doc:"bytes of it that the dump holds"`
	Runtimes   []runtimeDiagnosis `json:"runtimes" doc:".NET runtimes in the process"`
	Areas      []areaResult       `json:"areas" doc:"parts of the process that commands need, of the chosen runtime"`
	Managed    []managedResult    `json:"managedModules,omitempty" doc:"where the metadata of managed modules comes from"`
	Warnings   []string           `json:"warnings,omitempty" doc:"what opening the dump had to skip or to decide"`
}

type causeResult struct {
	Thread  uint32         `json:"thread" doc:"OS id of the thread"`
	Code    report.Address `json:"code" doc:"exception code or signal"`
	Address report.Address `json:"address" doc:"faulting instruction, or on Linux data address"`
	Words   string         `json:"words,omitempty" doc:"the code in words"`
}

type runtimeDiagnosis struct {
	runtimeResult
	Opened  bool           `json:"opened" doc:"its structures can be read"`
	Error   string         `json:"error,omitempty" doc:"why they can't"`
	Sources []string       `json:"layoutSources,omitempty" doc:"where the layout of its structures comes from, in the order of belief"`
	Probes  []probeResult  `json:"probes,omitempty" doc:"checks that the layout fits"`
	Members []memberResult `json:"members,omitempty" doc:"everything that the layout knows; with -probe"`
}

type probeResult struct {
	Name   string `json:"name" doc:"of the check"`
	Result string `json:"result" doc:"\"passed\", \"failed\" or \"not in dump\""`
	Detail string `json:"detail,omitempty" doc:"what it found"`
}

type memberResult struct {
	Name   string `json:"name" doc:"of the member, global or constant"`
	Value  string `json:"value" doc:"its offset, address or value"`
	Source string `json:"source" doc:"where it comes from"`
}

type areaResult struct {
	Name     string `json:"name" doc:"of the part"`
	Complete bool   `json:"complete" doc:"nothing of it is missing"`
	Held     int    `json:"held" doc:"how many are there"`
	Total    int    `json:"total" doc:"of how many; 0 if even their list is missing"`
	Unit     string `json:"unit" doc:"what is counted"`
	Missing  string `json:"missing,omitempty" doc:"the first that is not there"`
	Needs    string `json:"neededBy" doc:"commands that need it"`
}

type managedResult struct {
	Module   report.Address `json:"module" doc:"address of the Module"`
	Name     string         `json:"name" doc:"path, or what else names it"`
	Identity string         `json:"identity,omitempty" doc:"what a file of it must agree with: time stamp and size of the image"`
	Source   string         `json:"source,omitempty" doc:"\"dump\", or the path of the file that has the metadata"`
	Error    string         `json:"error,omitempty" doc:"why there is none"`
}

func runDiagnosis(c *cli.Context, full bool) error {
	d := dumpOf(c)
	r := newDiagnosis(d, d.Diagnose(), full && c.Bool("probe"))
	if c.JSON() != nil {
		return c.JSON().Value(r)
	}
	r.printDump(c)
	for i := range r.Runtimes {
		r.Runtimes[i].print(c, full)
	}
	if len(r.Runtimes) == 0 {
		c.Printf("%-14s none found\n", "Runtime:")
	}
	r.printAreas(c)
	if full {
		r.printManaged(c)
	}
	return nil
}

func newDiagnosis(d *sosgo.Dump, g sosgo.Diagnosis, members bool) diagnosisResult {
	f, plat, proc := d.File(), d.Target().Platform(), d.Target().Process()
	r := diagnosisResult{Path: f.Path, Format: f.Format, Compressed: f.Compressed, Size: f.Size, OS: plat.OS.String(), OSVersion: plat.OSVersion,
		Arch: plat.Arch.String(), CPUs: plat.CPUs, Process: proc.ID, Command: proc.Command, Started: timeText(proc.Created),
		Written: timeText(proc.DumpTime), Comment: proc.Comment, Threads: len(d.Target().Threads()), Modules: len(d.Target().Modules()),
		Reserved: g.Reserved, Stored: g.Stored, Runtimes: []runtimeDiagnosis{}, Areas: []areaResult{}}
	if e, ok := d.Target().Exception(); ok {
		r.Exception = &causeResult{e.ThreadID, report.Address(e.Code), report.Address(e.Address), e.Words}
	}
	for _, x := range g.Runtimes {
		r.Runtimes = append(r.Runtimes, newRuntimeDiagnosis(x, members))
	}
	for _, a := range g.Areas {
		r.Areas = append(r.Areas, areaResult{a.Name, a.Complete(), a.Held, a.Total, a.Unit, errorText(a.Err), a.Needs})
	}
	for _, m := range g.Modules {
		r.Managed = append(r.Managed, managedResult{report.Address(m.Module.Addr), m.Name, m.Identity, m.Source, errorText(m.Err)})
	}
	for _, w := range g.Warnings {
		r.Warnings = append(r.Warnings, w.Error())
	}
	return r
}

func newRuntimeDiagnosis(x sosgo.RuntimeDiagnosis, members bool) runtimeDiagnosis {
	r := runtimeDiagnosis{runtimeResult: newRuntime(x.Instance, x.Chosen), Opened: x.Err == nil, Error: errorText(x.Err)}
	if x.Runtime == nil {
		return r
	}
	r.Sources = x.Runtime.Layout().Sources()
	for _, p := range x.Runtime.Probes() {
		r.Probes = append(r.Probes, probeResult{p.Name, p.Result.String(), p.Detail})
	}
	if members {
		for _, m := range x.Runtime.Layout().Members() {
			r.Members = append(r.Members, memberResult{m.Name, m.Value, m.Source})
		}
	}
	return r
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func infoLine(c *cli.Context, label, text string) {
	if text != "" {
		c.Printf("%-14s %s\n", label+":", report.Escape(text))
	}
}

func (r *diagnosisResult) printDump(c *cli.Context) {
	format := fmt.Sprintf("%s, %s", r.Format, report.HumanSize(uint64(r.Size)))
	if r.Compressed != "" {
		format += ", unpacked from " + r.Compressed
	}
	infoLine(c, "Dump", r.Path)
	infoLine(c, "Format", format)
	cpus := ""
	if r.CPUs > 0 {
		cpus = fmt.Sprintf(", %d processors", r.CPUs)
	}
	infoLine(c, "System", strings.TrimSpace(r.OS+" "+r.Arch)+cpus)
	infoLine(c, "OS version", r.OSVersion)
	if r.Process != 0 {
		infoLine(c, "Process", fmt.Sprint(r.Process))
	}
	infoLine(c, "Command", r.Command)
	infoLine(c, "Started", r.Started)
	infoLine(c, "Written", r.Written)
	infoLine(c, "Comment", r.Comment)
	if e := r.Exception; e != nil {
		infoLine(c, "Exception", fmt.Sprintf("%s in thread %d (0x%x) at %016x", orHex(e.Words, uint64(e.Code)), e.Thread, e.Thread, uint64(e.Address)))
	}
	infoLine(c, "Contents", fmt.Sprintf("%d threads, %d images, %s of memory", r.Threads, r.Modules, report.HumanSize(r.Stored)))
	for _, w := range r.Warnings {
		infoLine(c, "Warning", w)
	}
}

func orHex(words string, code uint64) string {
	if words == "" {
		return report.Hex(code)
	}
	return words
}

func (r *runtimeDiagnosis) print(c *cli.Context, full bool) {
	chosen := ""
	if !r.Chosen {
		chosen = " (not the chosen one)"
	}
	infoLine(c, "Runtime", fmt.Sprintf("#%d %s %s%s", r.Index, r.Flavor, orNone(r.Version), chosen))
	infoLine(c, "  file", r.Path)
	infoLine(c, "  identity", r.Identity)
	infoLine(c, "  error", r.Error)
	if len(r.Sources) > 0 {
		infoLine(c, "  layout", strings.Join(r.Sources, ", then "))
	}
	if passed, failed, unknown := r.count(); len(r.Probes) > 0 {
		infoLine(c, "  probes", fmt.Sprintf("%d passed, %d failed, %d without the memory they need", passed, failed, unknown))
	}
	if !full {
		return
	}
	for _, p := range r.Probes {
		c.Printf("    %-12s %s\n", p.Result, report.Escape(strings.TrimSpace(p.Name+"  "+p.Detail)))
	}
	for _, m := range r.Members {
		c.Printf("    %-48s %-20s %s\n", report.Escape(m.Name), report.Escape(m.Value), report.Escape(m.Source))
	}
}

func (r *runtimeDiagnosis) count() (passed, failed, unknown int) {
	for _, p := range r.Probes {
		switch p.Result {
		case dac.ProbePassed.String():
			passed++
		case dac.ProbeFailed.String():
			failed++
		default:
			unknown++
		}
	}
	return passed, failed, unknown
}

func (r *diagnosisResult) printAreas(c *cli.Context) {
	for _, a := range r.Areas {
		text := fmt.Sprintf("all %d %s", a.Total, a.Unit)
		if !a.Complete {
			text = fmt.Sprintf("%d of %d %s", a.Held, a.Total, a.Unit)
		}
		infoLine(c, strings.ToUpper(a.Name[:1])+a.Name[1:], text)
		if !a.Complete {
			c.Printf("  needed by %s\n", a.Needs)
			infoLine(c, "  missing", a.Missing)
		}
	}
}

// printManaged lists the modules without metadata, and what would help.
func (r *diagnosisResult) printManaged(c *cli.Context) {
	helped := false
	for _, m := range r.Managed {
		if m.Error != "" {
			c.Printf("No metadata of %s (%s)\n", report.Escape(m.Name), orNone(m.Identity))
			helped = true
		}
	}
	if helped {
		c.Printf("The files of these modules would help: --modules DIR names a folder with them, from the machine of the process or its container image.\n")
	}
}
