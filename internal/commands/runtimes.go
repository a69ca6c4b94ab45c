package commands

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
)

func runtimesCommand() cli.Command {
	return cli.Command{Name: "runtimes", Aliases: []string{"setruntime"}, Group: cli.GroupProcess,
		Summary: "list the .NET runtimes of the process, or choose the one to look at",
		Help:    "Commands look at the first CoreCLR until another runtime is chosen, here for the session or by the global option --runtime.",
		Args:    []cli.Arg{{Name: "id", Kind: cli.Str, Optional: true, Summary: "number or version of the runtime to look at from now on"}},
		Options: []cli.Option{
			{Name: "all", Aliases: []string{"a"}, Summary: "list all runtimes, as is always done"},
			{Name: "netcore", Aliases: []string{"c"}, Summary: "look at the first .NET Core runtime"},
		},
		Result: []report.Part{report.ListOf[runtimeResult]("")}, NeedsDump: true, Run: runRuntimes}
}

// runtimeResult is an item of the JSON result of runtimes.
type runtimeResult struct {
	Index      int            `json:"index" doc:"number of the runtime"`
	Chosen     bool           `json:"chosen" doc:"the runtime that commands look at"`
	Flavor     string         `json:"flavor" doc:"\".NET Core\" or \"NativeAOT\""`
	Version    string         `json:"version,omitempty" doc:"file version, or what else tells the version"`
	Text       string         `json:"versionText,omitempty" doc:"the version that the runtime gives itself"`
	Address    report.Address `json:"address" doc:"base of its image"`
	Size       uint64         `json:"size" doc:"bytes of its image"`
	Identity   string         `json:"identity" doc:"build id, or time stamp and size of the image"`
	Path       string         `json:"path" doc:"of its file"`
	SingleFile bool           `json:"singleFile" doc:"the runtime is part of the application's executable"`
	Exports    []exportResult `json:"exports" doc:"symbols for debuggers"`
}

func newRuntime(inst *dac.Instance, chosen bool) runtimeResult {
	r := runtimeResult{Index: inst.Index, Chosen: chosen, Flavor: inst.Flavor.String(), Version: inst.Version(), Text: inst.VersionText(),
		Address: report.Address(inst.Module.Base), Size: inst.Module.Size, Path: inst.Module.Path, SingleFile: inst.SingleFile,
		Exports: runtimeExports(inst.Image, inst.Module.Base, true)}
	if id := inst.Identity; len(id.BuildID) > 0 {
		r.Identity = hex.EncodeToString(id.BuildID)
	} else {
		r.Identity = fmt.Sprintf("%08x %08x", id.TimeDateStamp, id.SizeOfImage)
	}
	return r
}

func runRuntimes(c *cli.Context) error {
	d := dumpOf(c)
	if want, ok := c.Str("id"); ok || c.Bool("netcore") {
		return useRuntime(c, want)
	}
	chosen, err := viewOf(c).Instance()
	if err != nil {
		return err
	}
	all := d.Runtimes()
	for _, inst := range all {
		r := newRuntime(inst, inst == chosen)
		if c.JSON() != nil {
			if err := c.JSON().Item("", r); err != nil {
				return err
			}
			continue
		}
		if len(all) > 1 {
			c.Printf("%s", [2]string{" ", "*"}[trueIndex(r.Chosen)])
		}
		r.print(c)
	}
	return nil
}

func (r *runtimeResult) print(c *cli.Context) {
	flavor := r.Flavor
	if r.SingleFile {
		flavor += " (single-file)"
	}
	c.Printf("#%d %s runtime %s at %016x size %08x index %s\n", r.Index, flavor, orNone(report.Escape(r.Version)), uint64(r.Address), r.Size, r.Identity)
	label := [2]string{"Runtime", "Single-file runtime"}[trueIndex(r.SingleFile)]
	c.Printf("    %s module path: %s\n", label, report.Escape(r.Path))
	printExports(c, r.Exports)
}

func useRuntime(c *cli.Context, want string) error {
	v, err := dumpOf(c).View(want)
	if err != nil {
		return err
	}
	inst, err := v.Instance()
	if err != nil {
		return err
	}
	c.Session.SetRuntime(want)
	if c.JSON() != nil {
		return c.JSON().Item("", newRuntime(inst, true))
	}
	c.Printf("Switched to runtime #%d successfully\n", inst.Index)
	return nil
}

func eeVersionCommand() cli.Command {
	return cli.Command{Name: "eeversion", Group: cli.GroupProcess, Summary: "print the version of the runtime and the kind of its GC",
		Result: []report.Part{report.Whole[versionResult]()}, NeedsDump: true, Run: runEEVersion}
}

// versionResult is the JSON result of eeversion.
type versionResult struct {
	Version string  `json:"version" doc:"file version, or what else tells the version"`
	Text    string  `json:"versionText,omitempty" doc:"the version that the runtime gives itself, with its commit"`
	Server  *bool   `json:"server,omitempty" doc:"server GC; absent where the heap can't be read"`
	Heaps   int     `json:"heaps,omitempty" doc:"number of GC heaps"`
	DATAS   *uint64 `json:"datas,omitempty" doc:"mode of dynamic adaptation to application sizes of a server GC"`
	InGC    bool    `json:"inCollection" doc:"the dump was taken in the middle of a collection"`
}

func runEEVersion(c *cli.Context) error {
	inst, err := viewOf(c).Instance()
	if err != nil {
		return err
	}
	v := versionResult{Version: inst.Version(), Text: inst.VersionText()}
	h, err := heapOf(c)
	if err != nil {
		c.Warn(err)
	} else {
		server := h.Server()
		v.Server, v.Heaps, v.InGC = &server, len(h.SubHeaps()), h.InGC()
		if mode, ok := h.DATAS(); ok && server {
			v.DATAS = &mode
		}
	}
	if c.JSON() != nil {
		return c.JSON().Value(v)
	}
	v.print(c)
	return nil
}

func (v *versionResult) print(c *cli.Context) {
	c.Printf("%s%s\n", orNone(report.Escape(v.Version)), [2]string{"", " (3.x runtime)"}[trueIndex(isCore3(v.Version))])
	if v.Text != "" {
		c.Printf("%s\n", report.Escape(v.Text))
	}
	switch {
	case v.Server == nil:
		c.Printf("GC Heap not initialized, so GC mode is not determined yet.\n")
	case *v.Server:
		c.Printf("Server mode with %d gc heaps\n", v.Heaps)
		if v.DATAS != nil {
			c.Printf("DATAS %d\n", *v.DATAS)
		}
	default:
		c.Printf("Workstation mode\n")
	}
	if v.InGC {
		c.Printf("In plan phase of garbage collection\n")
	}
}

// isCore3 recognises the file versions of .NET Core 3, which count as 4.7.
func isCore3(version string) bool {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	return major == "3" || major == "4" && err == nil && n >= 700
}
