package dac

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// Release returns the version under which the runtime was released, "10.0.14". It comes from the catalogue, the
// folder of a shared framework, or the file version. It returns Version of an unknown release.
func (i *Instance) Release() string {
	v := i.Version()
	if m := versionInPath().FindStringSubmatch(i.Module.Path); m != nil && strings.Count(v, ".") == 3 {
		return m[1]
	}
	return cmp.Or(layout.Release(v), v)
}

// Is reports whether want is the version of the runtime, or its start up to a full stop. It accepts the release's
// version (10.0.14) and the file's (10.0.1426.52326).
func (i *Instance) Is(want string) bool {
	for _, v := range []string{i.Version(), i.Release()} {
		if want != "" && (v == want || strings.HasPrefix(v, want+".")) {
			return true
		}
	}
	return false
}

// Title names the runtime in a list of several: "#1 .NET Core 10.0.14".
func (i *Instance) Title() string {
	if i == nil {
		return "an unknown runtime"
	}
	return fmt.Sprintf("#%d %v %s", i.Index, i.Flavor, cmp.Or(i.Release(), "of an unknown version"))
}

// coreLibName is the file name of the core library. It is built with the runtime and has the same version.
const coreLibName = "System.Private.CoreLib.dll"

// coreLibVersion returns the version recorded in the core library beside the runtime ("8.0.0+5535e31a…"), or ""
// if it is not in the dump.
func (i *Instance) coreLibVersion() string {
	dir := strings.TrimSuffix(i.Module.Path, target.BaseName(i.Module.Path))
	mods := i.tgt.Modules()
	for n := range mods {
		m := &mods[n]
		if name := target.BaseName(m.Path); !strings.EqualFold(name, coreLibName) || !strings.EqualFold(strings.TrimSuffix(m.Path, name), dir) {
			continue
		}
		img, err := image.OpenMemory(i.mem, m)
		if err != nil {
			continue
		}
		if v := informationalVersion(i.mem, img); v != "" {
			return v
		}
	}
	return ""
}

// informationalVersion returns an assembly's AssemblyInformationalVersionAttribute, else the version of its
// file, or "" if both are unreadable. mem is the memory that img was opened in.
func informationalVersion(mem target.Memory, img *image.Image) string {
	if blob, err := img.Metadata(); err == nil {
		if md, err := metadata.Parse(blob.Data, metadata.Sparse(observed(mem, metadataAddr(img, blob), outsideGaps(blob.Gaps)))); err == nil {
			if v := assemblyAttribute(md, "System.Reflection", "AssemblyInformationalVersionAttribute"); v != "" {
				return v
			}
		}
	}
	v, err := img.VersionString()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(v)
}

// assemblyAttribute returns the first argument of an assembly attribute that takes a string, or "" if the
// assembly does not have the attribute.
func assemblyAttribute(md *metadata.Metadata, namespace, name string) string {
	rows, err := md.CustomAttributes(metadata.NewToken(metadata.TableAssembly, 1))
	if err != nil {
		return ""
	}
	for rid, err := range rows.All() {
		if err != nil {
			return ""
		}
		row, err := md.CustomAttribute(rid)
		if err != nil {
			continue
		}
		if ns, n, err := attributeType(md, row); err != nil || ns != namespace || n != name {
			continue
		}
		if v, err := md.AttributeValue(row, nil); err == nil && len(v.Fixed) > 0 {
			s, _ := v.Fixed[0].(string)
			return s
		}
	}
	return ""
}

func attributeType(md *metadata.Metadata, row metadata.CustomAttributeRow) (namespace, name string, err error) {
	t, err := md.AttributeType(row)
	switch {
	case err != nil:
		return "", "", err
	case t.Table() == metadata.TableTypeDef:
		return md.TypeDefName(t.Row())
	case t.Table() == metadata.TableTypeRef:
		return md.TypeRefName(t.Row())
	}
	return "", "", target.Unsupportedf("an attribute of the type %v", t)
}
